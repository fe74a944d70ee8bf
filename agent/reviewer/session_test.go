package reviewer_test

import (
	"fmt"
	"strings"
	"testing"

	"touchstone/agent/e2e/loopback"
	"touchstone/agent/reviewer"
	"touchstone/verdict"
	"touchstone/worktree"
)

// TestWhatAnAnswerLacksIsAskedForOnce checks that missing parts of an answer are requested once, in the same
// session.
func TestWhatAnAnswerLacksIsAskedForOnce(t *testing.T) {
	t.Parallel()
	lacking := func(text string) string {
		return strings.Replace(text, `{"dimension":"Impact","examined":"all of it"}`, `{"dimension":"Impact","examined":""}`, 1)
	}
	idle := func(text string) string {
		return strings.Replace(text, `,{"dimension":"Recurrence","examined":"all of it"}`, "", 1)
	}
	unmarked := func(text string) string { return strings.ReplaceAll(text, "VERDICT", "VERDIKT") }
	for name, tc := range map[string]struct {
		first, second func(string) string // what becomes of the answer
		found         bool                // the first answer has a finding that the second forgets
		want          verdict.Verdict
		asked         int
	}{
		"whole at once":             {first: same, want: verdict.Approve, asked: 1},
		"no dimension without rows": {first: idle, want: verdict.Approve, asked: 1},
		"a dimension, then whole":   {first: lacking, second: same, want: verdict.Approve, asked: 2},
		"no block, then whole":      {first: func(string) string { return "I approve." }, second: same, want: verdict.Approve, asked: 2},
		"a dimension, and again":    {first: lacking, second: lacking, want: verdict.RequestChanges, asked: 2},
		"a finding, then none":      {first: lacking, second: same, found: true, want: verdict.RequestChanges, asked: 2},
		"no marker, then one":       {first: unmarked, second: same, want: verdict.Approve, asked: 2},
		"no marker, twice":          {first: unmarked, second: unmarked, want: verdict.RequestChanges, asked: 2},
		"no block, and again none": {first: func(string) string { return "Hm." }, second: func(string) string { return "Hm." },
			want: verdict.RequestChanges, asked: 2},
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
				if strings.HasPrefix(name, "no block") && strings.Contains(r.Prompt, "not examined") {
					t.Errorf("the second turn asks for files, where only the form was wrong:\n%s", r.Prompt)
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

// TestADroppedFindingCanBeMended checks that the session is told about a quote that does not exist.
func TestADroppedFindingCanBeMended(t *testing.T) {
	t.Parallel()
	g, ref := opened(t, plain, map[string]string{"code.txt": "unsafe_call()\n"})
	asked := 0
	r := newReviewer(t, g, func(r loopback.Asked) (string, error) {
		if asked++; asked == 1 {
			return answering(at(1, "another_call()"))(r)
		}
		if want := "dropped, because it quotes code that is not there: security/S3 at code.txt"; !strings.Contains(r.Prompt, want) {
			t.Errorf("the prompt lacks %q:\n%s", want, r.Prompt)
		}
		r.Prompt = "- code.txt (added +1 -0)\n" + r.Prompt
		return answering(at(1, "unsafe_call()"))(r)
	})
	out, err := r.Review(t.Context(), g.Read(loopback.Judge, ref), reviewer.Options{})
	if err != nil || asked != 2 || len(out.Record.Ledger) != 1 || !out.Record.Settled {
		t.Fatalf("%d turns, %+v, %v; doubts: %q", asked, out.Record.Ledger, err, out.Judgement.Doubts)
	}
	if n := out.Record.NotListed; len(n) != 1 || n[0].Into != out.Record.Ledger[0].ID || !strings.Contains(out.Review.Body, "1 merged") {
		t.Errorf("what became of the dropped one is %+v", n)
	}
}

// TestADroppedFindingDoesNotDisappear checks that a second answer accounts for it: silence about one that would block
// is no approval, and with a candidate in its place it is still counted.
func TestADroppedFindingDoesNotDisappear(t *testing.T) {
	t.Parallel()
	refuting := func(text string) string {
		return strings.Replace(text, `"findings":`, `"candidates":[{"rule":"security/S3","path":"code.txt","line":1,"claim":"It is unsafe",`+
			`"reason":"it only looks so","quote":"unsafe_call()"}],"findings":`, 1)
	}
	for name, tc := range map[string]struct {
		second func(string) string
		want   verdict.Verdict
		says   string
	}{
		"silence":     {same, verdict.RequestChanges, "first answer names a possible defect under security/S3"},
		"a candidate": {refuting, verdict.Approve, "it quotes code that is not there; the final answer does not report it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, ref := opened(t, plain, map[string]string{"code.txt": "unsafe_call()\n"})
			asked := 0
			r := newReviewer(t, g, func(r loopback.Asked) (string, error) {
				if asked++; asked == 1 {
					return answering(at(1, "another_call()"))(r)
				}
				r.Prompt = "- code.txt (added +1 -0)\n" + r.Prompt
				text, err := answering()(r)
				return tc.second(text), err
			})
			out, err := r.Review(t.Context(), g.Read(loopback.Judge, ref), reviewer.Options{})
			if err != nil || asked != 2 || out.Record.Verdict != tc.want || !strings.Contains(out.Review.Body, tc.says) {
				t.Fatalf("%d turns, %s, %v; doubts: %q\n%s", asked, out.Record.Verdict, err, out.Judgement.Doubts, out.Review.Body)
			}
			if out.Record.Dropped != 1 || len(out.Record.NotListed) != 1 {
				t.Errorf("%d dropped, %+v", out.Record.Dropped, out.Record.NotListed)
			}
		})
	}
}

// TestPartsAreJudgedTogether: a change too large for one turn is approved if every
// part of it is.
func TestPartsAreJudgedTogether(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range 4 {
		files[fmt.Sprintf("store/file%d.txt", i)] = strings.Repeat("a line of ordinary length\n", 4_000)
	}
	g, ref := opened(t, plain, files)
	pr := g.Read(loopback.Judge, ref)
	for name, tc := range map[string]struct {
		part int // whose answer is spoilt, from 1; 0 for none
		say  func(string) string
		want verdict.Verdict
		more int // turns beyond one for each part
	}{
		"all of it": {want: verdict.Approve},
		"all but the last part's files": {part: 2, say: func(s string) string { return strings.ReplaceAll(s, "store/file", "store/none") },
			want: verdict.RequestChanges, more: 1},
		"a part without a verdict": {part: 1, say: func(s string) string { return strings.ReplaceAll(s, "VERDICT", "VERDIKT") },
			want: verdict.RequestChanges, more: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			part, turns := 0, 0
			r := newReviewer(t, g, func(r loopback.Asked) (string, error) {
				turns++
				if strings.Contains(r.Prompt, "# Changed files") {
					part++
				}
				text, err := answering()(r)
				if part == tc.part {
					text = tc.say(text)
				}
				return text, err
			})
			r.Worktrees = &worktree.Store{Root: t.TempDir()} // each of these reviews at the same time
			out, err := r.Review(t.Context(), pr, reviewer.Options{DryRun: true})
			if err != nil || out.Record.Verdict != tc.want || part < 2 || turns != part+tc.more {
				t.Fatalf("%s after %d parts and %d turns, %v; doubts: %q", out.Record.Verdict, part, turns, err, out.Judgement.Doubts)
			}
			whole := fmt.Sprintf("in %d parts", part)
			if !strings.Contains(out.Review.Body, whole) || tc.want == verdict.Approve && out.Record.Coverage.Examined != 4 {
				t.Errorf("it covers %+v and says:\n%s", out.Record.Coverage, out.Review.Body)
			}
		})
	}
}
