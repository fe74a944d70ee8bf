package pull

import (
	"time"

	"touchstone/agent/config"
	"touchstone/verdict"
	"touchstone/verdict/decide"
)

// History is what this machine remembers that bears on a decision.
type History struct {
	// Attempts counts the acts on the present head that failed.
	Attempts int
	// Failed is the last of them, Permanent whether it would fail again.
	Failed    decide.Kind
	Permanent bool
	// RetryIn is how long it has to wait before it is tried again.
	RetryIn time.Duration
	// Queued counts how often a merge queue gave it back.
	Queued int
	// Wasted is what acts took that came to nothing, Today what all acts on all pull
	// requests took today, in US dollars.
	Wasted verdict.Cost
	Today  float64
	// Promised is what sessions under way may still take of the day's budget.
	Promised float64
	// Applied says that the edits of the present head's approval were tried.
	Applied bool
	// Seen is when the present head came in the place of another, or zero; Unknown since when
	// GitHub has been computing whether it merges, Awaited since when it has waited for the
	// same of its reviewer, or zero.
	Seen, Unknown, Awaited time.Time
}

// BudgetsOf are the settings' in the decision's terms.
func BudgetsOf(cfg config.Config) decide.Budgets {
	b := cfg.Budgets
	return decide.Budgets{
		Round:       verdict.Allowance{USD: b.Round, Time: b.RoundTime.Duration()},
		PullRequest: verdict.Allowance{USD: b.PullRequest, Time: b.PullRequestTime.Duration()},
		Day:         b.Day,
	}
}
