package acp

import (
	"strings"
	"testing"

	"touchstone/agent/engine/session"
)

// TestAnEndlessLineStopsTheTurn: text counts towards what a turn may write before its line is complete.
func TestAnEndlessLineStopsTheTurn(t *testing.T) {
	t.Parallel()
	endless := &turn{Transcript: session.NewTranscript(nil, strings.TrimSpace)}
	piece := strings.Repeat("x", 4<<10)
	for n := range 2000 {
		if err := endless.prose(piece); err != nil {
			if kept := len(endless.Text()); kept == 0 || strings.Contains(endless.Text(), "\n") {
				t.Errorf("after %d pieces it has %d bytes, in several lines", n, kept)
			}
			return
		}
	}
	t.Errorf("it goes on, with %d bytes of one line", len(endless.partial))
}
