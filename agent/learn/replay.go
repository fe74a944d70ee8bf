package learn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"touchstone/agent/engine"
	"touchstone/agent/forge"
	"touchstone/agent/reviewer"
	"touchstone/verdict"
	"touchstone/worktree"
)

// Replay is the result of replaying rounds. Its JSON is for other programs: names stay, new ones may be
// added.
type Replay struct {
	Since time.Time `json:"since"`
	// Planned counts the rounds that were to be replayed, Replayed those that were, and Same those of the
	// replayed rounds that were judged by the same guidelines when they were recorded: differences there are
	// the model's noise.
	Planned  int `json:"planned"`
	Replayed int `json:"replayed"`
	Same     int `json:"same_guidelines"`
	// Gone counts the rounds whose commits can no longer be fetched, Failed lists those that gave no review,
	// with the reasons, and Left counts those that were not begun because the budget was spent or the replay
	// was stopped.
	Gone    int       `json:"gone"`
	Failed  []Failure `json:"failed"`
	Left    int       `json:"left"`
	Carried int       `json:"carried"`
	Older   int       `json:"older"`
	// Unread counts the rounds of pull requests that are gone or hold more than is read.
	Unread int `json:"unread"`
	// CostUSD is the cost of the sessions, within BudgetUSD; RecordedUSD is the recorded cost of the replayed
	// rounds.
	BudgetUSD   float64 `json:"budget_usd"`
	CostUSD     float64 `json:"cost_usd"`
	RecordedUSD float64 `json:"recorded_usd"`
	// Rules are the counts by rule, the most changed first; Findings are the counted findings.
	Rules    []Effect  `json:"rules"`
	Findings []Finding `json:"findings"`
}

// Failure is a round that gave no review.
type Failure struct {
	Pull   string `json:"pull"`
	Round  int    `json:"round"`
	Reason string `json:"reason"`
}

// Rounds reviews recorded rounds again; a [reviewer.Reviewer] implements it.
type Rounds interface {
	Replay(ctx context.Context, pr forge.PullRequest, round verdict.Record, own map[string]string,
		opts reviewer.Options) (verdict.Record, error)
}

// Documents returns the texts of a repository's own current guideline documents.
type Documents func(ctx context.Context, pr forge.PullRequest) (map[string]string, error)

// Run replays the rounds one after the other until the budget is spent; no session uses more than allowed. It
// reports each round before it begins. The result says why a round was not replayed. If no model can be used
// at all, the following rounds are left.
func (p Plan) Run(ctx context.Context, rounds Rounds, documents Documents, allowed verdict.Allowance, tell func(string)) Replay {
	r := Replay{
		Since: p.Since, Planned: len(p.Rounds), Gone: p.Gone, Carried: p.Carried, Older: p.Older, Unread: p.Unread,
		BudgetUSD: p.BudgetUSD, Failed: []Failure{}, Findings: []Finding{},
	}
	permanent := false
	for i, round := range p.Rounds {
		left := p.BudgetUSD - r.CostUSD
		if left < leastBudget || permanent || ctx.Err() != nil {
			r.Left += len(p.Rounds) - i // besides one that was stopped
			break
		}
		tell(fmt.Sprintf("%d of %d: %s, $%.2f spent", i+1, len(p.Rounds), round.name(), r.CostUSD))
		one := allowed
		if one.USD == 0 || one.USD > left {
			one.USD = left
		}
		record, err := replay(ctx, rounds, documents, round, one)
		r.CostUSD += record.CostUSD
		switch {
		case errors.Is(err, worktree.ErrHeadMoved):
			r.Gone++
		case err != nil && ctx.Err() != nil:
			r.Left++
		case err != nil:
			why := ""
			why, permanent = reason(err)
			r.Failed = append(r.Failed, Failure{round.Pull.Ref.String(), round.Record.Round, why})
		default:
			r.add(round, record)
		}
	}
	r.Rules = effects(r.Findings)
	return r
}

// replay reviews one round again with today's documents.
func replay(ctx context.Context, rounds Rounds, documents Documents, round Round, allowed verdict.Allowance) (verdict.Record, error) {
	own, err := documents(ctx, round.Pull)
	if err != nil {
		return verdict.Record{}, err
	}
	return rounds.Replay(ctx, round.Pull, round.Record, own, reviewer.Options{Allowance: allowed})
}

// leastBudget is the least remaining budget with which a session is begun, in US dollars.
const leastBudget = 0.01

// reason says why a round gave no review; permanent says that the next rounds would fail too.
func reason(err error) (why string, permanent bool) {
	var session *engine.Error
	if !errors.As(err, &session) {
		return err.Error(), false
	}
	permanent = slices.Contains([]engine.Class{engine.Missing, engine.Auth, engine.Billing}, session.Class)
	return "the session did not finish: " + session.Error(), permanent
}

// add compares a replayed round with its record.
func (r *Replay) add(round Round, now verdict.Record) {
	r.Replayed++
	r.RecordedUSD += round.Record.CostUSD
	if now.Guidelines == round.Record.Guidelines {
		r.Same++
	}
	r.Findings = append(r.Findings, compare(round, now)...)
}
