package opencode

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"touchstone/agent/engine"
	"touchstone/agent/engine/session"
	"touchstone/verdict"
)

// replay gives the turn of a CLI that printed these lines.
func replay(t *testing.T, output string) (*turn, error) {
	t.Helper()
	heard := &turn{Transcript: session.NewTranscript(func(engine.Progress) {}, strings.TrimSpace)}
	for line := range strings.Lines(output) {
		if err := heard.line([]byte(strings.TrimSuffix(line, "\n"))); err != nil {
			return heard, err
		}
	}
	return heard, nil
}

const (
	begins = `{"type":"step_start","sessionID":"s1","part":{}}` + "\n"
	says   = `{"type":"text","part":{"text":"Hello."}}` + "\n"
	ends   = `{"type":"step_finish","part":{"reason":"stop","tokens":{"input":1,"output":2,"reasoning":3,"cache":{"read":4,"write":5}},` +
		`"cost":0.5}}` + "\n"
	calls = `{"type":"step_finish","part":{"reason":"tool-calls","tokens":{"input":1}}}` + "\n"
)

func TestATurnsStreamSaysHowItEnded(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, output, reason string
		class                engine.Class // empty: nothing failed
	}{
		{"complete", begins + says + ends, "stop", ""},
		{"a step more", begins + calls + begins + says + ends, "stop", ""},
		{"in the middle of a step", begins + calls + begins + says, "", ""},
		{"after a tool", begins + says + calls, "tool-calls", ""},
		{"not its own words", begins + says + `{"type":"text","part":{"synthetic":true,"text":"Go on."}}` + "\n" + ends, "stop", ""},
		{"context", says + `{"type":"error","sessionID":"s1","error":{"name":"ContextOverflowError"}}`, "", engine.ContextOverflow},
		{"login", says + `{"type":"error","sessionID":"s1","error":{"name":"APIError","data":{"statusCode":401}}}`, "", engine.Auth},
		{"model", says + `{"type":"error","sessionID":"s1","error":{"name":"UnknownError","data":{"message":"Model not found: x"}}}`, "",
			engine.UnknownModel},
		{"no reason", says + `{"type":"error","sessionID":"s1"}`, "", engine.BadOutput},
		{"fields of other types", says + `{"type":"error","sessionID":"s1","error":[7]}`, "", engine.BadOutput},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			heard, err := replay(t, test.output)
			if err != nil {
				t.Fatal(err)
			}
			if heard.Text() != "Hello." || heard.id != "s1" || heard.reason != test.reason {
				t.Errorf("text = %q in %q, ended by %q", heard.Text(), heard.id, heard.reason)
			}
			if failed := heard.failure != nil; failed != (test.class != "") || failed && heard.failure.class() != test.class {
				t.Errorf("failure = %+v; want %q", heard.failure, test.class)
			}
		})
	}
}

// TestATurnIsOverWithItsLastStep, which calls no tool: if it does, another step follows whatever its reason.
func TestATurnIsOverWithItsLastStep(t *testing.T) {
	t.Parallel()
	const uses = `{"type":"tool_use","part":{"tool":"read","state":{"input":{}}}}` + "\n"
	for output, over := range map[string]bool{
		begins + says: false, begins + says + ends: true, begins + uses + calls: false, begins + uses + ends: false,
		begins + uses + ends + begins: false, begins + uses + ends + begins + says + ends: true,
	} {
		if heard, err := replay(t, output); err != nil || heard.over() != over {
			t.Errorf("over: %t, %v after\n%s", heard.over(), err, output)
		}
	}
}

func TestUsageOfAllSteps(t *testing.T) {
	t.Parallel()
	heard, err := replay(t, begins+calls+begins+ends)
	if want := (verdict.Usage{Input: 2, CacheRead: 4, CacheWrite: 5, Output: 5}); err != nil || heard.usage != want || heard.cost != 0.5 ||
		heard.steps != 2 {
		t.Errorf("%+v for $%g in %d steps, %v; want %+v", heard.usage, heard.cost, heard.steps, err, want)
	}
}

// FuzzTurn holds that no output makes a turn panic or pass for complete without
// the word that says so.
func FuzzTurn(f *testing.F) {
	f.Add(begins + says + ends)
	f.Add(`{"type":"step_finish","part":null}` + "\n" + `{"type":"error","error":null}`)
	f.Add("\xff\n{\"type\":7,\"part\":{\"tokens\":{\"cache\":[]}}}")
	f.Fuzz(func(t *testing.T, output string) {
		heard, err := replay(t, output)
		// The word may be spelt with escapes, but it has to be there.
		if err == nil && heard.reason == "stop" && !strings.Contains(output, "stop") && !strings.Contains(output, `\u00`) {
			t.Errorf("passed for complete with text %q", heard.Text())
		}
	})
}

func TestACallThatFailedIsReported(t *testing.T) {
	t.Parallel()
	var seen []string
	heard := &turn{Transcript: session.NewTranscript(func(p engine.Progress) { seen = append(seen, string(p.Kind)+" "+p.Text) },
		strings.TrimSpace)}
	for status, file := range map[string]string{"error": "a.go", "completed": "b.go"} {
		if err := heard.line(fmt.Appendf(nil, `{"type":"tool_use","part":{"tool":"read","state":{"status":%q,"input":{"filePath":%q}}}}`,
			status, file)); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(seen)
	if want := []string{"failed read a.go", "tool read a.go", "tool read b.go"}; !slices.Equal(seen, want) {
		t.Errorf("%q", seen)
	}
}
