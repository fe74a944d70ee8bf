package daemon

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"touchstone/agent/e2e/loopback"
	"touchstone/agent/engine"
	"touchstone/agent/journal"
	"touchstone/relay/event"
)

// announced keeps the latest beacon.
type announced struct {
	mu   sync.Mutex
	last event.Beacon
}

func (a *announced) take(_ context.Context, b event.Beacon) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.last = b
	return nil
}

func (a *announced) now() event.Beacon {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.last
}

func TestAnAgentTellsWhatItDoes(t *testing.T) {
	t.Parallel()
	var told announced
	release := make(chan struct{})
	w := start(t, 1, func(r loopback.Asked) (string, error) {
		r.Request.Progress(engine.Progress{Kind: engine.ProgressDimension, Text: "Graph, Security"})
		select {
		case <-release:
		case <-t.Context().Done():
		}
		return crash(r)
	}, func(w *working) {
		w.daemon.Announce = told.take
		w.daemon.Self = event.Beacon{Role: "reviewer", Login: loopback.Judge, Version: "v1"}
		w.open("one")
		w.open("two")
	})
	w.until("one review at a dimension, another waiting", func() bool {
		b := told.now()
		return len(b.Work) == 1 && b.Queued == 1 && b.Work[0].Phase == "Security"
	})
	b := told.now()
	if b.Role != "reviewer" || b.Login != loopback.Judge || b.Engine == "" || b.Work[0].Act != "review" ||
		!strings.HasPrefix(b.Work[0].Pull, "acme/app#") || b.Work[0].Since.IsZero() {
		t.Errorf("it tells %+v", b)
	}
	if here, err := journal.ActivityOf(w.journal); err != nil || len(here.Work) != 1 {
		t.Errorf("the journal tells %+v, %v", here, err)
	}
	close(release)
	w.until("nothing is done any more", func() bool { b := told.now(); return len(b.Work) == 0 && b.Queued == 0 })
}

func TestABeaconIsNeverMoreThanARelayTakes(t *testing.T) {
	t.Parallel()
	w := start(t, 1, crash, func(*working) {})
	for range 200 {
		_, end := w.daemon.Activity.Begin(t.Context(), "acme/app#1", "review")
		defer end()
	}
	text, err := json.Marshal(w.daemon.beacon())
	if err != nil || len(text) > event.MaxBeaconBytes || len(text) < event.MaxBeaconBytes/2 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}
