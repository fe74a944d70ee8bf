package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"touchstone/worktree/steps"
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
func (v *victim) fill(ctx context.Context) {
	for i := range stored {
		v.store(ctx, fmt.Sprint("delivery-", i), fmt.Sprint("event ", i))
	}
}

// kill ends the relay and leaves its log.
func (v *victim) kill() { v.Stop(os.Kill) }

func (v *victim) log() string { return filepath.Join(v.folder, "relay.db") }

// frames returns the events that a follower receives from the oldest on, by number, and the reasons of the
// gaps, until count of either have arrived or nothing arrives for two seconds. On a busy machine the first
// may take longer.
func (v *victim) frames(ctx context.Context, count int) (events map[int64]string, gaps []string) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	request := steps.Got(http.NewRequestWithContext(ctx, http.MethodGet, "http://"+v.address+"/events?after=oldest", nil))
	response := steps.Got(http.DefaultClient.Do(request))
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
			steps.Fail("a follower was sent what is no JSON: %w", err)
		}
		var seq int64
		_, number, _ := strings.Cut(event.ID, "-")
		if _, err := fmt.Sscan(number, &seq); err != nil {
			steps.Fail("a follower was sent the id %q: %w", event.ID, err)
		}
		events[seq] = data
	}
	return events, gaps
}

func linked(ctx context.Context, v *victim) string {
	for kind, link := range map[string]func(string, string) error{"symbolic": os.Symlink, "hard": os.Link} {
		path := filepath.Join(v.folder, kind+".db")
		steps.Must(link(v.log(), path))
		second, cancel := context.WithTimeout(ctx, 3*time.Second)
		command := exec.CommandContext(second, filepath.Join(v.bin, "touchstone-relay"), "serve", "--listen", "127.0.0.1:0", "--store",
			"sqlite:"+path)
		command.Env = append(os.Environ(), "RELAY_GITHUB_SECRET="+secret)
		output, err := command.CombinedOutput()
		ran := second.Err() != nil
		cancel()
		if ran || err == nil {
			return fmt.Sprintf("a second relay ran on a %s link: %s", kind, output)
		}
	}
	return ""
}

// flips is the number of flipped bits, each in its own copy.
const flips = 40

func flipped(ctx context.Context, v *victim) string {
	v.fill(ctx)
	before, _ := v.frames(ctx, stored)
	if len(before) != stored {
		steps.Fail("%d of %d events came", len(before), stored)
	}
	v.quit(ctx)
	whole := steps.Got(os.ReadFile(v.log()))
	for range flips {
		bit := rand.IntN(8 * len(whole))
		if achieved := flip(ctx, v.bin, whole, bit, before); achieved != "" {
			return achieved
		}
	}
	return ""
}

// quit stops the relay cleanly, so that everything it has stored is in one file.
func (v *victim) quit(ctx context.Context) {
	v.Signal(os.Interrupt)
	select {
	case <-v.Ended:
	case <-ctx.Done():
		steps.Must(ctx.Err())
	}
}

// flip changes one bit of a log, and compares the result of verify with what followers receive.
func flip(ctx context.Context, bin string, whole []byte, bit int, before map[int64]string) string {
	changed := bytes.Clone(whole)
	changed[bit/8] ^= 1 << (bit % 8)
	folder := steps.Got(os.MkdirTemp("", "break"))
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "relay.db")
	steps.Must(os.WriteFile(path, changed, 0o600))
	verify := exec.CommandContext(ctx, filepath.Join(bin, "touchstone-relay"), "verify", "--store", "sqlite:"+path)
	if verify.Run() != nil {
		return "" // the damage was detected
	}
	var v *victim
	if steps.Try(func() { v = startOn(ctx, bin, folder) }) != nil {
		return fmt.Sprintf("verify is content with bit %d flipped, and no relay starts on it", bit)
	}
	defer v.kill()
	after, gaps := v.frames(ctx, stored)
	for seq, want := range before {
		if after[seq] != want {
			return fmt.Sprintf("verify is content with bit %d flipped; event %d is not what it was (gaps %q)", bit, seq, gaps)
		}
	}
	return ""
}

func damaged(ctx context.Context, v *victim) string {
	v.fill(ctx)
	v.quit(ctx)
	whole := steps.Got(os.ReadFile(v.log()))
	at := bytes.Index(whole, []byte("event 7"))
	if at < 0 {
		steps.Fail("the payload of an event is not in the file")
	}
	whole[at+6] = '8' // only the checksum shows this change
	steps.Must(os.WriteFile(v.log(), whole, 0o600))
	v = startOn(ctx, v.bin, v.folder)
	defer v.stop()
	if events, gaps := v.frames(ctx, stored); len(events) != stored-1 || len(gaps) != 1 || gaps[0] != "damaged" {
		return fmt.Sprintf("a follower was sent %d of %d events, with gaps %q", len(events), stored, gaps)
	}
	response := steps.Got(http.Get("http://" + v.address + "/readyz"))
	defer response.Body.Close()
	if text := steps.Got(io.ReadAll(response.Body)); !bytes.Contains(text, []byte(`"damaged_events":1`)) {
		return fmt.Sprintf("readiness says %s", text)
	}
	return ""
}

func signed(ctx context.Context, v *victim) string {
	v.fill(ctx)
	events, _ := v.frames(ctx, stored)
	for _, text := range events {
		if strings.Contains(strings.ToLower(text), "signature") || strings.Contains(text, "sha256=") {
			return "an event has it: " + text[:min(len(text), 200)]
		}
	}
	return ""
}

func steered(ctx context.Context, v *victim) string {
	body := `{"action":"opened","sender":{"login":"a\u202eb\u001b[2Jc\u2066"},"repository":{"full_name":"acme/a\u202eb"},"number":1}`
	if status := v.sendSigned(ctx, "hostile", body); status != http.StatusAccepted {
		steps.Fail("the webhook was answered %d", status)
	}
	limited, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	tail := exec.CommandContext(limited, filepath.Join(v.bin, "touchstone-relay"), "tail", "--url", "http://"+v.address, "--after", "oldest")
	output, _ := tail.Output() // tail follows until it is killed
	if !bytes.Contains(output, []byte("opened")) {
		steps.Fail("tail printed no event: %q", output)
	}
	if bytes.ContainsAny(output, "\u202e\u2066\x1b") {
		return fmt.Sprintf("it prints %q", output)
	}
	return ""
}
