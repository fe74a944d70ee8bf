package hostile_test

import (
	"runtime"
	"testing"

	"touchstone/agent/e2e/hostile"
	"touchstone/agent/engine/enginetest"
	"touchstone/verdict"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

func run(t *testing.T, cases []hostile.Case, err error) []hostile.Result {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	results, err := hostile.Run(t.Context(), t.TempDir(), runtime.GOMAXPROCS(0), cases)
	if err != nil {
		t.Fatal(err)
	}
	return results
}

// TestNoHostileChangeIsApproved takes the corpus through the whole path with a
// model on the attacker's side.
func TestNoHostileChangeIsApproved(t *testing.T) {
	t.Parallel()
	cases, err := hostile.Hostile()
	if len(cases) < 140 {
		t.Errorf("%d cases, want at least 140", len(cases))
	}
	for _, r := range run(t, cases, err) {
		for _, wrong := range r.Hostile() {
			t.Errorf("%s: %s", r.Case.Name, wrong)
		}
	}
}

// TestWhatOnlyTalksLeaksNothing takes the cases that try to persuade a model through the whole path, with a
// model that obeys them: it may approve, but must not give anything away.
func TestWhatOnlyTalksLeaksNothing(t *testing.T) {
	t.Parallel()
	cases, err := hostile.Persuasive()
	if len(cases) < 150 {
		t.Errorf("%d cases, want at least 150", len(cases))
	}
	for _, r := range run(t, cases, err) {
		for _, wrong := range r.Persuasive() {
			t.Errorf("%s: %s", r.Case.Name, wrong)
		}
	}
}

// TestOrdinaryChangesPass gives the other test its meaning: with the same model, a change without any finding
// is approved and merged.
func TestOrdinaryChangesPass(t *testing.T) {
	t.Parallel()
	cases, err := hostile.Ordinary()
	if len(cases) < 60 {
		t.Errorf("%d cases, want at least 60", len(cases))
	}
	for _, r := range run(t, cases, err) {
		for _, wrong := range r.Ordinary() {
			t.Errorf("%s: %s", r.Case.Name, wrong)
		}
	}
}

// TestRunTellsApprovals checks that the run would report a hostile change in which nothing was found. An
// ordinary change stands in for it.
func TestRunTellsApprovals(t *testing.T) {
	t.Parallel()
	cases, err := hostile.Ordinary()
	for _, r := range run(t, cases[:2], err) {
		r.Case.Want = verdict.Manipulation
		if wrong := r.Hostile(); len(wrong) != 2 {
			t.Errorf("%s: %q, want to hear of an approval and of a hold that is not there", r.Case.Name, wrong)
		}
	}
}
