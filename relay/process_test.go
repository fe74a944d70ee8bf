package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"golang.org/x/sync/errgroup"

	"touchstone/relay/client"
	"touchstone/relay/event"
	"touchstone/relay/internal/examples"
	"touchstone/relay/storetest/host"
	"touchstone/worktree/await"
)

const testSecret = "s3cret"

// must ends the test unless err is nil.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// waitForLine waits for a file that is written in one step, and returns its first line.
func waitForLine(path string) (line string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), await.Patience)
	defer cancel()
	err = await.Condition(ctx, func() (bool, error) {
		content, err := os.ReadFile(path)
		line, _, _ = strings.Cut(string(content), "\n")
		return err == nil, nil
	})
	if err != nil {
		return "", fmt.Errorf("wait for the file %s: %w", path, err)
	}
	return line, nil
}

// buildRelay returns the binary as it is shipped.
func buildRelay(t *testing.T) string {
	t.Helper()
	binary, err := relayBinary()
	if err != nil {
		t.Fatal(err)
	}
	return binary
}

// newStore returns the address of an embedded store that does not exist yet.
func newStore(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "relay.db") }

// process is a running relay.
type process struct {
	command *exec.Cmd
	address string
	log     *bytes.Buffer
}

// startRelay starts the binary over a store, such as newStore's. An empty address picks a free one. The
// environment is added to this process's own.
func startRelay(t *testing.T, binary, store, listen string, environment ...string) *process {
	t.Helper()
	return launch(t, binary, environment, "--listen", cmp.Or(listen, host.Own()+":0"), "--store", store)
}

// launch starts the binary with these flags and waits until it listens.
func launch(t *testing.T, binary string, environment []string, flags ...string) *process {
	t.Helper()
	addressFile := filepath.Join(t.TempDir(), "address")
	p := &process{log: &bytes.Buffer{}}
	p.command = exec.Command(binary, append([]string{"serve", "--address-file", addressFile}, flags...)...)
	p.command.Env = append(append(os.Environ(), "RELAY_GITHUB_SECRET="+testSecret), environment...)
	p.command.Stderr = p.log
	must(t, p.command.Start())
	t.Cleanup(func() { p.kill() })
	address, err := waitForLine(addressFile)
	if err != nil {
		p.kill()
		t.Fatalf("the relay did not start: %v\n%s", err, p.log)
	}
	p.address = address
	return p
}

// kill ends the process with SIGKILL, which gives it no chance to save anything.
func (p *process) kill() {
	if p.command.ProcessState == nil {
		// It is gone in any case, and how it went is no news.
		_ = p.command.Process.Kill()
		_ = p.command.Wait()
	}
}

// deliver sends one example and reports whether it was acknowledged.
func deliver(t *testing.T, address string, i int, example examples.Example) (status int, err error) {
	request := examples.Request(t, "http://"+address, testSecret, example.Event, examples.Delivery(i), example.Payload)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	response.Body.Close()
	return response.StatusCode, nil
}

var errSeen = errors.New("seen everything")

// follow returns the first n events behind a position.
func follow(t *testing.T, address, after string, n int) []*event.Event {
	t.Helper()
	var events []*event.Event
	c := &client.Client{URL: "http://" + address}
	err := c.Follow(t.Context(), after, func(_ context.Context, m event.Message) error {
		if m.Gap != nil || m.Reset != nil {
			return fmt.Errorf("unexpected %+v", m)
		}
		if m.Event != nil {
			events = append(events, m.Event)
		}
		if len(events) == n {
			return errSeen
		}
		return nil
	})
	if !errors.Is(err, errSeen) {
		t.Fatalf("follow: %v", err)
	}
	return events
}

// The relay is killed after half of the examples, with more of them under way, and restarted. Then all are
// sent again, like redeliveries. A subscriber that was connected all along, and one that was not, get each
// example once and byte for byte.
func TestKilledAndRestarted(t *testing.T) {
	t.Parallel()
	binary := buildRelay(t)
	store := newStore(t)
	all := allExamples(t)
	half := len(all) / 2
	first := startRelay(t, binary, store, "")

	throughout := make(chan []*event.Event, 1)
	go func() { throughout <- follow(t, first.address, client.Oldest, len(all)) }()
	for i, example := range all[:half] {
		if status, err := deliver(t, first.address, i, example); err != nil || status != http.StatusAccepted {
			t.Fatalf("example %d: %d, %v", i, status, err)
		}
	}
	seen := follow(t, first.address, client.Oldest, half)
	acknowledged := deliverUntilKilled(t, first, all, half)

	second := startRelay(t, binary, store, first.address)
	stored := 0
	for i, example := range all {
		status, err := deliver(t, second.address, i, example)
		if err != nil || status != http.StatusOK && status != http.StatusAccepted {
			t.Fatalf("example %d again: %d, %v", i, status, err)
		}
		if status == http.StatusOK {
			stored++
		}
	}
	if stored < acknowledged {
		t.Errorf("%d examples were acknowledged, and only %d survived", acknowledged, stored)
	}
	cursor := seen[half-1].ID.String()
	later := follow(t, second.address, client.Oldest, len(all))
	for who, events := range map[string][]*event.Event{
		"was there throughout": <-throughout,
		"resumes":              append(seen, follow(t, second.address, cursor, len(all)-half)...),
		"comes later":          later,
	} {
		checkExamples(t, who, events, all)
		for i, e := range events {
			if e.ID != later[i].ID || e.Delivery != later[i].Delivery {
				t.Errorf("at place %d the subscriber that %s got %s", i, who, e.ID)
			}
		}
	}
}

// deliverUntilKilled sends the examples from the given one on, eight at a time, kills the relay meanwhile,
// and returns how many were acknowledged in total.
func deliverUntilKilled(t *testing.T, p *process, all []examples.Example, from int) int {
	t.Helper()
	var acknowledged atomic.Int64
	acknowledged.Store(int64(from))
	var senders errgroup.Group
	senders.SetLimit(8)
	for i := from; i < len(all); i++ {
		senders.Go(func() error {
			if status, err := deliver(t, p.address, i, all[i]); err != nil || status != http.StatusAccepted {
				return nil // killed by now
			}
			if acknowledged.Add(1) == int64(from)+20 {
				return p.command.Process.Kill()
			}
			return nil
		})
	}
	must(t, senders.Wait())
	p.kill()
	if int(acknowledged.Load()) == len(all) {
		t.Fatal("the relay took everything before it died, so nothing was tried")
	}
	return int(acknowledged.Load())
}

// checkExamples checks that each example is there once, byte for byte.
func checkExamples(t *testing.T, who string, events []*event.Event, all []examples.Example) {
	t.Helper()
	got := map[string][]byte{}
	for _, e := range events {
		if _, twice := got[e.Delivery]; twice {
			t.Errorf("the subscriber that %s got %s twice", who, e.Delivery)
		}
		got[e.Delivery] = e.Payload
	}
	for i, example := range all {
		if !bytes.Equal(got[examples.Delivery(i)], example.Payload) {
			t.Errorf("to the subscriber that %s, example %d came changed", who, i)
		}
	}
}

func TestTheRelayEndsCleanlyOnSIGTERM(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: Windows has no SIGTERM to send")
	}
	p := startRelay(t, buildRelay(t), newStore(t), "")
	subscriber := make(chan []*event.Event, 1)
	go func() { subscriber <- follow(t, p.address, client.Oldest, 1) }()
	if _, err := deliver(t, p.address, 0, allExamples(t)[0]); err != nil {
		t.Fatal(err)
	}
	<-subscriber
	must(t, p.command.Process.Signal(syscall.SIGTERM))
	if err := p.command.Wait(); err != nil {
		t.Errorf("after SIGTERM: %v\n%s", err, p.log)
	}
	if strings.Contains(p.log.String(), testSecret) {
		t.Error("the log gives the secret away")
	}
	first, _, _ := strings.Cut(p.log.String(), "\n")
	if !strings.Contains(first, `"address":"http://`+p.address+`"`) {
		t.Errorf("the log's first line has no address: %s", first)
	}
}
