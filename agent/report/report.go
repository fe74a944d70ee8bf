// Package report prints the results of a review or of the guard that are not posted: for people, for
// programs, as SARIF and as annotations of a workflow.
package report

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"touchstone/agent/reviewer"
	"touchstone/agent/terminal"
	"touchstone/verdict"
)

// Review is a review that is printed instead of posted.
type Review struct {
	// Subject says what was reviewed, and against what.
	Subject string
	// Judgement is the result of the review; Record is its stored form.
	Judgement verdict.Judgement
	Record    verdict.Record
	// LeftOut are the changed files that were not shown to the session.
	LeftOut []leftOut
	// First is a changed file. Results about the change as a whole are shown there if a place is needed. It
	// is empty if there is none.
	First string
	// Markdown is the review as it would be posted, its comments included.
	Markdown string
}

// New makes a report of a review as it would be posted.
func New(subject string, o reviewer.Outcome) Review {
	r := Review{Subject: subject, Judgement: o.Judgement, Record: o.Record}
	if o.Carried {
		r.Judgement.Answer.Summary = "Carried over from the last approval: merging this head makes the same changes, file for file. No model " +
			"was run."
	}
	for _, f := range o.Change.Files {
		r.First = cmp.Or(r.First, f.Path)
	}
	for _, f := range o.Change.LeftOut {
		r.First = cmp.Or(r.First, f.Path)
		r.LeftOut = append(r.LeftOut, leftOut{f.Path, f.Reason})
	}
	parts := []string{verdict.WithoutRecord(o.Review.Body)}
	for _, c := range o.Review.Comments {
		parts = append(parts, fmt.Sprintf("---\n`%s`\n\n%s", verdict.Place(c.Path, c.Line), c.Body))
	}
	r.Markdown = strings.Join(append(parts, o.More...), "\n\n")
	return r
}

type leftOut struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// Formats are the formats of a report.
var Formats = map[string]func(Review, io.Writer) error{
	"text": Review.text, "json": Review.json, "sarif": Review.SARIF, "markdown": Review.markdown,
}

func (r Review) markdown(out io.Writer) error {
	_, err := fmt.Fprintln(out, strings.TrimSpace(r.Markdown))
	return err
}

// json is for programs: keys are added but never removed.
func (r Review) json(out io.Writer) error {
	record := r.Record
	record.Ledger = List(record.Ledger)
	return PrintJSON(out, struct {
		Subject    string              `json:"subject"`
		Verdict    verdict.Verdict     `json:"verdict"`
		Summary    string              `json:"summary"`
		Findings   []verdict.Finding   `json:"findings"`
		Holds      []verdict.Hold      `json:"holds"`
		Evidence   []verdict.Evidence  `json:"evidence"`
		Doubts     []string            `json:"doubts"`
		Dropped    int                 `json:"dropped"`
		NotListed  []verdict.NotListed `json:"not_listed"`
		Candidates []verdict.Candidate `json:"candidates"`
		Dimensions []verdict.Examined  `json:"dimensions"`
		LeftOut    []leftOut           `json:"left_out"`
		Record     verdict.Record      `json:"record"`
	}{
		r.Subject, r.Judgement.Verdict, r.Judgement.Answer.Summary, List(r.Findings()), List(r.Judgement.Holds), List(r.Judgement.Evidence),
		List(r.Judgement.Doubts),
		len(r.Judgement.Dropped), List(r.notListed()), List(r.Judgement.Answer.Candidates),
		List(r.Judgement.Answer.Dimensions), List(r.LeftOut), record,
	})
}

// notListed returns the findings that were merged into others, those that were dropped, and those that
// another session refuted.
func (r Review) notListed() []verdict.NotListed {
	all := r.Judgement.NotListed()
	for _, o := range r.Judgement.Overruled {
		all = append(all, verdict.AsNotListed(o.Finding, "refuted: "+o.Check.Reason, ""))
	}
	return all
}

// List returns a list that is encoded as a list even when it is empty.
func List[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}

// Findings returns the review's findings, the worst first.
func (r Review) Findings() []verdict.Finding {
	findings := slices.Clone(r.Judgement.Answer.Findings)
	slices.SortStableFunc(findings, func(a, b verdict.Finding) int {
		return cmp.Or(a.Severity.Rank()-b.Severity.Rank(), cmp.Compare(a.Path, b.Path), a.Line-b.Line)
	})
	return findings
}

// text is for people at a terminal.
func (r Review) text(out io.Writer) error {
	p := printer{colour: terminal.Is(out) && os.Getenv("NO_COLOR") == ""}
	p.line("", "Review of %s", r.Subject)
	p.paragraph("", r.Judgement.Answer.Summary)
	for _, f := range r.Findings() {
		p.finding(f)
	}
	for _, h := range r.Judgement.Holds {
		p.line("", "")
		p.line(p.shade("held", verdict.Critical)+"  ", "%s", verdict.Place(h.Path, h.Line))
		p.paragraph("  ", h.Detail)
	}
	for _, e := range r.Judgement.Evidence {
		if e.Finding == "" {
			p.line("", "")
			p.line("suspected  ", "%s", verdict.Place(e.Path, e.Line))
			p.paragraph("  ", e.Detail)
			p.paragraph("  answer: ", cmp.Or(e.Refuted, "none, so it is unreviewed"))
		}
	}
	for _, d := range r.Judgement.Doubts {
		p.line("", "")
		p.paragraph("! ", d)
	}
	for _, n := range r.notListed() {
		lead := "dropped: "
		if n.Into != "" {
			lead = "merged: "
		}
		p.line("", "")
		p.paragraph(lead, fmt.Sprintf("%s (%s)", cmp.Or(strings.TrimSpace(n.Claim), "a finding"), n.Reason))
	}
	for _, c := range r.Judgement.Answer.Candidates {
		p.line("", "")
		p.line("refuted  ", "%s  %s", verdict.Place(c.Path, c.Line), c.Rule)
		p.paragraph("  ", c.Claim)
		p.paragraph("  because: ", c.Reason)
	}
	if len(r.LeftOut) > 0 {
		p.line("", "")
	}
	for _, l := range r.LeftOut {
		p.line("not read: ", "%s (%s)", l.Path, l.Reason)
	}
	p.line("", "")
	p.line("", "%s", r.conclusion())
	p.line("", "%s", r.footer())
	_, err := io.WriteString(out, p.text.String())
	return err
}

// conclusion returns the verdict in a sentence.
func (r Review) conclusion() string {
	word := "Approved"
	if r.Judgement.Verdict != verdict.Approve {
		word = "Changes requested"
	}
	return word + ": " + r.Judgement.Sum()
}

// footer says what the review covered and how much it used.
func (r Review) footer() string {
	rec := r.Record
	parts := []string{
		verdict.Amount(len(r.Judgement.Answer.Dimensions), "dimension", "dimensions"),
		fmt.Sprintf("%d of %s", rec.Coverage.Examined, verdict.Amount(rec.Coverage.Files, "file", "files")),
	}
	if rec.Tier != "" {
		parts = append(parts, "tier "+rec.Tier)
	}
	if rec.CostUSD > 0 {
		parts = append(parts, fmt.Sprintf("$%.2f", rec.CostUSD))
	}
	parts = append(parts, rec.Duration.Round(100*time.Millisecond).String()+" of sessions", strings.TrimSpace(rec.Engine+" "+rec.Model),
		"guidelines "+rec.Guidelines)
	return strings.Join(parts, ", ")
}

// printer writes lines for a terminal. Text from a change or a model cannot control the terminal.
type printer struct {
	text   strings.Builder
	colour bool
}

// line writes a line: lead unchanged, the rest with control characters made harmless.
func (p *printer) line(lead, format string, args ...any) {
	fmt.Fprintf(&p.text, "%s%s\n", lead, terminal.Plain(fmt.Sprintf(format, args...)))
}

// paragraph writes the lines of a text, the first after lead and the others indented below it.
func (p *printer) paragraph(lead, text string) {
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		p.line(lead, "%s", strings.TrimRight(line, " \r\t"))
		lead = strings.Repeat(" ", len(lead))
	}
}

func (p *printer) finding(f verdict.Finding) {
	p.line("", "")
	p.line(p.shade(string(f.Severity), f.Severity)+"  ", "%s  [%s] %s", verdict.Place(f.Path, f.Line), f.Dimension, f.Rule)
	p.paragraph("  ", f.Claim)
	for _, part := range []struct{ name, text string }{{"why", f.Why}, {"verify", f.Verify}} {
		if strings.TrimSpace(part.text) != "" {
			p.paragraph("  "+part.name+": ", part.text)
		}
	}
	for _, part := range []struct{ name, text string }{{"code", f.Quote}, {"fix", f.Suggestion}} {
		if text := strings.Trim(part.text, "\r\n"); text != "" {
			p.line("  ", "%s:", part.name)
			for line := range strings.SplitSeq(text, "\n") {
				// A tab would shrink to one space and the code would lose its layout.
				p.line("    ", "%s", strings.ReplaceAll(strings.TrimRight(line, "\r"), "\t", "    "))
			}
		}
	}
}

// shade colours a word by its severity (https://ecma-international.org/publications-and-standards/standards/ecma-48/).
func (p *printer) shade(word string, s verdict.Severity) string {
	if !p.colour {
		return word
	}
	code := map[verdict.Severity]string{verdict.Critical: "1;31", verdict.Major: "31", verdict.Minor: "33", verdict.Nit: "36"}[s]
	return "\x1b[" + code + "m" + word + "\x1b[0m"
}
