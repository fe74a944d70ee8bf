package projection

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"touchstone/relay/event"
	"touchstone/verdict"
)

// RuleTrend counts what one guideline row found in one bucket, by the outcomes so far.
type RuleTrend struct {
	Start time.Time `json:"start"`
	// Fired counts the findings that were first found in the bucket. Held counts those that were fixed, even if
	// they came back later; Wrong those that were refuted, withdrawn or waived. The outcome of the rest is not
	// known yet.
	Fired int `json:"fired"`
	Held  int `json:"held"`
	Wrong int `json:"wrong"`
	// Outcomes counts the findings by status.
	Outcomes map[verdict.Status]int `json:"outcomes"`
	// Pulls lists the pull requests with these findings, each once, except for those that the log no longer
	// holds.
	Pulls []RulePull `json:"pulls"`
}

// RulePull is a pull request in which a guideline row fired.
type RulePull struct {
	Repo   string `json:"repo"`
	Number int    `json:"number"`
}

// String returns owner/name#number.
func (p RulePull) String() string { return fmt.Sprintf("%s#%d", p.Repo, p.Number) }

// Unknown counts the findings without a known outcome.
func (t RuleTrend) Unknown() int { return t.Fired - t.Held - t.Wrong }

// RuleQuery selects the findings of one guideline row.
type RuleQuery struct {
	// Scope is what the caller may see, Repo a glob of repositories; an empty Repo matches all.
	Scope event.Filter
	Repo  string
	// Rule is the row's id; for Rules, an empty Rule matches all.
	Rule string
	// Model and Guidelines are what the findings were found with; empty matches any.
	Model, Guidelines string
	Bucket            Bucket
}

// RuleTrends returns the buckets of one guideline row from that of since to that of now, including those
// without findings, but none before the log is known.
func (p *Projection) RuleTrends(ctx context.Context, q RuleQuery, since, now time.Time) ([]RuleTrend, error) {
	bucket := q.Bucket
	trends, index := []RuleTrend{}, map[int64]int{}
	known, err := p.RulesSince(ctx)
	if err != nil || known.IsZero() {
		return trends, err
	}
	begin := bucket.begin(since, known, now)
	for at := begin; !at.After(now); at = bucket.Next(at) {
		index[at.Unix()] = len(trends)
		trends = append(trends, RuleTrend{Start: at, Outcomes: map[verdict.Status]int{}, Pulls: []RulePull{}})
	}
	filters, from := within(q.Scope, q.Repo), toMillis(begin)
	noted, until, err := p.lasting(ctx, dayOf(begin), q.Rule, filters...)
	if err != nil {
		return nil, err
	}
	for number, places := range noted {
		i, ok := index[bucket.Start(startOf(number)).Unix()]
		for _, d := range places {
			for _, f := range d.Fired {
				if ok && (q.Model == "" || f.Model == q.Model) && (q.Guidelines == "" || f.Guidelines == q.Guidelines) {
					trends[i].add(f.Status, f.Findings)
				}
			}
		}
	}
	with, args := "", []any{q.Rule, from}
	if q.Model != "" {
		with, args = with+" AND kinds.model = ?", append(args, q.Model)
	}
	if q.Guidelines != "" {
		with, args = with+" AND kinds.guidelines = ?", append(args, q.Guidelines)
	}
	var status verdict.Status
	var at int64
	var pull RulePull
	err = p.query(ctx, []any{&status, &at, &pull.Repo, &pull.Number}, func() error {
		if i, ok := index[bucket.Start(fromMillis(at)).Unix()]; ok {
			if at >= until {
				trends[i].add(status, 1)
			}
			if !slices.Contains(trends[i].Pulls, pull) {
				trends[i].Pulls = append(trends[i].Pulls, pull)
			}
		}
		return nil
	}, `SELECT kinds.status, findings.at, places.repo, pulls.number
		FROM kinds JOIN findings ON findings.kind = kinds.id JOIN pulls ON pulls.id = findings.pull JOIN places ON places.id = kinds.place
		WHERE kinds.rule = ? AND findings.at >= ?`+with+` AND `+p.allowed("kinds.place", filters...)+` ORDER BY findings.at`, args...)
	return trends, err
}

// RuleVersions returns the models and the guidelines' versions with which a row fired since a moment, by name. Like Rules, it
// uses only the query's Scope, Repo and Rule.
func (p *Projection) RuleVersions(ctx context.Context, q RuleQuery, since time.Time) (models, guidelines []string, err error) {
	rules, err := p.Rules(ctx, q, since)
	for _, r := range rules {
		models, guidelines = slices.Sorted(maps.Keys(r.Models)), slices.Sorted(maps.Keys(r.Guidelines))
	}
	return models, guidelines, err
}

// add counts findings.
func (t *RuleTrend) add(status verdict.Status, n int) {
	t.Fired += n
	t.Outcomes[status] += n
	switch {
	case status.Held():
		t.Held += n
	case status.Wrong():
		t.Wrong += n
	}
}

// SumRule returns the totals of some buckets, without their pull requests.
func SumRule(trends []RuleTrend) (sum RuleTrend) {
	for _, t := range trends {
		sum.Fired += t.Fired
		sum.Held += t.Held
		sum.Wrong += t.Wrong
	}
	return sum
}
