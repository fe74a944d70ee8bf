package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"touchstone/agent/activity"
	"touchstone/agent/config"
	"touchstone/agent/e2e/loopback"
	"touchstone/agent/engine"
	"touchstone/agent/journal"
	"touchstone/agent/worker"
	"touchstone/relay/client"
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

// idle is a daemon that does nothing but tell of itself.
func idle(t *testing.T, announce func(context.Context, event.Beacon) error) *Daemon {
	t.Helper()
	records, err := journal.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = records.Close() })
	return &Daemon{
		Agent: &worker.Agent{Config: config.NewLive(config.Default(), nil).Config, Journal: records},
		Self:  event.Beacon{Role: "reviewer", Login: loopback.Judge}, Announce: announce,
	}
}

func TestAnAgentTellsWhatItDoesEveryHalfMinuteAndAtEachChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var told []string
		d := idle(t, func(_ context.Context, b event.Beacon) error {
			does := "nothing"
			if len(b.Work) > 0 {
				does = b.Work[0].Act + " " + b.Work[0].Phase
			}
			told = append(told, fmt.Sprintf("%s: %s", time.Since(began), does))
			return nil
		})
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); d.announce(ctx) }()
		time.Sleep(40 * time.Second)
		work, end := d.Activity.Begin(ctx, "acme/app#1", "review")
		time.Sleep(200 * time.Millisecond)
		activity.Phase(work, "Security")
		time.Sleep(39800 * time.Millisecond)
		end()
		time.Sleep(45 * time.Second)
		stop()
		<-done
		// A change within a second of another is told at the end of that second.
		want := []string{"0s: nothing", "30s: nothing", "40s: review ", "41s: review Security", "1m11s: review Security", "1m20s: nothing",
			"1m50s: nothing"}
		if !slices.Equal(told, want) {
			t.Errorf("it tells %q, want %q", told, want)
		}
	})
}

// TestARelayThatDoesNotListenIsNoTrouble checks that beacons are sent again later, without a log entry, to a
// relay that is down or does not support beacons yet.
func TestARelayThatDoesNotListenIsNoTrouble(t *testing.T) {
	t.Parallel()
	old := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(old.Close)
	away := httptest.NewServer(nil)
	away.Close()
	for name, relay := range map[string]string{"away": away.URL, "old": old.URL} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refusals := make(chan error, 9)
			d := idle(t, func(ctx context.Context, b event.Beacon) error {
				err := (&client.Client{URL: relay, Token: "rly_1_2"}).Announce(ctx, b)
				refusals <- err
				return err
			})
			var log bytes.Buffer
			ctx, stop := context.WithCancel(zerolog.New(&log).Level(zerolog.InfoLevel).WithContext(t.Context()))
			done := make(chan struct{})
			go func() { defer close(done); d.announce(ctx) }()
			for range 2 {
				if err := <-refusals; err == nil {
					t.Error("the relay listened")
				}
				_, end := d.Activity.Begin(ctx, "acme/app#1", "review") // a change
				defer end()
			}
			stop()
			<-done
			if log.Len() > 0 {
				t.Errorf("the log says %s", log.String())
			}
		})
	}
}
