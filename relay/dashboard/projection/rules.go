package projection

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"touchstone/verdict"
)

// Rule is how often a guideline row fired, and the outcomes of its findings.
type Rule struct {
	Rule      string            `json:"rule"`
	Dimension verdict.Dimension `json:"dimension"`
	Findings  int               `json:"findings"`
	Pulls     int               `json:"pulls"`
	Severity  Counts            `json:"severities"`
	// Outcomes counts the findings by their status in the ledger.
	Outcomes map[verdict.Status]int `json:"outcomes"`
	// Repositories, Models and Guidelines count the findings by the repository, the model and the guidelines'
	// version with which they were found.
	Repositories map[string]int `json:"repositories"`
	Models       map[string]int `json:"models"`
	Guidelines   map[string]int `json:"guidelines"`
	First        time.Time      `json:"first"`
	Last         time.Time      `json:"last"`
}

// Held counts the findings that held, like [RuleTrend]. The outcome of findings outside Held and Wrong is
// unknown.
func (r Rule) Held() int { return r.count(verdict.Status.Held) }

// Wrong counts the findings that proved wrong; see Held.
func (r Rule) Wrong() int { return r.count(verdict.Status.Wrong) }

func (r Rule) count(is func(verdict.Status) bool) (n int) {
	for status, findings := range r.Outcomes {
		if is(status) {
			n += findings
		}
	}
	return n
}

// Rules returns the guideline rows that fired since a moment, the most frequent first. For the days before the
// log begins it counts the noted findings. It uses only the query's Scope, Repo and Rule.
func (p *Projection) Rules(ctx context.Context, q RuleQuery, since time.Time) ([]Rule, error) {
	filters, from := within(q.Scope, q.Repo), toMillis(since)
	noted, until, err := p.lasting(ctx, dayOf(since), q.Rule, filters...)
	if err != nil {
		return nil, err
	}
	of, args := ofRule(q.Rule, from, max(from, until))
	byRule, written := map[string]*Rule{}, map[string]string{} // written maps lower-case names of repositories to their spelling
	var f firing
	var in string
	err = p.query(ctx, append(f.columns(), &in, &f.Findings, &f.Pulls, &f.First, &f.Last), func() error {
		written[strings.ToLower(in)] = in
		ruleOf(byRule, f).add(in, f)
		return nil
	}, "SELECT "+kindColumns+`, places.repo, found.n, found.pulls, found.first, found.last FROM (
			SELECT kind, COUNT(*) AS n, SUM(before < ?) AS pulls, MIN(at) AS first, MAX(at) AS last
			FROM findings INDEXED BY findings_by_kind WHERE at >= ?`+of+` GROUP BY kind
		) AS found JOIN kinds ON kinds.id = found.kind JOIN places ON places.id = kinds.place WHERE `+
		p.allowed("kinds.place", filters...), args...)
	for _, places := range noted {
		for at, d := range places {
			for _, f := range d.Fired {
				ruleOf(byRule, f).add(cmp.Or(written[at.repo], at.repo), f)
			}
		}
	}
	rules := []Rule{}
	for _, r := range byRule {
		rules = append(rules, *r)
	}
	slices.SortFunc(rules, func(a, b Rule) int { return cmp.Or(b.Findings-a.Findings, cmp.Compare(a.Rule, b.Rule)) })
	return rules, err
}

// ruleOf returns the entry of the rule that fired, and adds it if it is new.
func ruleOf(byRule map[string]*Rule, f firing) *Rule {
	r := byRule[f.Rule]
	if r == nil {
		r = &Rule{
			Rule: f.Rule, Dimension: f.Dimension, Outcomes: map[verdict.Status]int{}, Repositories: map[string]int{}, Models: map[string]int{},
			Guidelines: map[string]int{}, First: fromMillis(f.First),
		}
		byRule[f.Rule] = r
	}
	return r
}

// add counts findings in a repository.
func (r *Rule) add(repo string, f firing) {
	r.Findings += f.Findings
	r.Pulls += f.Pulls
	r.Severity.add(f.Severity, f.Findings)
	r.Outcomes[f.Status] += f.Findings
	r.Repositories[repo] += f.Findings
	r.Models[f.Model] += f.Findings
	r.Guidelines[f.Guidelines] += f.Findings
	r.Last = later(r.Last, fromMillis(f.Last))
	if at := fromMillis(f.First); at.Before(r.First) {
		r.First = at
	}
}
