package recovery_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"touchstone/relay/recovery"
	"touchstone/relay/server"
	"touchstone/relay/source"
	"touchstone/relay/storetest/emulator"
	"touchstone/worktree/await"
)

// Environment variables that make this test binary run as a relay.
const (
	childStore  = "TEST_RELAY_STORE"
	childAPI    = "TEST_RELAY_GITHUB"
	childTarget = "TEST_RELAY_TARGET"
	childLease  = "TEST_RELAY_LEASE"
)

// named makes this process and its children find the emulator.
var named sync.Once

// firestore returns the address of a new store in the emulator.
func firestore(t *testing.T) string {
	t.Helper()
	e, project := emulator.ForTest(t)
	named.Do(func() {
		if err := os.Setenv("FIRESTORE_EMULATOR_HOST", e.Address); err != nil {
			t.Fatal(err)
		}
	})
	return "firestore:" + project
}

func TestMain(m *testing.M) {
	if store := os.Getenv(childStore); store != "" {
		fmt.Fprintln(os.Stderr, beRelay(store, os.Getenv(childAPI), os.Getenv(childTarget)))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// beRelay runs a relay until it is killed, and prints its address.
func beRelay(address, api, owner string) error {
	ctx := context.Background()
	store, err := server.OpenStore(ctx, address)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	target, err := recovery.ParseTarget(owner)
	if err != nil {
		return err
	}
	config := recovery.Config{
		GitHub: recovery.GitHub{API: api, Token: token}, Targets: []recovery.Target{target},
		Sources: []string{"github"}, Pace: time.Millisecond,
	}
	if strings.HasPrefix(address, "firestore:") {
		if config.Lease, err = time.ParseDuration(os.Getenv(childLease)); err != nil {
			return err
		}
	}
	s, err := server.New(ctx, server.Config{
		Listener: listener, Store: store, Recovery: config,
		Sources: map[string]server.Source{"github": source.GitHub{Secret: secret}},
	})
	if err != nil {
		return err
	}
	fmt.Println(listener.Addr())
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil { // until webhooks are led here
		return err
	}
	return s.Run(ctx)
}

// child is a relay in its own process.
type child struct {
	*exec.Cmd
	address string
}

// start starts a relay and directs GitHub's webhooks to it.
func (w *world) start(target, store string) *child {
	w.t.Helper()
	c := &child{Cmd: exec.Command(os.Args[0])}
	c.Env = append(os.Environ(), childStore+"="+store, childAPI+"="+w.URL, childTarget+"="+target, childLease+"="+w.lease.String())
	out, err := c.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	in, err := c.StdinPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.children = append(w.children, c)
	w.t.Cleanup(func() { w.kill(c) })
	if _, err := fmt.Fscanln(out, &c.address); err != nil {
		w.t.Fatalf("the relay did not start: %v", err)
	}
	w.relay.Store(&c.address)
	if err := in.Close(); err != nil {
		w.t.Fatal(err)
	}
	return c
}

// kill ends a relay with SIGKILL. Webhooks that were directed to it fail from now on.
func (w *world) kill(c *child) {
	if c.ProcessState == nil {
		w.relay.CompareAndSwap(&c.address, nil)
		if err := c.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			w.t.Error(err)
		}
		_ = c.Wait() // killed, as it says
	}
}

// missed is how many deliveries happen while no relay is running: six chunks.
const missed = 300

// allow limits the number of redeliveries that can be requested. The next request is not answered until the
// relay that sent it is dead, so that the relay is killed in the middle, however busy the machine is.
func (w *world) allow(redeliveries int) {
	answer := func(_ http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/attempts") || w.count("/attempts$") <= redeliveries {
			return false
		}
		<-r.Context().Done()
		return true
	}
	w.answer.Store(&answer)
}

// awaitAsked waits until more than so many redeliveries were requested.
func (w *world) awaitAsked(redeliveries int) {
	w.t.Helper()
	await.Until(w.t, "the relay to catch up", func() bool { return w.count("/attempts$") > redeliveries })
}

// Hundreds of deliveries happen while the relay is down, and it is killed twice while it catches up.
// Afterwards the log holds each delivery once.
func TestEachDeliveryOfAnOutageIsRecoveredOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "acme/app", "json")
	store := "sqlite:" + filepath.Join(t.TempDir(), "relay.db")
	before := w.start("acme/app", store)
	w.comment(3)
	w.kill(before)
	w.comment(missed)

	for i := range 2 {
		w.allow((i + 1) * missed / 4)
		killed := w.start("acme/app", store)
		w.awaitAsked((i + 1) * missed / 4)
		w.kill(killed)
	}
	w.answer.Store(nil)
	w.finish(w.start("acme/app", store))
	w.checkRecovered(store, missed, 2)
}

// The same for an organization's hook and relays that share a log: one recovers while the other accepts
// webhooks, until the first is killed. The other one goes on, and is killed as well. They never recover at
// the same time.
func TestOutageOfRelaysThatShare(t *testing.T) {
	t.Parallel()
	store := firestore(t)
	w := newWorld(t, "acme", "json")
	w.lease = 4 * time.Second // waited for twice, and more than a busy machine keeps a relay from signing
	before := w.start("acme", store)
	w.comment(3)
	w.kill(before)
	w.comment(missed)

	w.allow(missed / 4)
	one := w.start("acme", store)
	w.awaitAsked(0)
	other := w.start("acme", store) // where GitHub's webhooks go from now on
	w.awaitAsked(missed / 4)
	w.kill(one)
	w.allow(missed / 2)
	w.awaitAsked(missed / 2)
	w.kill(other)
	w.answer.Store(nil)
	w.start("acme", store)
	w.finish(w.start("acme", store))
	w.checkRecovered(store, missed, 2)
}

// Three relays that share a log start at the same moment; each delivery is requested from GitHub once.
func TestRelaysTakeTurns(t *testing.T) {
	t.Parallel()
	const missed = 120
	store := firestore(t)
	w := newWorld(t, "acme/app", "json")
	w.lease = recovery.Lease // nobody dies here, so nobody waits for it
	w.comment(missed)
	var relays []*child
	for range 3 {
		relays = append(relays, w.start("acme/app", store))
	}
	for _, c := range relays {
		w.finish(c)
	}
	w.checkRecovered(store, missed, 0)
}

// finish makes a relay recover until a complete pass finds nothing missing. An interrupted pass finds nothing
// missing either, for example when another relay has taken over, so it does not count.
func (w *world) finish(c *child) {
	w.t.Helper()
	again := &relay{t: w.t, address: c.address}
	for report := only(w.t, again.recover()); report.Missing > 0 || report.Problem != ""; report = only(w.t, again.recover()) {
	}
	w.Settle()
}

// checkRecovered checks that the log holds every delivery once, with its signature, and that no more than one
// chunk for each kill was requested twice.
func (w *world) checkRecovered(address string, missed, kills int) {
	w.t.Helper()
	for _, c := range w.children {
		w.kill(c)
	}
	store, err := server.OpenStore(w.t.Context(), address)
	if err != nil {
		w.t.Fatal(err)
	}
	defer store.Close()
	events := read(w.t, store)
	w.checkLog(events)
	if len(events) < missed {
		w.t.Errorf("the log holds %d events", len(events))
	}
	for i, e := range events {
		if e.ID.Seq != int64(i+1) || e.Recovered() || !strings.HasPrefix(e.Signature, "sha256=") {
			w.t.Fatalf("at place %d stands %s, %v", i+1, e.ID, e.Headers)
		}
	}
	if asked := w.count("/attempts$"); asked > len(events)+kills*50 {
		w.t.Errorf("it took %d redeliveries to bring in %d: what was brought in is asked for again", asked, len(events))
	}
}
