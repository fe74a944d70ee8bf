package reviewer_test

import (
	"strings"
	"testing"

	"touchstone/agent/e2e/loopback"
	"touchstone/agent/reviewer"
	"touchstone/verdict"
)

// TestWhatAnAnswerLacksIsAskedForOnce: in the same session, and not for ever.
func TestWhatAnAnswerLacksIsAskedForOnce(t *testing.T) {
	t.Parallel()
	lacking := func(text string) string {
		return strings.Replace(text, `{"dimension":"Recurrence","examined":"all of it"}`, `{"dimension":"Recurrence","examined":""}`, 1)
	}
	for name, tc := range map[string]struct {
		first, second func(string) string // what becomes of the answer
		found         bool                // the first answer has a finding that the second forgets
		want          verdict.Verdict
		asked         int
	}{
		"whole at once":            {first: same, want: verdict.Approve, asked: 1},
		"a dimension, then whole":  {first: lacking, second: same, want: verdict.Approve, asked: 2},
		"no block, then whole":     {first: func(string) string { return "I approve." }, second: same, want: verdict.Approve, asked: 2},
		"a dimension, and again":   {first: lacking, second: lacking, want: verdict.RequestChanges, asked: 2},
		"a finding, then none":     {first: lacking, second: same, found: true, want: verdict.RequestChanges, asked: 2},
		"no block, and again none": {first: func(string) string { return "Hm." }, second: func(string) string { return "Hm." }, want: verdict.RequestChanges, asked: 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, ref := opened(t, plain, map[string]string{"code.txt": "unsafe()\n"})
			asked := 0
			r := newReviewer(t, g, func(r loopback.Asked) (string, error) {
				asked++
				if asked == 1 {
					answer := answering()
					if tc.found {
						answer = answering(finding(1))
					}
					text, err := answer(r)
					return tc.first(text), err
				}
				if !strings.Contains(r.Prompt, "# Once more") || strings.Contains(r.Prompt, "# Guidelines") {
					t.Errorf("the second turn asks:\n%s", r.Prompt)
				}
				r.Prompt = "- code.txt (added +1 -0)\n" + r.Prompt
				text, err := answering()(r)
				return tc.second(text), err
			})
			out, err := r.Review(t.Context(), g.Read(loopback.Judge, ref), reviewer.Options{})
			if err != nil || out.Record.Verdict != tc.want || asked != tc.asked {
				t.Errorf("%s after %d turns, %v; doubts: %q", out.Record.Verdict, asked, err, out.Judgement.Doubts)
			}
			if tc.found && len(out.Record.Ledger.Outstanding()) != 1 {
				t.Errorf("the ledger is %+v", out.Record.Ledger)
			}
		})
	}
}

func same(text string) string { return text }
