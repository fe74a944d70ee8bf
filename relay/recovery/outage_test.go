package recovery_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"touchstone/relay/recovery"
	"touchstone/relay/server"
	"touchstone/relay/source"
)

// Variables by which this test binary learns that it is to be a relay.
const (
	childStore = "TEST_RELAY_STORE"
	childAPI   = "TEST_RELAY_GITHUB"
)

func TestMain(m *testing.M) {
	if store := os.Getenv(childStore); store != "" {
		fmt.Fprintln(os.Stderr, beRelay(store, os.Getenv(childAPI)))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// beRelay runs a relay until it is killed and prints its address.
func beRelay(path, api string) error {
	ctx := context.Background()
	store, err := server.OpenStore(ctx, "sqlite:"+path)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	target, err := recovery.ParseTarget("acme/app")
	if err != nil {
		return err
	}
	s, err := server.New(ctx, server.Config{
		Listener: listener, Store: store,
		Sources: map[string]server.Source{"github": source.GitHub{Secret: secret}},
		Recovery: recovery.Config{
			GitHub: recovery.GitHub{API: api, Token: token}, Targets: []recovery.Target{target},
			Sources: []string{"github"}, Pace: time.Millisecond,
		},
	})
	if err != nil {
		return err
	}
	fmt.Println(listener.Addr())
	return s.Run(ctx)
}

// relayProcess starts a relay as a process of its own and leads GitHub's webhooks to it.
func (w *world) relayProcess(store string) *exec.Cmd {
	w.t.Helper()
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), childStore+"="+store, childAPI+"="+w.api)
	out, err := command.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { w.kill(command) })
	var address string
	if _, err := fmt.Fscanln(out, &address); err != nil {
		w.t.Fatalf("the relay did not start: %v", err)
	}
	w.relay.Store(&address)
	return command
}

// kill ends a relay as kill -9 does.
func (w *world) kill(command *exec.Cmd) {
	if command.ProcessState == nil {
		w.relay.Store(nil)
		if err := command.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			w.t.Error(err)
		}
		_ = command.Wait() // killed, as it says
	}
}

// until waits for a condition.
func (w *world) until(met func() bool) {
	w.t.Helper()
	for deadline := time.After(time.Minute); !met(); {
		select {
		case <-deadline:
			w.t.Fatal("it did not happen within a minute")
		case <-time.After(time.Millisecond):
		}
	}
}

// Five hundred deliveries happen while the relay is away, and it is killed twice while
// it catches up. Afterwards the log holds each once.
func TestOutage(t *testing.T) {
	t.Parallel()
	const missed = 500
	w := newWorld(t, "json")
	path := filepath.Join(t.TempDir(), "relay.db")
	before := w.relayProcess(path)
	w.comment(3)
	w.kill(before)
	w.comment(missed)

	for i := range 2 {
		killed := w.relayProcess(path)
		w.until(func() bool { return w.count("/attempts$") >= (i+1)*missed/4 })
		w.kill(killed)
	}
	if asked := w.count("/attempts$"); asked >= missed {
		t.Fatalf("the relay was not killed in the middle: it had asked for %d redeliveries", asked)
	}
	last := w.relayProcess(path)
	for again := (&relay{t: t, address: *w.relay.Load()}); only(t, again.recover()).Missing > 0; {
	}
	w.settle()
	w.kill(last)

	store, err := server.OpenStore(t.Context(), "sqlite:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	events := read(t, store)
	w.checkLog(events)
	if len(events) < missed+3 {
		t.Errorf("the log holds %d events", len(events))
	}
	for i, e := range events {
		if e.ID.Seq != int64(i+1) || e.Recovered() || !strings.HasPrefix(e.Headers["X-Hub-Signature-256"], "sha256=") {
			t.Fatalf("at place %d stands %s, %v", i+1, e.ID, e.Headers)
		}
	}
	if asked := w.count("/attempts$"); asked > missed+3*50 {
		t.Errorf("it took %d redeliveries to bring in %d: what was brought in is asked for again", asked, missed)
	}
}
