package audit

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"
	"time"

	"touchstone/agent/forge"
	"touchstone/verdict"
)

// RowStats says what became of the findings of each guideline row, over the pull requests that changed in a
// period. Other programs read the JSON: names do not change, new ones may be added.
type RowStats struct {
	Since time.Time `json:"since"`
	Rows  []Row     `json:"rows"`
	// Partial reports whether there were more pull requests or reviews than were read.
	Partial bool `json:"partial"`
}

// Row is one guideline row. Rows are sorted by findings, most first.
type Row struct {
	Rule string `json:"rule"`
	Tally
	// Repositories and Models are the same counts by repository, and by engine and model of the review that
	// found it first.
	Repositories map[string]*Tally `json:"repositories"`
	Models       map[string]*Tally `json:"models"`
	// Findings are the findings behind the counts, oldest first.
	Findings []Fired `json:"-"`
}

// Fired is one finding of a row.
type Fired struct {
	Pull  forge.Ref
	Entry verdict.Entry
}

// Tally counts findings and what became of them.
type Tally struct {
	Count int `json:"findings"`
	// Outcomes counts the findings by their status.
	Outcomes map[verdict.Status]int `json:"outcomes"`
	// Held counts the findings that were repaired, survived a dispute, or came back; Wrong those that were
	// refuted, withdrawn or waived. The outcome of the others is not known yet.
	Held  int `json:"held"`
	Wrong int `json:"wrong"`
	// Upheld counts the findings that survived a dispute, Regressed those that came back after a repair, Late
	// those that an earlier round could have found.
	Upheld    int `json:"upheld"`
	Regressed int `json:"regressed"`
	Late      int `json:"late"`
	// Liked and Disliked count the thumbs up and down on the findings' comments.
	Liked    int `json:"liked"`
	Disliked int `json:"disliked"`
	// Rounds counts the reviews in which the findings stood, and CostUSD is their share of the cost of these
	// reviews: all findings of a round have an equal share.
	Rounds  int     `json:"rounds"`
	CostUSD float64 `json:"cost_usd"`
}

// Precision is the share of held findings among those with a known outcome; ok is false if no outcome is
// known.
func (t Tally) Precision() (part float64, ok bool) {
	return share(int64(t.Held), int64(t.Held+t.Wrong)), t.Held+t.Wrong > 0
}

// Rows counts what became of the findings of each row. Reviewers are the logins whose records are believed;
// liked returns the reactions to the comment on a finding, and may be nil.
func Rows(past []forge.Past, since time.Time, reviewers []string, liked func(forge.Ref, string) forge.Reactions) RowStats {
	s := RowStats{Since: since, Rows: []Row{}}
	rows := map[string]*Row{}
	for _, p := range past {
		if over(p, since) {
			continue
		}
		s.Partial = s.Partial || p.Cut
		c := chainOf(p, reviewers)
		for _, e := range c.Findings {
			if e.Rule == "" {
				continue
			}
			row := rows[e.Rule]
			if row == nil {
				row = &Row{Rule: e.Rule, Tally: Tally{Outcomes: map[verdict.Status]int{}}, Repositories: map[string]*Tally{},
					Models: map[string]*Tally{}}
				rows[e.Rule] = row
			}
			one := c.tally(e)
			if liked != nil {
				r := liked(p.Ref, e.ID)
				one.Liked, one.Disliked = r.Up, r.Down
			}
			row.Findings = append(row.Findings, Fired{p.Ref, e})
			row.add(one)
			named(row.Repositories, p.Repo.String()).add(one)
			named(row.Models, c.foundBy(e)).add(one)
		}
	}
	for _, row := range rows {
		s.Rows = append(s.Rows, *row)
	}
	slices.SortFunc(s.Rows, func(a, b Row) int { return cmp.Or(b.Count-a.Count, cmp.Compare(a.Rule, b.Rule)) })
	return s
}

func named(tallies map[string]*Tally, name string) *Tally {
	if tallies[name] == nil {
		tallies[name] = &Tally{Outcomes: map[verdict.Status]int{}}
	}
	return tallies[name]
}

// tally returns the counts of one finding.
func (c *Chain) tally(e verdict.Entry) Tally {
	t := Tally{Count: 1, Outcomes: map[verdict.Status]int{e.Status: 1}}
	switch {
	case e.Status.Wrong():
		t.Wrong = 1
	case e.Status.Held(), e.Disputes > 0, e.Returns > 0:
		t.Held = 1
	}
	t.Upheld, t.Regressed = min(e.Disputes, 1), min(e.Returns, 1)
	if e.Late {
		t.Late = 1
	}
	for _, r := range c.Rounds {
		if !r.believed() || !r.stood(e) {
			continue
		}
		t.Rounds++
		stood := 0
		for _, other := range r.Record.Ledger {
			if r.stood(other) {
				stood++
			}
		}
		t.CostUSD += r.Record.CostUSD / float64(max(stood, 1))
	}
	return t
}

// foundBy returns the engine and the model of the round that first found an entry.
func (c *Chain) foundBy(e verdict.Entry) string {
	if r, ok := c.first(e); ok {
		return modelOf(r.Record)
	}
	return "not known"
}

func (t *Tally) add(u Tally) {
	t.Count += u.Count
	for status, n := range u.Outcomes {
		t.Outcomes[status] += n
	}
	t.Held += u.Held
	t.Wrong += u.Wrong
	t.Upheld += u.Upheld
	t.Regressed += u.Regressed
	t.Late += u.Late
	t.Liked += u.Liked
	t.Disliked += u.Disliked
	t.Rounds += u.Rounds
	t.CostUSD += u.CostUSD
}

// Write writes the counts for people to read.
func (s RowStats) Write(to io.Writer) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "row\tfindings\theld\twrong\tprecision\tupheld\tregressed\tlate\tthumbs\trounds\tcost\tthey are\n")
	line := func(name string, t Tally) {
		precision := "-"
		if part, ok := t.Precision(); ok {
			precision = fmt.Sprintf("%.0f %%", 100*part)
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%s\t%d\t%d\t%d\t+%d -%d\t%d\t$%.2f\t%s\n", plain(name), t.Count, t.Held, t.Wrong, precision,
			t.Upheld, t.Regressed, t.Late, t.Liked, t.Disliked, t.Rounds, t.CostUSD, Ranked(t.Outcomes, len(t.Outcomes)))
	}
	for _, row := range s.Rows {
		line(row.Rule, row.Tally)
		for _, by := range []map[string]*Tally{row.Repositories, row.Models} {
			if len(by) < 2 {
				continue // it would repeat the line above
			}
			for _, name := range slices.Sorted(maps.Keys(by)) {
				line("  "+name, *by[name])
			}
		}
	}
	if s.Partial {
		fmt.Fprintln(w, "there were more pull requests or reviews than this counts; choose a shorter period")
	}
	return w.Flush()
}
