package decide

import (
	"fmt"
	"time"

	"touchstone/verdict"
)

// Budgets bound what agents spend before they call a person.
type Budgets struct {
	// Round bounds one review or fix. PullRequest bounds all of them since the agents last started over.
	Round, PullRequest verdict.Allowance
	// Day bounds everything that one agent does on one machine from midnight to midnight, in US dollars; 0 is
	// no bound. A running session reserves its share, so that concurrent sessions stay within the bound
	// together.
	Day float64
}

// A session is not started with less than this, unless the whole bound is less.
const (
	leastUSD  = 0.05
	leastTime = 2 * time.Minute
)

// promisePause is how long to wait before checking again whether running sessions left part of their budget.
const promisePause = time.Minute

// limit is what the next session may spend: the least that any budget leaves.
type limit struct {
	verdict.Allowance
	// daily says that the day's budget leaves the least.
	daily bool
	// short says, as a sentence fragment, which budget leaves too little to start a session. tomorrow says
	// that the next day brings a new budget.
	short    string
	tomorrow bool
	// promised says that running sessions may use up what is left of the day's budget.
	promised bool
}

func (s State) allowance() (l limit) {
	spent := s.spent()
	for _, b := range []struct {
		bound, spent float64
		of           string
		daily        bool
	}{
		{s.Budgets.Round.USD, 0, "one round", false},
		{s.Budgets.PullRequest.USD, spent.USD, "this pull request", false},
		{s.Budgets.Day, s.Today, "all pull requests of this machine in one day", true},
	} {
		left, least := b.bound-b.spent, min(leastUSD, b.bound)
		if b.bound > 0 && left < least && l.short == "" {
			l.short, l.tomorrow = fmt.Sprintf("$%.2f of the $%.2f that %s may cost are spent", b.spent, b.bound, b.of), b.daily
		}
		if b.daily {
			left -= s.Promised
			l.promised = b.bound > 0 && left < least
		}
		if b.bound > 0 && (l.USD == 0 || left < l.USD) {
			l.USD, l.daily = left, b.daily
		}
	}
	for _, b := range []struct {
		bound, spent time.Duration
		of           string
	}{
		{s.Budgets.Round.Time, 0, "in one round"},
		{s.Budgets.PullRequest.Time, spent.Time, "on this pull request"},
	} {
		left := b.bound - b.spent
		if b.bound > 0 && left < min(leastTime, b.bound) && l.short == "" {
			l.short = fmt.Sprintf("%s of the %s that sessions may take are used up %s", b.spent.Round(time.Second), b.bound, b.of)
		}
		if b.bound > 0 && (l.Time == 0 || left < l.Time) {
			l.Time = left
		}
	}
	return l
}

// spent is what the pull request cost since the agents last started over: the costs that reviews and fixes
// report, and those of failed attempts on this machine.
func (s State) spent() verdict.Cost {
	total, since := s.Wasted, s.Since()
	for _, o := range s.Opinions {
		if o.Record != nil && (s.trusts(o.By) || verdict.SameLogin(o.By, s.Self)) && (since.IsZero() || o.At.After(since)) {
			total = total.Plus(verdict.Cost{USD: max(0, o.Record.CostUSD), Time: max(0, o.Record.Duration)})
		}
	}
	counted := map[string]bool{}
	for _, f := range s.fixes() {
		if !counted[f.Reviewed] { // a copied signed cost does not count again
			total = total.Plus(f.Cost)
		}
		counted[f.Reviewed] = true
	}
	return total
}
