package daemon

import (
	"testing"
	"testing/synctest"
	"time"

	"touchstone/agent/config"
	"touchstone/agent/forge"
	"touchstone/agent/journal"
	"touchstone/verdict"
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
	return &Agent{Role: verdict.Author, Config: func() config.Config { return cfg }, Journal: j}
}

// failed has an act that cost come to nothing.
func failed(t *testing.T, a *Agent, pr forge.PullRequest, cost float64) {
	t.Helper()
	id, err := a.Journal.Begin(journal.Entry{Ref: pr.Ref.String(), SHA: pr.Head.SHA, Act: "fix"})
	if err == nil {
		err = a.Journal.End(id, journal.Outcome{Counts: true, Spent: journal.Spent{Runs: 1, CostUSD: cost}})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestAnOrderForgivesWhatWasBeforeIt: an order to go on forgives a pull request its attempts, as
// many as there were before it by GitHub's clock, and lifts no bound of the machine's.
func TestAnOrderForgivesWhatWasBeforeIt(t *testing.T) {
	for name, ahead := range map[string]time.Duration{"clocks agree": 0, "slow": -10 * time.Minute, "fast": 10 * time.Minute} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := remembering(t, config.Default())
				pr := forge.PullRequest{Ref: ref, Open: true, ClockAhead: ahead}
				pr.Head.SHA = "abc"
				failed(t, a, pr, 2)
				time.Sleep(time.Minute)
				ordered := time.Now().Add(-ahead) // GitHub's time
				time.Sleep(time.Minute)
				failed(t, a, pr, 3)
				h := a.past(pr, ordered)
				if h.attempts != 1 || h.wasted.USD != 3 || h.retryIn == 0 {
					t.Errorf("after the order: %d attempts, $%v, %v to wait; want 1, $3 and some", h.attempts, h.wasted.USD, h.retryIn)
				}
				if h.today != 5 {
					t.Errorf("$%v of today's budget are spent, want all $5", h.today)
				}
			})
		})
	}
}
