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

// Replay is what came of replaying rounds. Its JSON is meant for other programs: names stay, new ones may come.
type Replay struct {
	Since time.Time `json:"since"`
	// Planned counts the rounds that were to be replayed, Replayed those that were, and Same those of them that were
	// judged by these very guidelines when they were recorded: what differs there is the model's noise.
	Planned  int `json:"planned"`
	Replayed int `json:"replayed"`
	Same     int `json:"same_guidelines"`
	// Gone counts the rounds whose commits cannot be fetched any more, Failed those that came to no review, with the
	// reasons, and Left those that were not begun, since the budget was spent or the replay was stopped.
	Gone    int       `json:"gone"`
	Failed  []Failure `json:"failed"`
	Left    int       `json:"left"`
	Carried int       `json:"carried"`
	Older   int       `json:"older"`
	// CostUSD is what the sessions cost, of BudgetUSD, and RecordedUSD what those of the replayed rounds did once.
	BudgetUSD   float64 `json:"budget_usd"`
	CostUSD     float64 `json:"cost_usd"`
	RecordedUSD float64 `json:"recorded_usd"`
	// Rules are the counts by rule, those first that changed most, and Findings what they count.
	Rules    []Effect  `json:"rules"`
	Findings []Finding `json:"findings"`
}

// Failure is a round that came to no review.
type Failure struct {
	Pull   string `json:"pull"`
	Round  int    `json:"round"`
	Reason string `json:"reason"`
}

// Rounds reviews recorded rounds again; a [reviewer.Reviewer] does.
type Rounds interface {
	Replay(ctx context.Context, pr forge.PullRequest, round verdict.Record, own map[string]string,
		opts reviewer.Options) (verdict.Record, error)
}

// Documents gives the texts of the guideline documents that a repository has of its own now.
type Documents func(ctx context.Context, pr forge.PullRequest) (map[string]string, error)

// Run replays the rounds one after the other for as long as the budget lasts, and no session takes more than
// allowed. It tells of each round before it begins. What keeps a round from being replayed is in the result; where no
// model can be asked at all, the rounds that follow are left.
func (p Plan) Run(ctx context.Context, rounds Rounds, documents Documents, allowed verdict.Allowance, tell func(string)) Replay {
	r := Replay{
		Since: p.Since, Planned: len(p.Rounds), Gone: p.Gone, Carried: p.Carried, Older: p.Older, BudgetUSD: p.BudgetUSD,
		Failed: []Failure{}, Findings: []Finding{},
	}
	permanent := false
	for i, round := range p.Rounds {
		left := p.BudgetUSD - r.CostUSD
		if left < leastBudget || permanent || ctx.Err() != nil {
			r.Left = len(p.Rounds) - i
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

// replay reviews one round again by the documents of today.
func replay(ctx context.Context, rounds Rounds, documents Documents, round Round, allowed verdict.Allowance) (verdict.Record, error) {
	own, err := documents(ctx, round.Pull)
	if err != nil {
		return verdict.Record{}, err
	}
	return rounds.Replay(ctx, round.Pull, round.Record, own, reviewer.Options{Allowance: allowed})
}

// leastBudget is what a session is begun with at the least, in US dollars.
const leastBudget = 0.01

// reason is why a round came to no review; permanent says that the next one would not either, whatever it is.
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
