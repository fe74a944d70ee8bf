package audit

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"touchstone/agent/forge"
	"touchstone/verdict"
)

// By is the key by which the statistics are grouped.
type By string

// ByRule groups by the guideline row of the findings, ByModel by engine and model of the reviews, ByTier by
// the tier of the reviews, and ByRepo by repository.
const (
	ByRule  By = "rule"
	ByModel By = "model"
	ByTier  By = "tier"
	ByRepo  By = "repo"
)

// Groups are the statistics of [Stats], by group. Other programs read the JSON: names do not change, new ones
// may be added.
type Groups struct {
	By      By        `json:"by"`
	Since   time.Time `json:"since"`
	Groups  []Group   `json:"groups"` // most reviews first
	Partial bool      `json:"partial"`
}

// Group holds the statistics of one rule, model, tier or repository: of the pull requests in which it has a
// review or a finding, of its own reviews and of its own findings. A pull request may count in several
// groups. The reviews of a rule are those in which one of its findings stood, and its CostUSD is the share of
// their cost, as in [RowStats].
type Group struct {
	Name string `json:"name"`
	Stats
}

// part selects what of a pull request counts in a group.
type part struct {
	review  func(Round) bool
	finding func(verdict.Entry) bool
}

// whole selects everything.
var whole = part{func(Round) bool { return true }, func(verdict.Entry) bool { return true }}

// CountBy is [Count] by group; rows are the statistics of the rules over the same pull requests.
func CountBy(by By, past []forge.Past, since time.Time, reviewers []string, label string, rows RowStats) Groups {
	g := Groups{By: by, Since: since, Groups: []Group{}}
	groups := map[string]*Stats{}
	for _, p := range past {
		if over(p, since) {
			continue
		}
		c := chainOf(p, reviewers)
		for name, part := range c.parts(by, p, since) {
			s := groups[name]
			if s == nil {
				s = newStats(since)
				groups[name] = s
			}
			s.add(p, c, label, part)
		}
		g.Partial = g.Partial || p.Cut
	}
	for name, s := range groups {
		s.finish()
		if i := slices.IndexFunc(rows.Rows, func(r Row) bool { return r.Rule == name }); by == ByRule && i >= 0 {
			s.CostUSD = rows.Rows[i].CostUSD
		}
		g.Groups = append(g.Groups, Group{name, *s})
	}
	slices.SortFunc(g.Groups, func(a, b Group) int { return cmp.Or(b.Reviews-a.Reviews, cmp.Compare(a.Name, b.Name)) })
	return g
}

// parts returns the groups in which a pull request counts, with the part that counts in each.
func (c *Chain) parts(by By, p forge.Past, since time.Time) map[string]part {
	parts := map[string]part{}
	if by == ByRepo {
		parts[p.Repo.String()] = whole
		return parts
	}
	if by == ByRule {
		for _, e := range c.Findings {
			if e.Rule != "" {
				of := func(other verdict.Entry) bool { return other.Rule == e.Rule }
				parts[e.Rule] = part{func(r Round) bool {
					return slices.ContainsFunc(r.Record.Ledger, func(e verdict.Entry) bool { return of(e) && r.stood(e) })
				}, of}
			}
		}
		return parts
	}
	name := func(r Round) string { return modelOf(r.Record) }
	if by == ByTier {
		name = func(r Round) string { return cmp.Or(r.Record.Tier, "not known") }
	}
	for _, r := range c.Rounds {
		if !r.believed() || r.At.Before(since) {
			continue
		}
		of := name(r)
		parts[of] = part{func(r Round) bool { return name(r) == of }, func(e verdict.Entry) bool {
			first, ok := c.first(e)
			return ok && name(first) == of
		}}
	}
	return parts
}

// first returns the round that first found an entry.
func (c *Chain) first(e verdict.Entry) (Round, bool) {
	i := slices.IndexFunc(c.Rounds, func(r Round) bool { return r.believed() && r.Record.Round == e.First })
	if i < 0 {
		return Round{}, false
	}
	return c.Rounds[i], true
}

// stood reports whether a finding stood in the round.
func (r Round) stood(e verdict.Entry) bool {
	return e.First <= r.Record.Round && e.Last >= r.Record.Round
}

// modelOf returns the engine and the model of a review.
func modelOf(r verdict.Record) string {
	return cmp.Or(strings.TrimSpace(r.Engine+" "+r.Model), "code alone")
}

// Write writes the statistics for people to read.
func (g Groups) Write(to io.Writer) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "%s\tpulls\tmerged\tunattended\tto merge p50\tp90\tp99\treviews\treview p50\tp90\tp99\tfindings\tcost\n",
		g.By)
	for _, one := range g.Groups {
		findings := 0
		for _, n := range one.Fates {
			findings += n
		}
		alone := "-"
		if one.Merged > 0 {
			alone = fmt.Sprintf("%.0f %%", 100*one.WithoutPerson)
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%s\t%s\t%d\t%s\t%d\t$%.2f\n", plain(one.Name), one.PullRequests, one.Merged, alone,
			one.ToMerge.columns(), one.Reviews, one.Took.columns(), findings, one.CostUSD)
	}
	if len(g.Groups) == 0 {
		fmt.Fprintln(w, "nothing was reviewed in this period")
	}
	if g.Partial {
		fmt.Fprintln(w, "there were more pull requests or reviews than this counts; choose a shorter period")
	}
	return w.Flush()
}

// Spread holds percentiles of durations, by the nearest-rank method.
type Spread struct {
	P50 time.Duration `json:"p50"`
	P90 time.Duration `json:"p90"`
	P99 time.Duration `json:"p99"`
}

// spread computes the percentiles of some durations; nil if there are none.
func spread(all []time.Duration) *Spread {
	if len(all) == 0 {
		return nil
	}
	return &Spread{P50: percentile(all, 50), P90: percentile(all, 90), P99: percentile(all, 99)}
}

// columns formats the three durations for a table.
func (s *Spread) columns() string {
	if s == nil {
		return "-\t-\t-"
	}
	return fmt.Sprintf("%s\t%s\t%s", s.P50.Round(time.Second), s.P90.Round(time.Second), s.P99.Round(time.Second))
}

// percentile uses the nearest-rank method; it returns the zero value if there are no values.
func percentile[T cmp.Ordered](all []T, percent int) (p T) {
	if len(all) == 0 {
		return p
	}
	return slices.Sorted(slices.Values(all))[(len(all)*percent+99)/100-1]
}
