package learn

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"touchstone/agent/audit"
	"touchstone/agent/engine"
	"touchstone/agent/reviewer"
	"touchstone/agent/terminal"
	"touchstone/guidelines"
	"touchstone/verdict"
)

const (
	// leastKnown is how many findings of a row must be known to be right or wrong before a change of the row
	// is drafted: fewer are chance.
	leastKnown = 5
	// mostShown bounds the findings shown to the session.
	mostShown = 40
)

// Suggestion is the draft of a changed row, for a person. Its JSON is for other programs: names stay, new
// ones may be added.
type Suggestion struct {
	Rule string `json:"rule"`
	// Tally counts the outcomes of the row's findings.
	Tally audit.Tally `json:"tally"`
	// File is the document that the draft changes, Diff the change as a unified diff that git applies, and
	// Reason the session's reason.
	File   string `json:"file"`
	Diff   string `json:"diff"`
	Reason string `json:"reason"`
	// Rejected lists what is wrong with the draft; empty if nothing is.
	Rejected []string `json:"rejected"`
	// Written says that the file was changed.
	Written bool    `json:"written"`
	CostUSD float64 `json:"cost_usd"`

	// After is the text of the document with the draft applied.
	After string `json:"-"`
}

// Choose picks the row to reword: the named row, or the one with the most wrong findings. If there is none,
// why says so in a sentence: too little is known, or most of its findings held.
func Choose(rows []audit.Row, rule string) (row audit.Row, why string) {
	due := func(r audit.Row) bool { return r.Held+r.Wrong >= leastKnown && r.Wrong > r.Held }
	if rule == "" {
		rows = slices.DeleteFunc(slices.Clone(rows), func(r audit.Row) bool { return !due(r) })
		if len(rows) == 0 {
			return row, fmt.Sprintf("No row has at least %d findings of which it is known whether they held, with most of them wrong: "+
				"there is nothing to suggest. Look farther back with --since, or see guidelines stats.", leastKnown)
		}
		return slices.MaxFunc(rows, func(a, b audit.Row) int { return cmp.Or(a.Wrong-b.Wrong, cmp.Compare(b.Rule, a.Rule)) }), ""
	}
	i := slices.IndexFunc(rows, func(r audit.Row) bool { return r.Rule == rule })
	switch {
	case i < 0:
		return row, fmt.Sprintf("%s has no findings in this period: there is nothing to learn from.", rule)
	case rows[i].Held+rows[i].Wrong < leastKnown:
		return row, fmt.Sprintf("Of %s, only for %s is it known whether they held; a draft needs %d. Look farther back with --since.",
			rule, verdict.Amount(rows[i].Held+rows[i].Wrong, "finding", "findings"), leastKnown)
	case !due(rows[i]):
		return row, fmt.Sprintf("Of the findings of %s %d held and %d were wrong: there is no reason to change it.",
			rule, rows[i].Held, rows[i].Wrong)
	}
	return rows[i], ""
}

// Drafter drafts changes of rows, each in its own session.
type Drafter struct {
	Engine engine.Engine
	// Request is how a session is opened; the drafter sets its instructions.
	Request engine.Request
	// Base are the guidelines below the documents of Dir; Texts are the texts of these documents, by name.
	Base  guidelines.Set
	Dir   string
	Texts map[string]string
}

// Draft has a session reword a row. An *engine.Error means that the session did not finish. If the draft
// cannot be used, the suggestion says what is wrong with it.
func (d Drafter) Draft(ctx context.Context, row audit.Row) (Suggestion, error) {
	s := Suggestion{Rule: row.Rule, Tally: row.Tally, Rejected: []string{}}
	laid, _ := d.Base.Lint(d.Texts)
	law, ok := laid.Row(row.Rule)
	if !ok {
		return s, fmt.Errorf("the findings cite %s, but the guidelines here have no such row: name the directory that has it with --dir",
			row.Rule)
	}
	req, nonce := d.Request, rand.Text()
	req.Role, req.Instructions = engine.Reviewer, guidelines.DrafterInstructions()
	session, err := d.Engine.Open(ctx, req)
	if err != nil {
		return s, err
	}
	result, err := session.Ask(ctx, ask(law, row, nonce))
	err = cmp.Or(err, session.Close())
	s.CostUSD = result.CostUSD
	if err != nil {
		return s, err
	}
	draft, err := verdict.ReadDraft(result.Text, nonce)
	if err != nil {
		s.Rejected = append(s.Rejected, "the session gave no draft: "+err.Error())
		return s, nil
	}
	return s, d.lay(&s, draft)
}

// lay applies a draft to the documents, and records what is wrong with the result.
func (d Drafter) lay(s *Suggestion, draft verdict.Draft) error {
	edit, err := d.Base.Reword(d.Texts, s.Rule, draft.Severity, draft.Scope, draft.Criterion)
	if err != nil {
		return err
	}
	s.Reason, s.After = draft.Reason, edit.After
	s.File = filepath.Join(d.Dir, edit.Name+".md")
	before, after := "a/"+filepath.ToSlash(s.File), "b/"+filepath.ToSlash(s.File)
	if edit.Before == "" {
		before = "/dev/null"
	}
	s.Diff = string(diff.Diff(before, []byte(edit.Before), after, []byte(edit.After)))
	if s.Diff == "" {
		s.Rejected = append(s.Rejected, "the draft changes nothing")
	}
	for _, p := range edit.Problems {
		s.Rejected = append(s.Rejected, fmt.Sprintf("%s:%d: %s", s.File, p.Line, p.Text))
	}
	return nil
}

// ask returns the prompt of a draft: the row, the outcomes of its findings, and the findings themselves.
func ask(law guidelines.Row, row audit.Row, nonce string) string {
	var b strings.Builder
	said := fmt.Sprintf("severity: %s\nscope: %s\ncriterion: %s", law.Severity, law.Scope, law.Criterion)
	fmt.Fprintf(&b, "# The row to reword\n%s", reviewer.Quote(reviewer.Passage{What: law.ID, Text: said}))
	fmt.Fprintf(&b, "\n# What became of its findings\n\n%s\n", numbers(row.Tally))
	findings := slices.Clone(row.Findings)
	wrong := func(f audit.Fired) int {
		if f.Entry.Status.Wrong() {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(findings, func(a, b audit.Fired) int { return wrong(a) - wrong(b) })
	var shown []reviewer.Passage
	for _, f := range findings[:min(len(findings), mostShown)] {
		shown = append(shown, passage(f))
	}
	fmt.Fprintf(&b, "\n# The findings\n%s", reviewer.Quote(shown...))
	if more := len(findings) - len(shown); more > 0 {
		fmt.Fprintf(&b, "\n%s not shown.\n", verdict.Amount(more, "more is", "more are"))
	}
	fmt.Fprintf(&b, "\n# The closing line\n\nThe last line of your answer, with nothing after it, is this one:\n%s\n", verdict.RunLine(nonce))
	return b.String()
}

// passage formats a finding with its outcome.
func passage(f audit.Fired) reviewer.Passage {
	e := f.Entry
	text := fmt.Sprintf("%s, %s, in %s\nclaim: %s\ncode: %s", e.Status, e.Severity, f.Pull.Repo, e.Claim, e.Code)
	if e.Refutation != "" {
		text += fmt.Sprintf("\n%s, because: %s", e.Check, e.Refutation)
	}
	if e.Said != nil {
		text += fmt.Sprintf("\nsaid against it: %s", e.Said.Why)
	}
	return reviewer.Passage{What: "finding at " + verdict.Place(e.Path, e.Line), Text: text}
}

// numbers describes the outcomes of a row's findings.
func numbers(t audit.Tally) string {
	part, _ := t.Precision()
	return fmt.Sprintf("%s: %d held, %d were wrong (%s), of the rest nothing is known: precision %.0f %%.",
		verdict.Amount(t.Count, "finding", "findings"), t.Held, t.Wrong, fates(t.Outcomes), 100*part)
}

// Write writes the suggestion for people.
func (s Suggestion) Write(to io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", terminal.Plain(s.Rule), numbers(s.Tally))
	if s.Reason != "" {
		fmt.Fprintf(&b, "Why: %s\n", terminal.Plain(s.Reason))
	}
	if s.Diff != "" {
		b.WriteString("\n")
		for line := range strings.Lines(s.Diff) {
			b.WriteString(terminal.Plain(strings.TrimRight(line, "\r\n")) + "\n")
		}
		b.WriteString("\n")
	}
	for _, why := range s.Rejected {
		fmt.Fprintf(&b, "Rejected: %s\n", terminal.Plain(why))
	}
	switch {
	case s.Written:
		fmt.Fprintf(&b, "Written to %s; the session cost $%.2f.\n", s.File, s.CostUSD)
	case len(s.Rejected) == 0:
		fmt.Fprintf(&b, "Nothing is written; add --write to write it, and guidelines replay to try it. The session cost $%.2f.\n", s.CostUSD)
	}
	_, err := io.WriteString(to, b.String())
	return err
}
