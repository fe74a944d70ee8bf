package learn

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"touchstone/agent/audit"
	"touchstone/agent/terminal"
	"touchstone/verdict"
)

// Change says how a finding of a replayed round relates to the recorded findings.
type Change string

const (
	Stays    Change = "stays"
	Appears  Change = "appears"
	Vanishes Change = "vanishes"
)

// Finding is a finding of a round when it was recorded, when it was replayed, or both times.
type Finding struct {
	Pull   string `json:"pull"` // owner/name#number
	Round  int    `json:"round"`
	Change Change `json:"change"`
	// Became is the status of the finding when it was last seen; empty for a finding that appears.
	Became   verdict.Status   `json:"became,omitempty"`
	Rule     string           `json:"rule"`
	Severity verdict.Severity `json:"severity"`
	Path     string           `json:"path"`
	Line     int              `json:"line"`
	Claim    string           `json:"claim"`
}

// Effect is the effect of changed guidelines on the findings of one rule. Stayed and Vanished count the
// findings by their last status.
type Effect struct {
	Rule     string                 `json:"rule"`
	Stay     int                    `json:"stay"`
	Appear   int                    `json:"appear"`
	Vanish   int                    `json:"vanish"`
	Stayed   map[verdict.Status]int `json:"stayed"`
	Vanished map[verdict.Status]int `json:"vanished"`
}

// compare lists the findings of a round from when it was recorded and from now. A finding that a second
// session refuted counts both times: the row applied.
func compare(round Round, now verdict.Record) (all []Finding) {
	one := func(e verdict.Entry, change Change, became verdict.Status) {
		all = append(all, Finding{
			Pull: round.Pull.Ref.String(), Round: round.Record.Round, Change: change, Became: became,
			Rule: e.Rule, Severity: e.Severity, Path: e.Path, Line: e.Line, Claim: e.Claim,
		})
	}
	again := make([]bool, len(now.Ledger))
	find := func(was verdict.Entry) int {
		for i, e := range now.Ledger {
			if !again[i] && was.SameAs(e) {
				return i
			}
		}
		return -1
	}
	for _, was := range round.Record.Ledger {
		i := find(was)
		switch {
		case i >= 0:
			again[i] = true
			one(now.Ledger[i], Stays, round.became(was))
		case was.Last == round.Record.Round || was.Stands():
			one(was, Vanishes, round.became(was))
		}
	}
	for i, e := range now.Ledger {
		if !again[i] {
			one(e, Appears, "")
		}
	}
	return all
}

// became returns the status of the round's finding when it was last seen.
func (r Round) became(e verdict.Entry) verdict.Status {
	if last := r.Last.ByID(e.ID); last != nil {
		return last.Status
	}
	return e.Status
}

// effects counts findings by rule; rules with the most appearing or vanishing findings come first.
func effects(findings []Finding) []Effect {
	rules := map[string]*Effect{}
	for _, f := range findings {
		e := rules[f.Rule]
		if e == nil {
			e = &Effect{Rule: f.Rule, Stayed: map[verdict.Status]int{}, Vanished: map[verdict.Status]int{}}
			rules[f.Rule] = e
		}
		switch f.Change {
		case Stays:
			e.Stay++
			e.Stayed[f.Became]++
		case Vanishes:
			e.Vanish++
			e.Vanished[f.Became]++
		default:
			e.Appear++
		}
	}
	all := []Effect{}
	for _, e := range rules {
		all = append(all, *e)
	}
	slices.SortFunc(all, func(a, b Effect) int {
		return cmp.Or(b.Vanish+b.Appear-a.Vanish-a.Appear, b.Stay-a.Stay, cmp.Compare(a.Rule, b.Rule))
	})
	return all
}

// Write writes the replay for people.
func (r Replay) Write(to io.Writer) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "%d of %s replayed for $%.2f of $%.2f, recorded at $%.2f\n", r.Replayed,
		verdict.Amount(r.Planned, "round", "rounds"), r.CostUSD, r.BudgetUSD, r.RecordedUSD)
	if r.Same > 0 {
		fmt.Fprintf(w, "%s judged by exactly these guidelines before: there, differences only show how much the model varies\n",
			verdict.Amount(r.Same, "round was", "rounds were"))
	}
	if r.Gone > 0 {
		fmt.Fprintf(w, "%s not replayed, since the commits are gone\n", verdict.Amount(r.Gone, "round was", "rounds were"))
	}
	if r.Left > 0 {
		why := ""
		if r.BudgetUSD-r.CostUSD < leastBudget {
			why = ": give a larger --budget for them"
		}
		fmt.Fprintf(w, "%s not started%s\n", verdict.Amount(r.Left, "round was", "rounds were"), why)
	}
	for _, f := range r.Failed {
		fmt.Fprintf(w, "%s round %d gave no review: %s\n", f.Pull, f.Round, terminal.Plain(f.Reason))
	}
	if len(r.Rules) == 0 {
		fmt.Fprintln(w, "nothing was found, neither then nor now")
		return w.Flush()
	}
	fmt.Fprintf(w, "\nrule\tstay\tappear\tvanish\twhat stays had become\twhat vanishes had become\n")
	for _, e := range r.Rules {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%s\t%s\n", terminal.Plain(e.Rule), e.Stay, e.Appear, e.Vanish, fates(e.Stayed), fates(e.Vanished))
	}
	for _, change := range []Change{Vanishes, Appears, Stays} {
		for _, f := range r.Findings {
			if f.Change == change {
				fmt.Fprint(w, f.line())
			}
		}
	}
	return w.Flush()
}

// fates lists how many findings had each status, the largest number first.
func fates(of map[verdict.Status]int) string { return cmp.Or(audit.Ranked(of, len(of)), "-") }

// line formats a finding on two lines.
func (f Finding) line() string {
	became := ""
	if f.Became != "" {
		became = ", had become " + string(f.Became)
	}
	said := fmt.Sprintf("%s: %s round %d, %s %s at %s%s", f.Change, f.Pull, f.Round, f.Severity, f.Rule, verdict.Place(f.Path, f.Line), became)
	return terminal.Plain(said) + "\n  " + terminal.Plain(f.Claim) + "\n"
}
