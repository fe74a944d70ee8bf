package projection

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"time"

	"touchstone/relay/event"
	"touchstone/verdict"
)

// Rule is how often a guideline row fired, and what became of it.
type Rule struct {
	Rule      string            `json:"rule"`
	Dimension verdict.Dimension `json:"dimension"`
	Findings  int               `json:"findings"`
	Pulls     int               `json:"pulls"`
	Severity  Counts            `json:"severities"`
	// Outcomes counts the findings by where they stand in the ledger.
	Outcomes map[verdict.Status]int `json:"outcomes"`
	// Repositories, Models and Guidelines count them by where and with what they were found.
	Repositories map[string]int `json:"repositories"`
	Models       map[string]int `json:"models"`
	Guidelines   map[string]int `json:"guidelines"`
	First        time.Time      `json:"first"`
	Last         time.Time      `json:"last"`
}

// Held and Wrong count the findings as those of [RuleTrend] are; of the rest it is not known yet.
func (r Rule) Held() int { return r.count(verdict.Status.Held) }

// Wrong is beside Held.
func (r Rule) Wrong() int { return r.count(verdict.Status.Wrong) }

func (r Rule) count(is func(verdict.Status) bool) (n int) {
	for status, findings := range r.Outcomes {
		if is(status) {
			n += findings
		}
	}
	return n
}

// Rules are the guideline rows that fired since a moment, those that did so most first.
func (p *Projection) Rules(ctx context.Context, scope event.Filter, repo string, since time.Time) ([]Rule, error) {
	var repos event.Filter
	if repo != "" {
		repos.Repos = []string{repo}
	}
	byRule, pulls := map[string]*Rule{}, map[string]map[int64]bool{}
	err := p.query(ctx, func(rows *sql.Rows) error {
		var name, repo, model, guidelines string
		var dimension verdict.Dimension
		var severity verdict.Severity
		var status verdict.Status
		var at, pull int64
		if err := rows.Scan(&name, &dimension, &severity, &status, &at, &model, &guidelines, &repo, &pull); err != nil {
			return err
		}
		r := byRule[name]
		if r == nil {
			r = &Rule{
				Rule: name, Dimension: dimension, Outcomes: map[verdict.Status]int{}, Repositories: map[string]int{}, Models: map[string]int{},
				Guidelines: map[string]int{},
				First:      fromMillis(at),
			}
			byRule[name], pulls[name] = r, map[int64]bool{}
		}
		r.Findings++
		r.Severity.add(severity)
		r.Outcomes[status]++
		r.Repositories[repo]++
		r.Models[model]++
		r.Guidelines[guidelines]++
		r.Last = fromMillis(at)
		pulls[name][pull] = true
		return nil
	}, `SELECT findings.rule, findings.dimension, findings.severity, findings.status, findings.at, findings.model, findings.guidelines, places.repo, pulls.id
		FROM findings JOIN pulls ON pulls.id = findings.pull JOIN places ON places.id = pulls.place
		WHERE findings.at >= ? AND `+p.allowed(scope, repos)+` ORDER BY findings.at`, toMillis(since))
	rules := []Rule{}
	for name, r := range byRule {
		r.Pulls = len(pulls[name])
		rules = append(rules, *r)
	}
	slices.SortFunc(rules, func(a, b Rule) int { return cmp.Or(b.Findings-a.Findings, cmp.Compare(a.Rule, b.Rule)) })
	return rules, err
}
