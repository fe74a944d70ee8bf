package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"touchstone/relay/source/sourcetest"
	"touchstone/scripts/program"
)

// relayAttacks are attempts on a relay without tokens, on loopback.
var relayAttacks = []attack{
	{"silent connections keep webhooks out", crowd("", "")},
	{"unfinished heads keep webhooks out", crowd("POST /webhooks/github HTTP/1.1\r\nHost: relay\r\nX-Long: "+strings.Repeat("x", 15<<10), "")},
	{"announced bodies keep webhooks out", crowd(announce(25<<20), "")},
	// The few small bodies take the room that the others leave.
	{"unfinished bodies keep webhooks out", crowd(announce(1<<20)+strings.Repeat("x", 129<<10), announce(20<<10)+strings.Repeat("x", 9<<10))},
	{"a deleted log takes webhooks", onRelay(lost(func(v *victim) error { return os.Remove(v.log()) }))},
	{"a replaced log takes webhooks", onRelay(lost(replace))},
	{"a deleted write-ahead log takes webhooks", onRelay(lost(func(v *victim) error { return os.Remove(v.log() + "-wal") }))},
	{"a moved folder takes webhooks", onRelay(lost(move))},
	{"a signed webhook is stored under a new id", onRelay(replayed)},
	{"a local program changes the agents' settings", onRelay(administered)},
}

const secret = "break"

// announce returns the head of a webhook with a body of the given number of bytes.
func announce(size int) string {
	return fmt.Sprintf("POST /webhooks/github HTTP/1.1\r\nHost: relay\r\nContent-Length: %d\r\n\r\n", size)
}

// victim is a running relay.
type victim struct {
	*program.Process
	bin, folder string
	address     string

	acknowledged int // webhooks that were stored
}

// start runs a relay over its own log.
func start(ctx context.Context, bin string) (*victim, error) {
	folder, err := os.MkdirTemp("", "break")
	if err != nil {
		return nil, err
	}
	v, err := startOn(ctx, bin, folder)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	return v, nil
}

// onRelay makes an attack on a relay with its own log.
func onRelay(try func(context.Context, *victim) (string, error)) func(context.Context, string) (string, error) {
	return func(ctx context.Context, bin string) (string, error) {
		v, err := start(ctx, bin)
		if err != nil {
			return "", err
		}
		defer v.stop()
		return try(ctx, v)
	}
}

// startOn runs a relay over the log in a directory; the log may already exist.
func startOn(ctx context.Context, bin, folder string, flags ...string) (*victim, error) {
	file := filepath.Join(folder, "address")
	arguments := append([]string{"serve", "--listen", "127.0.0.1:0", "--store", "sqlite:" + filepath.Join(folder, "relay.db"),
		"--address-file", file}, flags...)
	command := fewFiles(ctx, filepath.Join(bin, "touchstone-relay"), arguments...)
	command.Env = append(os.Environ(), "RELAY_GITHUB_SECRET="+secret)
	relay, err := program.Start(ctx, command, file)
	if err != nil {
		return nil, err
	}
	return &victim{Process: relay, bin: bin, folder: folder, address: relay.Addresses[0]}, nil
}

// descriptorLimit is the maximum number of files and connections that a relay may have open: fewer than a
// crowd has.
const descriptorLimit = 4096

// fewFiles returns a command with this limit, on systems with a shell that can set it.
func fewFiles(ctx context.Context, path string, arguments ...string) *exec.Cmd {
	if runtime.GOOS == "windows" {
		return exec.CommandContext(ctx, path, arguments...)
	}
	script := fmt.Sprintf(`ulimit -n %d && exec "$0" "$@"`, descriptorLimit)
	return exec.CommandContext(ctx, "sh", append([]string{"-c", script, path}, arguments...)...)
}

// stop ends the relay and deletes its log. Failures of this do not concern an attack.
func (v *victim) stop() {
	v.kill()
	_ = os.RemoveAll(v.folder)
}

// post sends a correctly signed webhook of 20 kB and returns the status of its answer.
func (v *victim) post(ctx context.Context, delivery, text string) (int, error) {
	body := fmt.Sprintf(`{"text":%q,"more":%q}`, text, strings.Repeat("x", 20_000))
	return v.sendSigned(ctx, delivery, body)
}

// sendSigned sends a correctly signed webhook and returns the status of its answer.
func (v *victim) sendSigned(ctx context.Context, delivery, body string) (int, error) {
	request, err := v.request(ctx, delivery, body)
	if err != nil {
		return 0, err
	}
	status, err := send(request)
	if status == http.StatusAccepted {
		v.acknowledged++
	}
	return status, err
}

// request returns a correctly signed webhook.
func (v *victim) request(ctx context.Context, delivery, body string) (*http.Request, error) {
	return sourcetest.Request(ctx, "http://"+v.address, secret, "push", delivery, []byte(body))
}

// send sends a request and returns the status of the answer.
func send(request *http.Request) (int, error) {
	status, _, err := ask(request)
	return status, err
}

// Sizes of a crowd, and the limits within which the relay must still accept a webhook from another address,
// in time and memory.
const (
	crowdAddresses = 8
	crowdEach      = 600
	crowdLast      = 64
	maxWait        = time.Second
	maxMemory      = 400 << 20
)

// crowd opens connections from eight addresses that send only opening; the last few send only last, if it is
// set.
func crowd(opening, last string) func(context.Context, string) (string, error) {
	return func(ctx context.Context, bin string) (string, error) {
		v, err := start(ctx, bin)
		if err != nil {
			return "", err
		}
		defer v.stop()
		for i := range crowdAddresses * crowdEach {
			dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 1, byte(i%crowdAddresses+1))}}
			conn, err := dialer.DialContext(ctx, "tcp", v.address)
			if err != nil {
				return "", err
			}
			defer conn.Close()
			if last != "" && i >= crowdAddresses*crowdEach-crowdLast {
				opening = last
			}
			_, _ = io.WriteString(conn, opening) // the relay may have closed the connection
		}
		webhook, err := v.wanted(ctx)
		if err != nil {
			return "", err
		}
		return v.keptOut(http.DefaultTransport, webhook, 1)
	}
}

// wanted returns a correctly signed webhook of 20 kB.
func (v *victim) wanted(ctx context.Context) (*http.Request, error) {
	return v.request(ctx, "wanted", `{"text":"`+strings.Repeat("x", 20_000)+`"}`)
}

// keptOut reports what is wrong with a relay's handling of a webhook beside a crowd. It prints the time and
// the memory used.
func (v *victim) keptOut(way http.RoundTripper, webhook *http.Request, version int) (string, error) {
	begin := time.Now()
	response, err := way.RoundTrip(webhook)
	took := time.Since(begin)
	_, memory := v.Memory()
	if err != nil {
		return fmt.Sprintf("a webhook was answered %v, after %s", err, took), nil
	}
	defer response.Body.Close()
	fmt.Printf("    a webhook is answered %d after %s; the relay has taken %d MB at most\n", response.StatusCode, took.Round(time.Millisecond),
		memory>>20)
	switch {
	case response.ProtoMajor != version:
		return "", fmt.Errorf("a webhook was answered by %s", response.Proto)
	case response.StatusCode != http.StatusAccepted:
		return "a webhook was answered " + response.Status, nil
	case took > maxWait:
		return fmt.Sprintf("a webhook took %s", took), nil
	case memory > maxMemory:
		return fmt.Sprintf("the relay took %d MB", memory>>20), nil
	}
	return "", nil
}

// lost takes the log away from a relay, which must then refuse webhooks and say why.
func lost(take func(*victim) error) func(context.Context, *victim) (string, error) {
	return func(ctx context.Context, v *victim) (string, error) {
		if status, err := v.post(ctx, "before", "before"); err != nil || status != http.StatusAccepted {
			return "", errors.Join(fmt.Errorf("the webhook before was answered %d", status), err)
		}
		if err := take(v); err != nil {
			return "", err
		}
		return v.takes(ctx)
	}
}

// takes reports what is wrong with a relay that cannot store anything: it accepts a webhook anyway, reports
// that it is ready, or refuses either without a sentence.
func (v *victim) takes(ctx context.Context) (string, error) {
	webhook, err := v.request(ctx, "lost", `{"text":"lost"}`)
	if err != nil {
		return "", err
	}
	ready, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+v.address+"/readyz", nil)
	if err != nil {
		return "", err
	}
	for what, request := range map[string]*http.Request{"a webhook that is lost": webhook, "readiness": ready} {
		status, sentence, err := ask(request)
		if err != nil {
			return "", err
		}
		if status != http.StatusServiceUnavailable || sentence == "" {
			return fmt.Sprintf("%s was answered %d, %q", what, status, sentence), nil
		}
	}
	return "", nil
}

// ask returns an answer's status, and the sentence of a refusal. It uses its own connection.
func ask(request *http.Request) (status int, sentence string, err error) {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	var refusal struct{ Error string }
	err = json.NewDecoder(response.Body).Decode(&refusal)
	return response.StatusCode, refusal.Error, err
}

// replace replaces the log with a copy.
func replace(v *victim) error {
	whole, err := os.ReadFile(v.log())
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(v.log()+".copy", whole, 0o600), os.Rename(v.log()+".copy", v.log()))
}

func move(v *victim) error {
	before := v.folder
	v.folder += "-moved"
	return os.Rename(before, v.folder)
}

func replayed(ctx context.Context, v *victim) (string, error) {
	if status, err := v.post(ctx, "first", "one"); err != nil || status != http.StatusAccepted {
		return "", errors.Join(fmt.Errorf("the webhook itself was answered %d", status), err)
	}
	if status, err := v.post(ctx, "again", "one"); err != nil || status != http.StatusOK {
		return fmt.Sprintf("it was answered %d", status), err
	}
	return "", nil
}

func administered(ctx context.Context, v *victim) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPatch, "http://"+v.address+"/control",
		strings.NewReader(`{"engine.off":"opus"}`))
	if err != nil {
		return "", err
	}
	status, err := send(request)
	if err == nil && status != http.StatusForbidden {
		return fmt.Sprintf("the change was answered %d", status), nil
	}
	return "", err
}
