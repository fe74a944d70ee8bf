package worker

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"touchstone/agent/config"
	"touchstone/agent/e2e/loopback"
	"touchstone/agent/engine"
	"touchstone/agent/forge"
	"touchstone/agent/journal"
	"touchstone/agent/telemetry"
	"touchstone/verdict"
	"touchstone/verdict/decide"
)

var ref = forge.Ref{Repo: forge.Repo{Owner: "acme", Name: "app"}, Number: 1}

// remembering is an agent with a journal of its own.
func remembering(t *testing.T, cfg config.Config) *Agent {
	t.Helper()
	j, err := journal.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	return &Agent{Role: decide.Author, Config: func() config.Config { return cfg }, Journal: j}
}

// failed has an act that cost come to nothing.
func failed(t *testing.T, a *Agent, pr forge.PullRequest, cost float64) {
	t.Helper()
	id, err := a.Journal.Begin(journal.Entry{Ref: pr.Ref.String(), SHA: pr.Head.SHA, Act: "fix"})
	if err == nil {
		err = a.Journal.End(id, journal.Outcome{Counts: true, Account: journal.Account{Turns: 1, CostUSD: cost}})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestAnOrderForgivesWhatWasBeforeIt: an order to go on forgives a pull request its attempts, as
// many as there were before it by GitHub's clock, and lifts no bound of the machine's.
func TestAnOrderForgivesWhatWasBeforeIt(t *testing.T) {
	for name, ahead := range map[string]time.Duration{"clocks agree": 0, "slow": -10 * time.Minute, "fast": 10 * time.Minute,
		"years slow": -30_000 * time.Hour, "years fast": 30_000 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := remembering(t, config.Default())
				a.Now = func() time.Time { return time.Now().Add(-ahead) }
				a.Journal.Clock = a.Now
				pr := forge.PullRequest{Ref: ref, Open: true}
				pr.Head.SHA = "abc"
				failed(t, a, pr, 2)
				time.Sleep(time.Minute)
				ordered := a.Now()
				time.Sleep(time.Minute)
				failed(t, a, pr, 3)
				h := a.past(pr, ordered)
				if h.Attempts != 1 || h.Wasted.USD != 3 || h.RetryIn == 0 {
					t.Errorf("after the order: %d attempts, $%v, %v to wait; want 1, $3 and some", h.Attempts, h.Wasted.USD, h.RetryIn)
				}
				if h.Today != 5 {
					t.Errorf("$%v of today's budget are spent, want all $5", h.Today)
				}
			})
		})
	}
}

// TestAProviderDelaysAPullRequestForAnHourAtMost, even if its quota is used up for the day: another model may do.
func TestAProviderDelaysAPullRequestForAnHourAtMost(t *testing.T) {
	t.Parallel()
	for asked, want := range map[time.Duration]time.Duration{40 * time.Minute: 40 * time.Minute, 24 * time.Hour: time.Hour} {
		a := remembering(t, config.Default())
		pr := forge.PullRequest{Ref: ref, Open: true}
		pr.Head.SHA = "abc"
		id, err := a.Journal.Begin(journal.Entry{Ref: pr.Ref.String(), SHA: pr.Head.SHA, Act: "fix"})
		if err == nil {
			err = a.Journal.End(id, journal.Outcome{Counts: true, RetryAfter: asked})
		}
		if err != nil {
			t.Fatal(err)
		}
		if h := a.past(pr, time.Time{}); h.RetryIn > want || h.RetryIn < want-time.Minute {
			t.Errorf("asked to wait %s, it waits %s", asked, h.RetryIn)
		}
	}
}

// spender is an engine whose only turn has cost something and never ends by itself.
type spender struct {
	loopback.Model
	request engine.Request
}

func (s spender) Open(_ context.Context, request engine.Request) (engine.Session, error) {
	return spender{request: request}, nil
}

func (s spender) Ask(ctx context.Context, _ string) (engine.Result, error) {
	s.request.Progress(engine.Progress{Kind: engine.ProgressHeartbeat, Used: verdict.Usage{Input: 7}, CostUSD: 1.25})
	<-ctx.Done()
	return engine.Result{CostUSD: 1.5}, ctx.Err()
}

func (spender) Close() error { return nil }

// TestASessionUnderWayIsBooked checks that a running session is in the accounts, since its machine may die
// before it ends.
func TestASessionUnderWayIsBooked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := remembering(t, config.Default())
		session, err := telemetry.Engine{Engine: spender{}}.Open(t.Context(), engine.Request{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ctx, act := telemetry.Begin(ctx, "fix", "acme/app#1", "abc")
		id, err := a.Journal.Begin(journal.Entry{Ref: "acme/app#1", SHA: "abc", Act: "fix", Paid: true})
		if err != nil {
			t.Fatal(err)
		}
		booked := a.book(ctx, id, act)
		var asking sync.WaitGroup
		asking.Go(func() {
			if _, err := session.Ask(ctx, "Go."); !errors.Is(err, context.Canceled) {
				t.Errorf("the turn ended with %v", err)
			}
		})
		time.Sleep(booking)
		synctest.Wait()
		if going := entries(a, "fix")[0].Outcome.Account; going.CostUSD != 1.25 || going.Usage.Input != 7 || going.Turns != 1 {
			t.Errorf("after %s it has spent %+v", booking, going)
		}
		cancel()
		asking.Wait()
		booked()
		if all := act.Account(); all.CostUSD != 1.5 || all.Turns != 1 {
			t.Errorf("in the end it has spent %+v", all)
		}
	})
}

// dear is an engine whose turns cost three dollars each and come to nothing.
type dear struct{ loopback.Model }

func (dear) Open(context.Context, engine.Request) (engine.Session, error) { return dear{}, nil }

func (dear) Ask(context.Context, string) (engine.Result, error) {
	return engine.Result{CostUSD: 3, Started: time.Now()}, &engine.Error{Class: engine.Crash}
}

func (dear) Close() error { return nil }

// TestWhatIsDoneByHandCountsIntoTheDay of the agent that has the same role on the machine.
func TestWhatIsDoneByHandCountsIntoTheDay(t *testing.T) {
	t.Parallel()
	g, pr := objected(t)
	a := authorOf(t, g, unneeded(t))
	configure(a, func(c *config.Config) { c.Budgets.Day = 3 })
	dir := filepath.Join(t.TempDir(), "author")
	log, err := journal.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	a.Journal = log
	if action := decided(t, g, a, pr); action.Kind != decide.Fix {
		t.Fatalf("before it comes to %+v", action)
	}
	byHand := authorOf(t, g, unneeded(t))
	byHand.Journal, byHand.Author.Engine = nil, telemetry.Engine{Engine: dear{}}
	byHand.Charge = func(usd float64) error { return journal.Charge(dir, time.Now(), usd) }
	if _, err := byHand.Act(t.Context(), pr, decide.Action{Kind: decide.Fix, SHA: pr.Head.SHA}); err == nil {
		t.Fatal("it did not crash")
	}
	if action := decided(t, g, a, pr); action.Kind != decide.Escalate || !action.Tomorrow ||
		!strings.Contains(action.Reason, "$3.00 of the $3.00") {
		t.Errorf("after it comes to %+v", action)
	}
}

// TestSessionsAtOnceKeepToTheDay checks that parallel sessions together are promised no more than the rest of
// the day's budget.
func TestSessionsAtOnceKeepToTheDay(t *testing.T) {
	t.Parallel()
	g, pr := objected(t)
	var a *Agent
	asked := 0
	a = authorOf(t, g, func(r loopback.Asked) (string, error) {
		asked++
		if r.Budget != 2 {
			t.Errorf("a session may cost $%v", r.Budget)
		}
		if other := decided(t, g, a, pr); other.Kind != decide.Fix || other.Allowance.USD != 2 {
			t.Errorf("beside it, it comes to %+v", other)
		}
		greedy := decide.Action{Kind: decide.Fix, SHA: pr.Head.SHA, Allowance: verdict.Allowance{USD: 2.5}}
		if _, err := a.Act(t.Context(), pr, greedy); !Overtaken(err) {
			t.Errorf("more than is left is promised: %v", err)
		}
		return "", errors.New("no answer")
	})
	configure(a, func(c *config.Config) {
		c.Budgets.Day, c.Budgets.Round, c.Rounds.Backoff = 4, 2, config.Duration(time.Nanosecond)
	})
	if _, err := a.Act(t.Context(), pr, decided(t, g, a, pr)); err == nil || asked == 0 {
		t.Fatalf("after %d questions: %v", asked, err)
	}
	if after := decided(t, g, a, pr); after.Kind != decide.Fix || after.Allowance.USD != 2 {
		t.Errorf("once it is over, it comes to %+v", after)
	}
}
