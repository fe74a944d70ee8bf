package reviewer_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"touchstone/agent/e2e/loopback"
	"touchstone/agent/e2e/reading"
	"touchstone/agent/engine"
	"touchstone/agent/engine/session"
	"touchstone/agent/engine/usage"
	"touchstone/agent/reviewer"
	"touchstone/verdict"
)

// The session that reviews and the one that reads its text share what a review may cost. Here both keep to their
// bounds as the engines do, each request costs $0.125, and the session never ends its second turn.
func TestAReviewAndItsReaderShareOneBudget(t *testing.T) {
	t.Parallel()
	const requestCost, readerCost, readerTime = 0.125, 0.5, 4 * time.Minute
	prices := engine.Prices{"one": {Output: requestCost * 1e6}}
	g, ref := opened(t, plain, map[string]string{"code.go": "package code\n\nfunc load() {\n\tunsafe()\n\treturn\n}\n"})
	for _, allowed := range []verdict.Allowance{{USD: 1, Time: 10 * time.Minute}, {USD: 1, Time: 10 * time.Hour}} {
		var account *usage.Account
		var base *session.Gated
		var bound, left time.Duration
		r := newReviewer(t, g, nil)
		r.Engine = reading.Model(func(_ context.Context, req engine.Request, prompt string) (engine.Result, error) {
			if reading.Asked(prompt) {
				text, err := names(excused)(loopback.Asked{Request: req, Prompt: prompt})
				return engine.Result{Text: text, CostUSD: readerCost, Duration: readerTime}, err
			}
			if account == nil {
				account, bound = usage.Open(req, prices), req.Timeout
				var err error
				if base, err = session.OpenGated(t.Context(), session.Program{TempDir: t.TempDir()}, session.Kind{}, req, nil); err != nil {
					t.Fatal(err)
				}
			}
			before := account.Sum()
			paid := func() float64 { return account.Sum().Since(before).CostUSD }
			left = base.Left()
			for before.Answers > 0 || paid() < 2*requestCost {
				if over := account.Exhausted(); over != nil {
					return engine.Result{CostUSD: paid()}, over
				}
				account.Charge("one", verdict.Usage{Output: 1}, 1, usage.Sum{})
			}
			reading.Patches(req, prompt)
			answer := reading.Review(prompt, "Read.")
			return engine.Result{Text: "## [Graph]\n" + excused + "\n\n" + reading.Answer(prompt, answer, verdict.Approve), CostUSD: paid()}, nil
		})
		_, err := r.Review(t.Context(), g.Read(loopback.Judge, ref), reviewer.Options{DryRun: true, Allowance: allowed})
		if failure := new(engine.Error); !errors.As(err, &failure) || failure.Class != engine.Budget {
			t.Fatalf("the review ended with %v", err)
		}
		if all := account.Sum().CostUSD + readerCost; all != allowed.USD {
			t.Errorf("both cost $%v of $%v", all, allowed.USD)
		}
		if want := min(bound, allowed.Time-readerTime); left != want {
			t.Errorf("of %s, %s are left to the second turn, want %s", allowed.Time, left, want)
		}
	}
}
