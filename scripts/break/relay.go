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
	"touchstone/worktree/steps"
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

// onRelay makes an attack on a relay with its own log.
func onRelay(try func(context.Context, *victim) string) func(context.Context, string) string {
	return func(ctx context.Context, bin string) string {
		folder := steps.Got(os.MkdirTemp("", "break"))
		defer os.RemoveAll(folder)
		v := startOn(ctx, bin, folder)
		defer v.stop()
		return try(ctx, v)
	}
}

// startOn runs a relay over the log in a directory; the log may already exist.
func startOn(ctx context.Context, bin, folder string, flags ...string) *victim {
	file := filepath.Join(folder, "address")
	arguments := append([]string{"serve", "--listen", "127.0.0.1:0", "--store", "sqlite:" + filepath.Join(folder, "relay.db"),
		"--address-file", file}, flags...)
	command := fewFiles(ctx, filepath.Join(bin, "touchstone-relay"), arguments...)
	command.Env = append(os.Environ(), "RELAY_GITHUB_SECRET="+secret)
	relay := steps.Got(program.Start(ctx, command, file))
	return &victim{Process: relay, bin: bin, folder: folder, address: relay.Addresses[0]}
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
func (v *victim) post(ctx context.Context, delivery, text string) int {
	body := fmt.Sprintf(`{"text":%q,"more":%q}`, text, strings.Repeat("x", 20_000))
	return v.sendSigned(ctx, delivery, body)
}

// store sends a webhook that the relay must store.
func (v *victim) store(ctx context.Context, delivery, text string) {
	if status := v.post(ctx, delivery, text); status != http.StatusAccepted {
		steps.Fail("a webhook was answered %d", status)
	}
}

// sendSigned sends a correctly signed webhook and returns the status of its answer.
func (v *victim) sendSigned(ctx context.Context, delivery, body string) int {
	status, _ := ask(v.request(ctx, delivery, body))
	if status == http.StatusAccepted {
		v.acknowledged++
	}
	return status
}

// request returns a correctly signed webhook.
func (v *victim) request(ctx context.Context, delivery, body string) *http.Request {
	return steps.Got(sourcetest.Request(ctx, "http://"+v.address, secret, "push", delivery, []byte(body)))
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
func crowd(opening, last string) func(context.Context, string) string {
	return onRelay(func(ctx context.Context, v *victim) string {
		for i := range crowdAddresses * crowdEach {
			dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 1, byte(i%crowdAddresses+1))}}
			conn := steps.Got(dialer.DialContext(ctx, "tcp", v.address))
			defer conn.Close()
			if last != "" && i >= crowdAddresses*crowdEach-crowdLast {
				opening = last
			}
			_, _ = io.WriteString(conn, opening) // the relay may have closed the connection
		}
		return v.keptOut(http.DefaultTransport, v.wanted(ctx), 1)
	})
}

// wanted returns a correctly signed webhook of 20 kB.
func (v *victim) wanted(ctx context.Context) *http.Request {
	return v.request(ctx, "wanted", `{"text":"`+strings.Repeat("x", 20_000)+`"}`)
}

// keptOut reports what is wrong with a relay's handling of a webhook beside a crowd. It prints the time and
// the memory used.
func (v *victim) keptOut(way http.RoundTripper, webhook *http.Request, version int) string {
	begin := time.Now()
	response, err := way.RoundTrip(webhook)
	took := time.Since(begin)
	_, memory := v.Memory()
	if err != nil {
		return fmt.Sprintf("a webhook was answered %v, after %s", err, took)
	}
	defer response.Body.Close()
	fmt.Printf("    a webhook is answered %d after %s; the relay has taken %d MB at most\n", response.StatusCode, took.Round(time.Millisecond),
		memory>>20)
	switch {
	case response.ProtoMajor != version:
		steps.Fail("a webhook was answered by %s", response.Proto)
	case response.StatusCode != http.StatusAccepted:
		return "a webhook was answered " + response.Status
	case took > maxWait:
		return fmt.Sprintf("a webhook took %s", took)
	case memory > maxMemory:
		return fmt.Sprintf("the relay took %d MB", memory>>20)
	}
	return ""
}

// lost takes the log away from a relay, which must then refuse webhooks and say why.
func lost(take func(*victim) error) func(context.Context, *victim) string {
	return func(ctx context.Context, v *victim) string {
		v.store(ctx, "before", "before")
		steps.Must(take(v))
		return v.takes(ctx)
	}
}

// takes reports what is wrong with a relay that cannot store anything: it accepts a webhook anyway, reports
// that it is ready, or refuses either without a sentence.
func (v *victim) takes(ctx context.Context) string {
	webhook := v.request(ctx, "lost", `{"text":"lost"}`)
	ready := steps.Got(http.NewRequestWithContext(ctx, http.MethodGet, "http://"+v.address+"/readyz", nil))
	// Readiness is asked last: its answer may be two seconds old, but a webhook that was refused shows at once.
	for _, asked := range []struct {
		what string
		*http.Request
	}{{"a webhook that is lost", webhook}, {"readiness", ready}} {
		if status, sentence := ask(asked.Request); status != http.StatusServiceUnavailable || sentence == "" {
			return fmt.Sprintf("%s was answered %d, %q", asked.what, status, sentence)
		}
	}
	return ""
}

// ask returns an answer's status, and the sentence of a refusal. It uses its own connection.
func ask(request *http.Request) (status int, sentence string) {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response := steps.Got(client.Do(request))
	defer response.Body.Close()
	var refusal struct{ Error string }
	steps.Must(json.NewDecoder(response.Body).Decode(&refusal))
	return response.StatusCode, refusal.Error
}

// replace replaces the log with a copy.
func replace(v *victim) error {
	whole := steps.Got(os.ReadFile(v.log()))
	return errors.Join(os.WriteFile(v.log()+".copy", whole, 0o600), os.Rename(v.log()+".copy", v.log()))
}

func move(v *victim) error {
	before := v.folder
	v.folder += "-moved"
	return os.Rename(before, v.folder)
}

func replayed(ctx context.Context, v *victim) string {
	v.store(ctx, "first", "one")
	if status := v.post(ctx, "again", "one"); status != http.StatusOK {
		return fmt.Sprintf("it was answered %d", status)
	}
	return ""
}

func administered(ctx context.Context, v *victim) string {
	request := steps.Got(http.NewRequestWithContext(ctx, http.MethodPatch, "http://"+v.address+"/control",
		strings.NewReader(`{"engine.off":"opus"}`)))
	if status, _ := ask(request); status != http.StatusForbidden {
		return fmt.Sprintf("the change was answered %d", status)
	}
	return ""
}
