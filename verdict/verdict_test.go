package verdict

import "testing"

func TestAJudgementIsSummedUpInWords(t *testing.T) {
	finding := func(s Severity) Finding { return Finding{Severity: s} }
	for want, j := range map[string]Judgement{
		"nothing found": {Verdict: Approve},
		"1 nit":         {Verdict: Approve, Answer: Answer{Findings: []Finding{finding(Nit)}}},
		"1 critical, 2 minor, 1 for a person to decide": {Verdict: RequestChanges, Holds: make([]Hold, 1),
			Answer: Answer{Findings: []Finding{finding(Minor), finding(Critical), finding(Minor)}}},
		"no finding, but the review is not complete": {Verdict: RequestChanges, Doubts: []string{"It is not."}},
	} {
		if got := j.Sum(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestJoinSaysNothingTwice joins parts of one session that lack the same and have the same summary.
func TestJoinSaysNothingTwice(t *testing.T) {
	part := Judgement{Doubts: []string{"It lacks a dimension."}, Answer: Answer{Summary: "No findings."}}
	other := Judgement{Doubts: []string{"It lacks a file."}, Answer: Answer{Summary: "The parser is right."}}
	got := Join(part, part, other, part)
	if len(got.Doubts) != 2 || got.Answer.Summary != "No findings.\n\nThe parser is right." {
		t.Errorf("doubts %q, summary %q", got.Doubts, got.Answer.Summary)
	}
}
