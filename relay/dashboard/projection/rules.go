package projection

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"strings"
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
	byRule := map[string]*Rule{}
	from := toMillis(since)
	err := p.query(ctx, func(rows *sql.Rows) error {
		var name, repo, model, guidelines string
		var dimension verdict.Dimension
		var severity verdict.Severity
		var status verdict.Status
		var findings, pulls int
		var first, last int64
		if err := rows.Scan(&name, &dimension, &severity, &status, &model, &guidelines, &repo, &findings, &pulls, &first, &last); err != nil {
			return err
		}
		r := byRule[name]
		if r == nil {
			r = &Rule{
				Rule: name, Dimension: dimension, Outcomes: map[verdict.Status]int{}, Repositories: map[string]int{}, Models: map[string]int{},
				Guidelines: map[string]int{}, First: fromMillis(first),
			}
			byRule[name] = r
		}
		r.Findings += findings
		r.Pulls += pulls
		r.Severity.add(severity, findings)
		r.Outcomes[status] += findings
		r.Repositories[repo] += findings
		r.Models[model] += findings
		r.Guidelines[guidelines] += findings
		r.Last = later(r.Last, fromMillis(last))
		if at := fromMillis(first); at.Before(r.First) {
			r.First = at
		}
		return nil
	}, `SELECT rule, dimension, severity, status, model, guidelines, places.repo, found.n, found.pulls, found.first, found.last FROM (
			SELECT kind, COUNT(*) AS n, SUM(before < ?) AS pulls, MIN(at) AS first, MAX(at) AS last
			FROM findings INDEXED BY findings_by_kind WHERE at >= ? GROUP BY kind
		) AS found JOIN kinds ON kinds.id = found.kind JOIN places ON places.id = kinds.place WHERE `+
		strings.Replace(p.allowed(scope, repos), "place ", "kinds.place ", 1), from, from)
	rules := []Rule{}
	for _, r := range byRule {
		rules = append(rules, *r)
	}
	slices.SortFunc(rules, func(a, b Rule) int { return cmp.Or(b.Findings-a.Findings, cmp.Compare(a.Rule, b.Rule)) })
	return rules, err
}
