package audit

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"touchstone/agent/forge"
	"touchstone/verdict"
)

// Stats are statistics for a team lead, over the pull requests that changed in a period. Other programs read
// the JSON: names do not change, new ones may be added.
type Stats struct {
	Repositories []string  `json:"repositories"`
	Since        time.Time `json:"since"`
	// PullRequests counts the pull requests that changed, except those closed before the period; Merged,
	// Closed and Open count their present states.
	PullRequests int `json:"pull_requests"`
	Merged       int `json:"merged"`
	Closed       int `json:"closed"`
	Open         int `json:"open"`
	// MedianToMerge is the time from opening to merging; the shares are of the merged pull requests, 0 to 1.
	MedianToMerge time.Duration `json:"median_to_merge_ns"`
	Within10m     float64       `json:"merged_within_10m"`
	Within30m     float64       `json:"merged_within_30m"`
	// WithoutPerson is the share of the merged pull requests for which no person was called and which no
	// person let pass.
	WithoutPerson float64 `json:"share_without_person"`
	// ToMerge and Took are percentiles of the times to merge and of the reviews' durations; nil if there are
	// none.
	ToMerge *Spread `json:"to_merge_ns"`
	Took    *Spread `json:"review_ns"`
	// The rounds are the reviews of merged pull requests that count.
	MedianRounds int     `json:"median_rounds"`
	MeanRounds   float64 `json:"mean_rounds"`
	MostRounds   int     `json:"most_rounds"`
	// Reviews counts the reviews that count; the fields below are their cost, tokens and time.
	Reviews    int           `json:"reviews"`
	CostUSD    float64       `json:"cost_usd"`
	Tokens     int64         `json:"tokens"`
	CacheShare float64       `json:"cache_share"` // share of the input tokens, 0 to 1
	MedianTook time.Duration `json:"median_review_ns"`
	// Findings, Fates and Rules count the findings in the last record of each pull request: by dimension and
	// severity, by status, and by rule.
	Findings map[verdict.Dimension]map[verdict.Severity]int `json:"findings"`
	Fates    map[verdict.Status]int                         `json:"fates"`
	Rules    map[string]int                                 `json:"rules"`
	// FindingsMerged and FindingsDropped count the findings that the reviews do not list: those that another
	// finding covers, and those that did not hold.
	FindingsMerged  int `json:"findings_merged"`
	FindingsDropped int `json:"findings_dropped"`
	// Escalated counts the pull requests that were labelled for a person, Lifted those that a person let
	// pass.
	Escalated int `json:"escalated"`
	Lifted    int `json:"lifted"`
	// Partial reports whether there were more pull requests or reviews than were read.
	Partial bool `json:"partial"`

	toMerge, took     []time.Duration
	rounds            []int
	cacheRead, inputs int64
	alone             int // merged without a person
}

// Count computes the statistics of the pull requests since a time. Reviewers are the logins whose records are
// believed; label is the one that calls a person.
func Count(past []forge.Past, since time.Time, reviewers []string, label string) Stats {
	s := newStats(since)
	for _, p := range past {
		s.add(p, chainOf(p, reviewers), label, whole)
	}
	s.finish()
	return *s
}

func newStats(since time.Time) *Stats {
	return &Stats{
		Since: since, Repositories: []string{}, Findings: map[verdict.Dimension]map[verdict.Severity]int{},
		Fates: map[verdict.Status]int{}, Rules: map[string]int{},
	}
}

// finish computes the totals from what was added.
func (s *Stats) finish() {
	slices.Sort(s.Repositories)
	s.ToMerge, s.Took = spread(s.toMerge), spread(s.took)
	s.MedianToMerge, s.MedianTook, s.MedianRounds = percentile(s.toMerge, 50), percentile(s.took, 50), percentile(s.rounds, 50)
	for _, n := range s.rounds {
		s.MeanRounds += float64(n) / float64(len(s.rounds))
		s.MostRounds = max(s.MostRounds, n)
	}
	within := func(limit time.Duration) float64 {
		n := len(slices.DeleteFunc(slices.Clone(s.toMerge), func(d time.Duration) bool { return d > limit }))
		return share(int64(n), int64(len(s.toMerge)))
	}
	s.Within10m, s.Within30m = within(10*time.Minute), within(30*time.Minute)
	s.WithoutPerson = share(int64(s.alone), int64(s.Merged))
	s.CacheShare = share(s.cacheRead, s.inputs)
}

// over reports whether a pull request was closed before the period: later comments on it are no work on it.
func over(p forge.Past, since time.Time) bool { return p.ClosedAt != nil && p.ClosedAt.Before(since) }

// chainOf returns the report on the reviews of a pull request alone.
func chainOf(p forge.Past, reviewers []string) *Chain {
	c := &Chain{Reviewers: reviewers}
	c.addReviews(forge.PullRequest{Author: p.Author, Reviews: p.Reviews}, nil)
	return c
}

// add counts one part of a pull request.
func (s *Stats) add(p forge.Past, c *Chain, label string, of part) {
	if !slices.Contains(s.Repositories, p.Repo.String()) {
		s.Repositories = append(s.Repositories, p.Repo.String())
	}
	if over(p, s.Since) {
		return
	}
	s.PullRequests++
	s.Partial = s.Partial || p.Cut
	lifted := false
	for _, r := range c.Rounds {
		if r.believed() && !r.At.Before(s.Since) && of.review(r) {
			s.addRound(r.Record)
		}
		lifted = lifted || r.believed() && r.Record.Lifted != nil
	}
	for _, f := range c.Findings {
		if !of.finding(f) {
			continue
		}
		if s.Findings[f.Dimension] == nil {
			s.Findings[f.Dimension] = map[verdict.Severity]int{}
		}
		s.Findings[f.Dimension][f.Severity]++
		s.Fates[f.Status]++
		if f.Rule != "" {
			s.Rules[f.Rule]++
		}
	}
	if lifted {
		s.Lifted++
	}
	called := func(since time.Time) bool {
		return slices.ContainsFunc(p.Labelled, func(l forge.Labelling) bool {
			return l.Added && strings.EqualFold(l.Label, label) && !l.At.Before(since)
		})
	}
	if called(s.Since) {
		s.Escalated++
	}
	switch {
	case p.MergedAt != nil:
		s.Merged++
		if !lifted && !called(time.Time{}) {
			s.alone++
		}
		s.toMerge = append(s.toMerge, p.MergedAt.Sub(p.CreatedAt))
		s.rounds = append(s.rounds, c.believedRounds())
	case p.Open:
		s.Open++
	default:
		s.Closed++
	}
}

func (s *Stats) addRound(r verdict.Record) {
	s.Reviews++
	s.FindingsMerged += r.Merged
	s.FindingsDropped += r.Dropped
	s.CostUSD += r.CostUSD
	s.Tokens += r.Usage.Total()
	s.cacheRead += r.Usage.CacheRead
	s.inputs += r.Usage.Prompt()
	s.took = append(s.took, r.Duration)
}

func share(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// mostRules is how many rules Write shows; the rules with most findings come first.
const mostRules = 10

// Write writes the numbers for people to read.
func (s Stats) Write(to io.Writer) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	line := func(name, format string, args ...any) {
		fmt.Fprintf(w, "%s\t"+format+"\n", append([]any{name}, args...)...)
	}
	line("since", "%s", verdict.Stamp(s.Since))
	if len(s.Repositories) > 0 {
		line("repositories", "%s", strings.Join(s.Repositories, ", "))
	}
	line("pull requests", "%d: %d merged, %d closed, %d open", s.PullRequests, s.Merged, s.Closed, s.Open)
	if s.Partial {
		line("", "there were more than this counts; choose a shorter period")
	}
	if s.PullRequests == 0 { // the rest would only be zeros
		return w.Flush()
	}
	if s.Merged > 0 {
		line("time to merge", "median %s; %.0f %% within 10 minutes, %.0f %% within 30; p90 %s, p99 %s", s.MedianToMerge.Round(time.Second),
			100*s.Within10m, 100*s.Within30m, s.ToMerge.P90.Round(time.Second), s.ToMerge.P99.Round(time.Second))
		line("rounds", "median %d, mean %.1f, at most %d", s.MedianRounds, s.MeanRounds, s.MostRounds)
	}
	line("reviews", "%d, median %s", s.Reviews, s.MedianTook.Round(time.Second))
	line("cost", "$%.2f, %d tokens, %.0f %% of those read from the cache", s.CostUSD, s.Tokens, 100*s.CacheShare)
	alone := ""
	if s.Merged > 0 {
		alone = fmt.Sprintf("; merged without one: %.0f %%", 100*s.WithoutPerson)
	}
	line("needed a person", "%d; let pass by a person: %d%s", s.Escalated, s.Lifted, alone)
	for _, d := range verdict.Dimensions() {
		total := 0
		for _, n := range s.Findings[d] {
			total += n
		}
		if total > 0 {
			line("["+string(d)+"]", "%d: %s", total, strings.Join(verdict.Counts(s.Findings[d]), ", "))
		}
	}
	if len(s.Fates) > 0 {
		line("findings are", "%s", Ranked(s.Fates, len(s.Fates)))
	}
	if s.FindingsMerged+s.FindingsDropped > 0 {
		line("not listed", "%d merged into others, %d dropped", s.FindingsMerged, s.FindingsDropped)
	}
	if len(s.Rules) > 0 {
		line("rules", "%s", Ranked(s.Rules, mostRules))
	}
	return w.Flush()
}

// Ranked lists at most so many names with their counts, the highest first.
func Ranked[K ~string](counts map[K]int, most int) string {
	names := slices.SortedFunc(maps.Keys(counts), func(a, b K) int { return cmp.Or(counts[b]-counts[a], cmp.Compare(a, b)) })
	var parts []string
	for _, name := range names[:min(most, len(names))] {
		parts = append(parts, fmt.Sprintf("%d %s", counts[name], plain(string(name))))
	}
	return strings.Join(parts, ", ")
}
