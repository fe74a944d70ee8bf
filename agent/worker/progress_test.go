package worker

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"touchstone/agent/engine"
	"touchstone/verdict"
)

// A log of the usual level tells how far a session is, and not each of its calls.
func TestProgressIsToldNowAndThen(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	tell := progress(zerolog.New(&out).Level(zerolog.InfoLevel).WithContext(t.Context()))
	at := func(seconds int, kind engine.ProgressKind, text string) {
		tell(engine.Progress{Kind: kind, Text: text, Elapsed: time.Duration(seconds) * time.Second, Silence: 30 * time.Second,
			Used: verdict.Usage{Input: int64(seconds)}})
	}
	at(1, engine.ProgressTool, "Read a.go")
	at(2, engine.ProgressDimension, "Graph")
	for second := 3; second < 40; second++ {
		at(second, engine.ProgressTool, "Read b.go")
	}
	at(69, engine.ProgressHeartbeat, "")
	at(70, engine.ProgressHeartbeat, "Bash go vet ./...")
	at(71, engine.ProgressText, "I see.")
	at(31, engine.ProgressTool, "Grep x") // in the next turn
	type line struct {
		Session, Elapsed, Message string
		Tools, Tokens             int
	}
	var got []line
	for decoder := json.NewDecoder(&out); decoder.More(); {
		var l line
		if err := decoder.Decode(&l); err != nil {
			t.Fatal(err)
		}
		got = append(got, l)
	}
	want := []line{
		{"dimension", "2s", "Graph", 1, 2},
		{"tool", "32s", "Read b.go", 31, 32},
		{"heartbeat", "1m9s", "the model is thinking, 30s since its last output", 38, 69},
		{"heartbeat", "1m10s", "running Bash go vet ./..., 30s without output", 38, 70},
		{"tool", "31s", "Grep x", 39, 31},
	}
	if !slices.Equal(got, want) {
		t.Errorf("the log has %+v; want %+v", got, want)
	}
}
