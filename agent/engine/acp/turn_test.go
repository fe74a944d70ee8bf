package acp

import (
	"slices"
	"strings"
	"testing"

	"github.com/coder/acp-go-sdk"

	"touchstone/agent/engine"
	"touchstone/agent/engine/session"
)

// TestACallThatFailedIsReported: an agent says how a call ended in an update, or with the call.
func TestACallThatFailedIsReported(t *testing.T) {
	t.Parallel()
	const (
		call = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call","toolCallId":"1",` +
			`"title":"a.go","kind":"read","status":`
		update = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call_update",` +
			`"toolCallId":"1","status":`
	)
	tool, failed := []engine.ProgressKind{engine.ProgressTool}, []engine.ProgressKind{engine.ProgressTool, engine.ProgressFailed}
	for name, test := range map[string]struct {
		lines string
		want  []engine.ProgressKind
	}{
		"completed":        {call + `"pending"}}}` + "\n" + update + `"completed"}}}`, tool},
		"failed":           {call + `"pending"}}}` + "\n" + update + `"failed"}}}`, failed},
		"failed at once":   {call + `"failed"}}}`, failed},
		"failed twice":     {call + `"failed"}}}` + "\n" + update + `"failed"}}}`, failed},
		"a call not known": {update + `"failed"}}}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var kinds []engine.ProgressKind
			heard := &turn{tools: map[acp.ToolCallId]bool{}, Transcript: session.NewTranscript(func(p engine.Progress) {
				kinds = append(kinds, p.Kind)
				if !strings.Contains(p.Target, "a.go") {
					t.Errorf("%s is of %q", p.Kind, p.Target)
				}
			}, strings.TrimSpace)}
			for line := range strings.Lines(test.lines) {
				if err := heard.line([]byte(line)); err != nil {
					t.Fatal(err)
				}
			}
			if !slices.Equal(kinds, test.want) || heard.working() {
				t.Errorf("%q, want %q; working: %t", kinds, test.want, heard.working())
			}
		})
	}
}

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
