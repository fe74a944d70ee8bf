package worker

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"touchstone/agent/author"
	"touchstone/agent/e2e/loopback"
	"touchstone/agent/engine"
	"touchstone/agent/engine/enginetest"
	"touchstone/agent/engine/fallback"
	"touchstone/agent/journal"
	"touchstone/agent/telemetry"
	"touchstone/verdict/decide"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// What lies with the machine, the account or the provider is no attempt, unless a model was
// paid for.
func TestWhatCountsAsAnAttempt(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		err          error
		unpaid, paid bool
	}{
		{engine.Errorf(engine.Missing, "no claude"), false, true},
		{engine.Errorf(engine.Invalid, "no such engine"), false, true},
		{engine.Errorf(engine.Auth, "401"), false, true},
		{engine.Errorf(engine.Billing, "402"), false, true},
		{engine.Errorf(engine.UnknownModel, "404"), false, true},
		{engine.Errorf(engine.RateLimited, "429"), false, true},
		{engine.Errorf(engine.Overloaded, "529"), false, true},
		{engine.Errorf(engine.Server, "500"), false, true},
		{engine.Errorf(engine.Network, "reset"), false, true},
		{&engine.Error{Class: engine.Overloaded, Err: fallback.ErrResting}, false, false},
		{syscall.ENOSPC, false, true},
		{syscall.EROFS, false, true},
		{journal.ErrUnwritten, false, true},
		{engine.Errorf(engine.ContextOverflow, "too long"), true, true},
		{engine.Errorf(engine.PromptTooLarge, "10 MiB"), true, true},
		{engine.Errorf(engine.Refusal, "no"), true, true},
		{engine.Errorf(engine.BadRequest, "400"), true, true},
		{engine.Errorf(engine.BadOutput, "{"), true, true},
		{engine.Errorf(engine.MaxTurns, "300"), true, true},
		{engine.Errorf(engine.Budget, "$2"), true, true},
		{engine.Errorf(engine.Idle, "1m"), true, true},
		{engine.Errorf(engine.Timeout, "25m"), true, true},
		{engine.Errorf(engine.Crash, "killed"), true, true},
		{author.ErrNoVerify, true, true},
		{author.ErrNothingChanged, true, true},
		{ErrMovedOn, false, false},
		{nil, false, false},
	} {
		err := tc.err
		if err != nil {
			err = fmt.Errorf("review: %w", err)
		}
		if unpaid, paid := CountsAsAttempt(err, Step{}), CountsAsAttempt(err, Step{Paid: true}); unpaid != tc.unpaid || paid != tc.paid {
			t.Errorf("%v counts without a cost: %v, with one: %v", tc.err, unpaid, paid)
		}
	}
}

// What the same prompt would end in again waits for a person at once.
func TestATaskThatIsTooLargeIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	for class, permanent := range map[engine.Class]bool{engine.PromptTooLarge: true, engine.ContextOverflow: false} {
		g, pr := objected(t)
		a := authorOf(t, g, nil)
		a.Author.Engine = telemetry.Engine{Engine: loopback.Model(func(loopback.Asked) (string, error) {
			return "", engine.Errorf(class, "it is too much")
		})}
		if _, err := a.Act(t.Context(), pr, decide.Action{Kind: decide.Fix, SHA: pr.Head.SHA}); err == nil {
			t.Fatal("it ends well")
		}
		if n, last := a.Journal.Attempts(pr.Ref.String(), pr.Head.SHA, time.Time{}); n != 1 || last.Outcome.Permanent != permanent {
			t.Errorf("%s: %d attempts, the last permanent: %v", class, n, last.Outcome.Permanent)
		}
	}
}

// A session that has worked counts, whatever it ended in and whatever its figures say; one
// that no model took part in takes nothing of the pull request's time either.
func TestASessionThatWorkedCounts(t *testing.T) {
	t.Parallel()
	for _, worked := range []bool{true, false} {
		g, pr := objected(t)
		a := authorOf(t, g, nil)
		a.Author.Engine = telemetry.Engine{Engine: loopback.Model(func(r loopback.Asked) (string, error) {
			if worked {
				r.Progress(engine.Progress{Kind: engine.ProgressText, Text: "Well"})
			}
			return "", engine.Errorf(engine.Overloaded, "it has no capacity")
		})}
		if _, err := a.Act(t.Context(), pr, decide.Action{Kind: decide.Fix, SHA: pr.Head.SHA}); err == nil {
			t.Fatal("it ends well")
		}
		if n, _ := a.Journal.Attempts(pr.Ref.String(), pr.Head.SHA, time.Time{}); (n == 1) != worked {
			t.Errorf("the model worked: %v; attempts: %d", worked, n)
		}
	}
	g, pr := objected(t)
	a := authorOf(t, g, unneeded(t))
	spend(t, a, pr, journal.Outcome{Detail: "overloaded", Account: journal.Account{Turns: 1, Duration: time.Hour}})
	if h := a.past(pr, time.Time{}); h.Wasted.Time != 0 {
		t.Errorf("an outage took %s of its time", h.Wasted.Time)
	}
}
