package e2e

import (
	"io"
	"net/http"
	"regexp"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"touchstone/agent/daemon"
	"touchstone/verdict/decide"
)

// floor is the last event that the relay has forgotten.
func (w *world) floor() int {
	response, err := http.Get(w.relay.url + "/metrics")
	w.must(err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	w.must(err)
	found := regexp.MustCompile(`(?m)^relay_log_floor\S* (\d+)$`).FindSubmatch(text)
	if found == nil {
		w.t.Fatalf("the relay tells no floor:\n%s", text)
	}
	n, err := strconv.Atoi(string(found[1]))
	w.must(err)
	return n
}

// TestSuspendedMachineCatchesUp suspends both machines for so long that the relay forgets all events meanwhile.
// The relay says so, and the agents look at everything.
func TestSuspendedMachineCatchesUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]any{})
	w.startBoth()
	w.finished(w.open("First", map[string]string{"first.txt": "fine\n"}, false), 1)
	var everything atomic.Int64
	for _, m := range w.agents {
		m.halt()
	}
	ref := w.open("Second", map[string]string{"second.txt": "fine\n"}, false)
	w.Settle()
	w.relay.stop()
	w.relay.retention = time.Nanosecond
	w.startRelay()
	w.until("the relay has forgotten it", func() bool { return w.floor() > 0 })
	reviewing := w.agents[decide.Reviewer]
	reviewing.hinted = func(h daemon.Hint) {
		if h == (daemon.Hint{}) {
			everything.Add(1)
		}
	}
	w.startBoth()
	// Once for the connection, and once for what the relay does not have any more.
	w.until("the relay says what it has forgotten", func() bool { return everything.Load() >= 2 })
	w.until("merged", func() bool { return w.merged(ref) })
	w.checkInvariants(ref)
}
