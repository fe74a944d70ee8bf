package audit

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"touchstone/agent/forge"
	"touchstone/agent/terminal"
	"touchstone/verdict"
)

// Write writes the report for people to read.
func (c Chain) Write(to io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s\n%s\nby %s, opened %s, into %s\n", c.PullRequest, plain(c.Title), c.URL, c.Author, verdict.Stamp(c.CreatedAt),
		plain(c.BaseBranch))
	c.writeConclusion(&b)
	c.section(&b, "Commits", c.writeCommits)
	c.section(&b, "Reviews with a record", c.writeRounds)
	c.section(&b, "Other reviews", c.writeOpinions)
	c.section(&b, "Findings and what became of them", c.writeFindings)
	c.section(&b, "Findings that are not listed, and why", c.writeNotListed)
	c.section(&b, "Held for a person", c.writeHolds)
	c.section(&b, "Orders", c.writeOrders)
	c.section(&b, "Labels", c.writeLabels)
	c.section(&b, "What was taken back, rewritten or interrupted", c.writeIncidents)
	c.section(&b, "Checks of "+verdict.Short(c.Head), c.writeChecks)
	fmt.Fprintf(&b, "\nCost: $%.2f, %d tokens and %s of sessions; rounds that count: %d of %d\n",
		c.CostUSD, c.Tokens, c.Duration.Round(time.Second), c.believedRounds(), len(c.Rounds))
	if c.FixCostUSD > 0 || c.FixDuration > 0 {
		fmt.Fprintf(&b, "The fixes, as their commits say: $%.2f and %s\n", c.FixCostUSD, c.FixDuration.Round(time.Second))
	}
	_, err := io.WriteString(to, b.String())
	return err
}

func (c Chain) writeConclusion(b *strings.Builder) {
	switch {
	case c.Merge != nil:
		b.WriteString("\n")
		proofs(b, c.Merge.Evidence())
	case c.State == "closed":
		b.WriteString("\nNot merged, and closed.\n")
	default:
		b.WriteString("\nNot merged. What blocks the merge:\n")
	}
	if c.Merge == nil {
		list(b, c.Missing)
		for _, a := range c.approvals() {
			proofs(b, a.Evidence())
		}
	}
	if len(c.Warnings) > 0 {
		b.WriteString("\nInconsistencies:\n")
		list(b, c.Warnings)
	}
}

// proofs writes the reasons for a merge or of an approval.
func proofs(b *strings.Builder, all []verdict.Proof) {
	for i, p := range all {
		if p.Lacks && !all[i-1].Lacks {
			b.WriteString("What was missing at the merge:\n")
		}
		text := plain(p.Text)
		switch {
		case p.URL != "":
			text += ": " + p.URL
		case p.Lacks:
			text = "  - " + text
		}
		fmt.Fprintln(b, text)
	}
}

func list(b *strings.Builder, items []string) {
	for _, item := range items {
		fmt.Fprintf(b, "  - %s\n", plain(item))
	}
}

// section writes a table below a heading, or nothing if the table has no rows.
func (c Chain) section(b *strings.Builder, heading string, rows func(row func(cells ...string))) {
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	rows(func(cells ...string) { fmt.Fprintln(w, "  "+strings.Join(cells, "\t")) })
	w.Flush() // writing to memory never fails
	if table.Len() == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s\n", heading)
	for line := range strings.Lines(table.String()) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
}

func (c Chain) writeCommits(row func(...string)) {
	for _, commit := range c.Commits {
		fixes := ""
		if len(commit.Fixes) > 0 {
			fixes = "(fixes " + plain(strings.Join(commit.Fixes, ", ")) + ")"
		}
		for _, dispute := range commit.Disputes {
			fixes += " (disputes " + plain(dispute) + ")"
		}
		row(verdict.Short(commit.SHA), verdict.Stamp(commit.At), plain(commit.By), plain(commit.Subject), fixes)
	}
}

func (c Chain) writeRounds(row func(...string)) {
	for _, r := range c.Rounds {
		counts := "counts"
		if !r.believed() {
			counts = "IGNORED: " + plain(r.Doubt)
		}
		record := r.Record
		row(fmt.Sprintf("round %d", record.Round), verdict.Short(r.SHA)+" on "+verdict.Short(record.Base), verdict.Stamp(r.At), r.By,
			string(record.Verdict),
			"guidelines "+plain(record.Guidelines), plain(record.Engine+" "+record.Model), fmt.Sprintf("$%.2f", record.CostUSD),
			record.Duration.Round(time.Second).String(), fmt.Sprintf("review %d", r.Review), counts)
	}
}

func (c Chain) writeOpinions(row func(...string)) {
	for _, o := range c.Opinions {
		if o.Reply { // a fix posts one reply for each finding
			continue
		}
		rights := "may push"
		if !o.CanPush {
			rights = "may not push"
		}
		if o.Bot {
			rights = "a bot, " + rights
		}
		row(verdict.Short(o.SHA), verdict.Stamp(o.At), o.By, o.State, rights, o.URL)
	}
}

func (c Chain) writeFindings(row func(...string)) {
	for _, f := range c.Findings {
		claim, rounds := plain(f.Claim), fmt.Sprintf("round %d", f.First)
		if f.Last > f.First {
			rounds = fmt.Sprintf("rounds %d to %d", f.First, f.Last)
		}
		if f.Said != nil {
			claim += fmt.Sprintf(" (%s: %s)", plain(f.Said.By), plain(f.Said.Why))
		}
		row(plain(f.ID), string(f.Status), string(f.Severity), string(f.Dimension), plain(f.Rule), plain(verdict.Place(f.Path, f.Line)),
			rounds, claim)
	}
}

// writeNotListed says what became of the findings that a session reported and its review does not list.
func (c Chain) writeNotListed(row func(...string)) {
	for _, r := range c.Rounds {
		if !r.believed() {
			continue
		}
		round := fmt.Sprintf("round %d", r.Record.Round)
		for _, n := range r.Record.NotListed {
			became := "dropped"
			if n.Into != "" {
				became = "merged into " + plain(n.Into)
			}
			row(round, became, plain(string(n.Severity)), plain(n.Rule), plain(verdict.Place(n.Path, n.Line)),
				fmt.Sprintf("%s (%s)", plain(n.Claim), plain(n.Reason)))
		}
		if more := r.Record.Merged + r.Record.Dropped - len(r.Record.NotListed); more > 0 {
			row(round, fmt.Sprintf("%d more, which its record only counts", more))
		}
	}
}

func (c Chain) writeHolds(row func(...string)) {
	for _, h := range c.Holds {
		row(string(h.Kind), plain(h.Rule), plain(verdict.Place(h.Path, h.Line)), plain(h.Detail))
	}
}

func (c Chain) writeOrders(row func(...string)) {
	for _, o := range c.Orders {
		counts := "counts"
		if !o.Counts {
			counts = "IGNORED"
		}
		row(verdict.Stamp(o.At), o.By+" ("+o.May+")", counts, "/touchstone "+o.Verb, plain(o.Finding), plain(o.Reason), o.URL, plain(o.Unclear))
	}
}

func (c Chain) writeLabels(row func(...string)) {
	for _, l := range c.Labels {
		did := "removed"
		if l.Added {
			did = "added"
		}
		row(verdict.Stamp(l.At), l.By, did, plain(l.Label))
	}
}

func (c Chain) writeIncidents(row func(...string)) {
	for _, in := range c.Incidents {
		before, after := plain(in.Before), plain(in.After)
		what := map[forge.IncidentKind]string{
			forge.HeadForcePushed: "force-pushed the head, from " + verdict.Short(before) + " to " + verdict.Short(after),
			forge.BaseForcePushed: "force-pushed the base, from " + verdict.Short(before) + " to " + verdict.Short(after),
			forge.BaseChanged:     "changed the base from " + before + " to " + after,
			forge.ReviewDismissed: fmt.Sprintf("dismissed review %d, which said %s:", in.Review, before),
			forge.CommentDeleted:  "deleted a comment by " + before,
			forge.Closed:          "closed it",
			forge.Reopened:        "reopened it",
		}[in.Kind]
		row(verdict.Stamp(in.At), in.By, what, plain(in.Reason))
	}
}

func (c Chain) writeChecks(row func(...string)) {
	for _, check := range c.Checks {
		required := ""
		if check.Required {
			required = "required"
		}
		row(plain(check.Name), string(check.State), required, plain(check.URL))
	}
}

func (c Chain) believedRounds() int {
	return len(slices.DeleteFunc(slices.Clone(c.Rounds), func(r Round) bool { return !r.believed() }))
}

// plain puts foreign text on one terminal line: the text can neither move the cursor nor change the writing
// direction.
func plain(text string) string { return terminal.Plain(verdict.OneLine(text)) }
