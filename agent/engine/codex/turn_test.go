package codex

import (
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

const answered = `{"type":"thread.started","thread_id":"t1"}
{"type":"item.completed","item":{"type":"agent_message","text":"Hello."}}
`

func TestATurnsLastEventSaysHowItEnded(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, output      string
		completed, failed bool
		failure           string
	}{
		{"complete", answered + `{"type":"turn.completed","usage":{"input_tokens":10,"cached_input_tokens":4,"output_tokens":2}}`, true, false,
			""},
		{"failed", answered + `{"type":"turn.failed","error":{"message":"no"}}`, false, true, "no"},
		{"failed without a word", answered + `{"type":"error","message":"said before"}` + "\n" + `{"type":"turn.failed"}`, false, true,
			"said before"},
		{"failed after all", answered + `{"type":"turn.completed"}` + "\n" + `{"type":"turn.failed"}`, false, true, ""},
		{"an error that was got over", `{"type":"error","message":"retrying"}` + "\n" + answered + `{"type":"turn.completed"}`, true, false,
			"retrying"},
		{"no end", answered, false, false, ""},
		{"fields of other types", answered + `{"type":"turn.completed","usage":[1]}`, true, false, ""},
		{"noise", "a warning\n{\"half\n[]\n" + answered, false, false, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			heard, err := replay(t, test.output)
			if err != nil {
				t.Fatal(err)
			}
			if heard.completed != test.completed || heard.failed != test.failed || heard.failure != test.failure {
				t.Errorf("completed %v, failed %v: %q", heard.completed, heard.failed, heard.failure)
			}
			if heard.Text() != "Hello." || heard.id != "t1" || !heard.answered {
				t.Errorf("text = %q in %q", heard.Text(), heard.id)
			}
		})
	}
}

func TestUsageIsOfTheTurn(t *testing.T) {
	t.Parallel()
	heard, err := replay(t, `{"type":"turn.completed","usage":{"input_tokens":10,"cached_input_tokens":4,"cache_write_input_tokens":1,`+
		`"output_tokens":2}}`)
	if want := (verdict.Usage{Input: 5, CacheRead: 4, CacheWrite: 1, Output: 2}); err != nil || heard.usage != want {
		t.Errorf("usage = %+v, %v; want %+v", heard.usage, err, want)
	}
	c := &conversation{}
	first, second := c.account(verdict.Usage{Input: 5, Output: 2}), c.account(verdict.Usage{Input: 7, CacheRead: 3, Output: 3})
	if first != (verdict.Usage{Input: 5, Output: 2}) || second != (verdict.Usage{Input: 2, CacheRead: 3, Output: 1}) {
		t.Errorf("turns used %+v and %+v", first, second)
	}
	// A turn that was stopped says nothing of its usage.
	if third := c.account(verdict.Usage{}); third != (verdict.Usage{}) {
		t.Errorf("a turn that was stopped used %+v", third)
	}
}

// FuzzTurn holds that no output makes a turn panic or pass for complete without
// the line that says so.
func FuzzTurn(f *testing.F) {
	f.Add(answered + `{"type":"turn.completed","usage":{"input_tokens":1e30}}`)
	f.Add(`{"type":"item.completed","item":null}` + "\n" + `{"type":"turn.failed","error":"text"}`)
	f.Add("\xff\n{\"type\":7}")
	f.Fuzz(func(t *testing.T, output string) {
		heard, err := replay(t, output)
		// The word may be spelt with escapes, but it has to be there.
		if err == nil && heard.completed && !strings.Contains(output, "turn.completed") && !strings.Contains(output, `\u00`) {
			t.Errorf("passed for complete with text %q", heard.Text())
		}
	})
}
