package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// logAttacks are attempts on what a relay has stored, through the disk or by programs that share it.
var logAttacks = []attack{
	{"a second relay shares the log through a link", onRelay(linked)},
	{"a flipped bit changes an event and verify is content", onRelay(flipped)},
	{"damage under a running relay is passed over in silence", onRelay(damaged)},
	{"a follower is sent what signs a webhook", onRelay(signed)},
	{"tail lets a payload steer the terminal", onRelay(steered)},
}

// stored is the number of webhooks with which an attack on the log begins.
const stored = 20

// fill has a relay store webhooks.
func (v *victim) fill(ctx context.Context) error {
	for i := range stored {
		if status, err := v.post(ctx, fmt.Sprint("delivery-", i), fmt.Sprint("event ", i)); err != nil || status != http.StatusAccepted {
			return errors.Join(fmt.Errorf("a webhook was answered %d", status), err)
		}
	}
	return nil
}

// kill ends the relay and leaves its log.
func (v *victim) kill() { v.Stop(os.Kill) }

func (v *victim) log() string { return filepath.Join(v.folder, "relay.db") }

// frames returns the events that a follower receives from the oldest on, by number, and the reasons of the
// gaps, until count of either have arrived or nothing arrives for two seconds. On a busy machine the first
// may take longer.
func (v *victim) frames(ctx context.Context, count int) (events map[int64]string, gaps []string, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+v.address+"/events?after=oldest", nil)
	if err != nil {
		return nil, nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	silence := time.AfterFunc(30*time.Second, cancel)
	defer silence.Stop()
	events = map[int64]string{}
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 1<<20)
	name := ""
	for len(events)+len(gaps) < count && lines.Scan() {
		silence.Reset(2 * time.Second)
		line := lines.Text()
		if rest, ok := strings.CutPrefix(line, "event: "); ok {
			name = rest
		}
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			continue
		}
		if strings.HasPrefix(name, "relay.") {
			var gap struct{ Reason string }
			if json.Unmarshal([]byte(data), &gap) == nil && name == "relay.gap" {
				gaps = append(gaps, gap.Reason)
			}
			continue
		}
		var event struct{ ID string }
		if err := json.Unmarshal([]byte(data), &event); err != nil {
			return nil, nil, fmt.Errorf("a follower was sent what is no JSON: %w", err)
		}
		var seq int64
		_, number, _ := strings.Cut(event.ID, "-")
		if _, err := fmt.Sscan(number, &seq); err != nil {
			return nil, nil, fmt.Errorf("a follower was sent the id %q: %w", event.ID, err)
		}
		events[seq] = data
	}
	return events, gaps, nil
}

func linked(ctx context.Context, v *victim) (string, error) {
	for kind, link := range map[string]func(string, string) error{"symbolic": os.Symlink, "hard": os.Link} {
		path := filepath.Join(v.folder, kind+".db")
		if err := link(v.log(), path); err != nil {
			return "", err
		}
		second, cancel := context.WithTimeout(ctx, 3*time.Second)
		command := exec.CommandContext(second, filepath.Join(v.bin, "touchstone-relay"), "serve", "--listen", "127.0.0.1:0", "--store",
			"sqlite:"+path)
		command.Env = append(os.Environ(), "RELAY_GITHUB_SECRET="+secret)
		output, err := command.CombinedOutput()
		ran := second.Err() != nil
		cancel()
		if ran || err == nil {
			return fmt.Sprintf("a second relay ran on a %s link: %s", kind, output), nil
		}
	}
	return "", nil
}

// flips is the number of flipped bits, each in its own copy.
const flips = 40

func flipped(ctx context.Context, v *victim) (string, error) {
	if err := v.fill(ctx); err != nil {
		return "", err
	}
	before, _, err := v.frames(ctx, stored)
	if err != nil || len(before) != stored {
		return "", errors.Join(fmt.Errorf("%d of %d events came", len(before), stored), err)
	}
	if err := v.quit(ctx); err != nil {
		return "", err
	}
	whole, err := os.ReadFile(v.log())
	if err != nil {
		return "", err
	}
	for range flips {
		bit := rand.IntN(8 * len(whole))
		if achieved, err := flip(ctx, v.bin, whole, bit, before); achieved != "" || err != nil {
			return achieved, err
		}
	}
	return "", nil
}

// quit stops the relay cleanly, so that everything it has stored is in one file.
func (v *victim) quit(ctx context.Context) error {
	v.Signal(os.Interrupt)
	select {
	case <-v.Ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// flip changes one bit of a log, and compares the result of verify with what followers receive.
func flip(ctx context.Context, bin string, whole []byte, bit int, before map[int64]string) (string, error) {
	changed := bytes.Clone(whole)
	changed[bit/8] ^= 1 << (bit % 8)
	folder, err := os.MkdirTemp("", "break")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "relay.db")
	if err := os.WriteFile(path, changed, 0o600); err != nil {
		return "", err
	}
	verify := exec.CommandContext(ctx, filepath.Join(bin, "touchstone-relay"), "verify", "--store", "sqlite:"+path)
	if verify.Run() != nil {
		return "", nil // the damage was detected
	}
	v, err := startOn(ctx, bin, folder)
	if err != nil {
		return fmt.Sprintf("verify is content with bit %d flipped, and no relay starts on it", bit), nil
	}
	defer v.kill()
	after, gaps, err := v.frames(ctx, stored)
	if err != nil {
		return "", err
	}
	for seq, want := range before {
		if after[seq] != want {
			return fmt.Sprintf("verify is content with bit %d flipped; event %d is not what it was (gaps %q)", bit, seq, gaps), nil
		}
	}
	return "", nil
}

func damaged(ctx context.Context, v *victim) (string, error) {
	if err := v.fill(ctx); err != nil {
		return "", err
	}
	if err := v.quit(ctx); err != nil {
		return "", err
	}
	whole, err := os.ReadFile(v.log())
	if err != nil {
		return "", err
	}
	at := bytes.Index(whole, []byte("event 7"))
	if at < 0 {
		return "", errors.New("the payload of an event is not in the file")
	}
	whole[at+6] = '8' // only the checksum shows this change
	if err := os.WriteFile(v.log(), whole, 0o600); err != nil {
		return "", err
	}
	if v, err = startOn(ctx, v.bin, v.folder); err != nil {
		return "", err
	}
	defer v.stop()
	events, gaps, err := v.frames(ctx, stored)
	switch {
	case err != nil:
		return "", err
	case len(events) != stored-1 || len(gaps) != 1 || gaps[0] != "damaged":
		return fmt.Sprintf("a follower was sent %d of %d events, with gaps %q", len(events), stored, gaps), nil
	}
	response, err := http.Get("http://" + v.address + "/readyz")
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil && !bytes.Contains(text, []byte(`"damaged_events":1`)) {
		return fmt.Sprintf("readiness says %s", text), nil
	}
	return "", err
}

func signed(ctx context.Context, v *victim) (string, error) {
	if err := v.fill(ctx); err != nil {
		return "", err
	}
	events, _, err := v.frames(ctx, stored)
	for _, text := range events {
		if strings.Contains(strings.ToLower(text), "signature") || strings.Contains(text, "sha256=") {
			return "an event has it: " + text[:min(len(text), 200)], nil
		}
	}
	return "", err
}

func steered(ctx context.Context, v *victim) (string, error) {
	body := `{"action":"opened","sender":{"login":"a\u202eb\u001b[2Jc\u2066"},"repository":{"full_name":"acme/a\u202eb"},"number":1}`
	if status, err := v.sendSigned(ctx, "hostile", body); err != nil || status != http.StatusAccepted {
		return "", errors.Join(fmt.Errorf("the webhook was answered %d", status), err)
	}
	limited, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	tail := exec.CommandContext(limited, filepath.Join(v.bin, "touchstone-relay"), "tail", "--url", "http://"+v.address, "--after", "oldest")
	output, _ := tail.Output() // tail follows until it is killed
	if !bytes.Contains(output, []byte("opened")) {
		return "", fmt.Errorf("tail printed no event: %q", output)
	}
	if bytes.ContainsAny(output, "\u202e\u2066\x1b") {
		return fmt.Sprintf("it prints %q", output), nil
	}
	return "", nil
}
