package reviewer_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"touchstone/agent/e2e/loopback"
	"touchstone/agent/reviewer"
	"touchstone/verdict"
)

// A rule that three other pull requests broke is told to the owners of the guidelines when it
// trips again, and to nobody before; its author owes nothing for it.
func TestARuleThatTripsOftenIsToldToTheOwnersOfTheGuidelines(t *testing.T) {
	t.Parallel()
	g := loopback.New(t, plain)
	again, judged := finding(1), finding(1)
	again.Path = "again.go"
	judged.Path, judged.Rule = "again.go", "ai-antipattern/X6" // no machine can check it
	review := func(branch string) reviewer.Outcome {
		g.Commit(branch, "Repair it", map[string]string{"again.go": "unsafe()\n"})
		r := newReviewer(t, g, answering(again, judged))
		out, err := r.Review(context.Background(), g.Read(loopback.Judge, g.Open(branch)), reviewer.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	const told = "For the owners of the guidelines"
	for i := range 3 {
		if out := review(fmt.Sprintf("fix/number-%d", i)); strings.Contains(out.Review.Body, told) {
			t.Errorf("told after %d others:\n%s", i, out.Review.Body)
		}
	}
	out := review("fix/number-4")
	if !strings.Contains(out.Review.Body, told) || !strings.Contains(out.Review.Body, again.Rule+"`, in 3 other pull requests") {
		t.Errorf("not told after 3 others:\n%s", out.Review.Body)
	}
	if strings.Contains(out.Review.Body, judged.Rule+"`, in ") {
		t.Errorf("told of a rule that no machine can check:\n%s", out.Review.Body)
	}
	if slices.ContainsFunc(out.Record.Ledger, func(e verdict.Entry) bool { return e.Rule == "recurrence/R5" }) {
		t.Errorf("a finding is made of it: %+v", out.Record.Ledger)
	}
}
