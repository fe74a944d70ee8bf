package projection

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"touchstone/relay/event"
	"touchstone/verdict"
)

// RuleTrend is what one guideline row found in one bucket, by what became of it until now.
type RuleTrend struct {
	Start time.Time `json:"start"`
	// Fired counts the findings that were found first then: Held those that were repaired, or came back after
	// that, Wrong those that were refuted, withdrawn or waived. Of the rest it is not known yet.
	Fired int `json:"fired"`
	Held  int `json:"held"`
	Wrong int `json:"wrong"`
	// Outcomes counts them by where they stand.
	Outcomes map[verdict.Status]int `json:"outcomes"`
	// Pulls are the pull requests that they are of, as owner/name#number, each once.
	Pulls []RulePull `json:"pulls"`
}

// RulePull is a pull request in which a row fired.
type RulePull struct {
	Repo   string `json:"repo"`
	Number int    `json:"number"`
}

// String is how people write it.
func (p RulePull) String() string { return fmt.Sprintf("%s#%d", p.Repo, p.Number) }

// Unknown counts the findings of which it is not known whether they held.
func (t RuleTrend) Unknown() int { return t.Fired - t.Held - t.Wrong }

// RuleTrends are the buckets of one guideline row from the one of since on to the one of now, also those without any
// finding, but none of before the log is known.
func (p *Projection) RuleTrends(
	ctx context.Context, scope event.Filter, repo, rule string, bucket Bucket, since, now time.Time,
) ([]RuleTrend, error) {
	trends, index := []RuleTrend{}, map[int64]int{}
	known := p.Since()
	if known.IsZero() {
		return trends, nil
	}
	for at := bucket.begin(since, known); !at.After(now) && len(trends) < maxBuckets; at = bucket.Next(at) {
		index[at.Unix()] = len(trends)
		trends = append(trends, RuleTrend{Start: at, Outcomes: map[verdict.Status]int{}, Pulls: []RulePull{}})
	}
	var repos event.Filter
	if repo != "" {
		repos.Repos = []string{repo}
	}
	err := p.query(ctx, func(rows *sql.Rows) error {
		var status verdict.Status
		var at int64
		var pull RulePull
		if err := rows.Scan(&status, &at, &pull.Repo, &pull.Number); err != nil {
			return err
		}
		if i, ok := index[bucket.Start(fromMillis(at)).Unix()]; ok {
			trends[i].add(status, pull)
		}
		return nil
	}, `SELECT kinds.status, findings.at, places.repo, pulls.number
		FROM kinds JOIN findings ON findings.kind = kinds.id JOIN pulls ON pulls.id = findings.pull JOIN places ON places.id = kinds.place
		WHERE kinds.rule = ? AND findings.at >= ? AND `+
		strings.Replace(p.allowed(scope, repos), "place ", "kinds.place ", 1)+` ORDER BY findings.at`, rule, toMillis(bucket.Start(since)))
	return trends, err
}

// add counts a finding.
func (t *RuleTrend) add(status verdict.Status, of RulePull) {
	t.Fired++
	t.Outcomes[status]++
	switch {
	case status.Held():
		t.Held++
	case status.Wrong():
		t.Wrong++
	}
	if !slices.Contains(t.Pulls, of) {
		t.Pulls = append(t.Pulls, of)
	}
}

// SumRule is all of some buckets together, but for their pull requests.
func SumRule(trends []RuleTrend) (sum RuleTrend) {
	for _, t := range trends {
		sum.Fired += t.Fired
		sum.Held += t.Held
		sum.Wrong += t.Wrong
	}
	return sum
}
