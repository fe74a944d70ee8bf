// Package verdict owns what a review says: findings
// and their severities, the model's answer, the markers in it and what of it is
// believed, what is held for a person and the orders that people give, the ledger
// of findings over the rounds of one pull request, the record that a posted review
// carries. It reads text and values and does no I/O; what follows from a pull
// request's state is decided in verdict/decide.
package verdict

import (
	"fmt"
	"strings"
)

// Verdict is the outcome of a finished review. There is nothing between the
// two values; a session that did not finish has no verdict at all.
type Verdict string

// The two verdicts, spelled as in the marker and in GitHub's review events.
const (
	Approve        Verdict = "APPROVE"
	RequestChanges Verdict = "REQUEST_CHANGES"
)

func (v Verdict) valid() bool { return v == Approve || v == RequestChanges }

// Severity ranks a finding. The zero value is not a severity.
type Severity string

// The severities, from worst to mildest. All but nit block an approval.
const (
	Critical Severity = "critical"
	Major    Severity = "major"
	Minor    Severity = "minor"
	Nit      Severity = "nit"
)

// Severities lists the severities from worst to mildest.
func Severities() []Severity { return []Severity{Critical, Major, Minor, Nit} }

// Blocks reports whether a finding of this severity stands against an
// approval. Everything but a nit does, an unknown severity included.
func (s Severity) Blocks() bool { return s != Nit }

// Rank orders severities: 0 is the worst. An unknown severity ranks with the
// worst, so that a typo can never make a finding milder.
func (s Severity) Rank() int {
	for i, known := range Severities() {
		if s == known {
			return i
		}
	}
	return 0
}

// Dimension is one of the aspects that a review walks, in order.
type Dimension string

// The dimensions in the order in which they are walked: what touches
// what comes first, what keeps coming back comes last.
const (
	Graph         Dimension = "Graph"
	Architecture  Dimension = "Architecture"
	Security      Dimension = "Security"
	Test          Dimension = "Test"
	Doc           Dimension = "Doc"
	Impact        Dimension = "Impact"
	Observability Dimension = "Observability"
	AIAntipattern Dimension = "AI-Antipattern"
	Recurrence    Dimension = "Recurrence"
)

// Dimensions lists the dimensions in walking order. What names them all, from the prompt to the
// order of the guidelines, reads this list: a new one is an entry here and a document in
// guidelines/docs that has it as its tag.
func Dimensions() []Dimension {
	return []Dimension{Graph, Architecture, Security, Test, Doc, Impact, Observability, AIAntipattern, Recurrence}
}

// Headings lists the headings of a review, one for each dimension.
func Headings() string {
	var all []string
	for _, d := range Dimensions() {
		all = append(all, "## ["+string(d)+"]")
	}
	return strings.Join(all, ", ")
}

// dimension finds the dimension that a model meant, in any case and with or without the
// brackets of the tag.
func dimension(name string) (Dimension, bool) {
	name = strings.Trim(strings.TrimSpace(name), "[]")
	for _, d := range Dimensions() {
		if strings.EqualFold(string(d), name) {
			return d, true
		}
	}
	return "", false
}

// Finding is one thing that a review holds against a change.
type Finding struct {
	// ID names it over the rounds of one pull request. A session gives it only to
	// say which earlier finding it has found again.
	ID        string    `json:"id,omitempty"`
	Dimension Dimension `json:"dimension"`
	Severity  Severity  `json:"severity"`
	// Rule is the guideline row that the finding cites, such as "security/S3".
	Rule string `json:"rule"`
	// Path is relative to the repository's root, with forward slashes.
	Path string `json:"path"`
	// StartLine and Line are 1-based lines of the file at the head. StartLine is
	// 0 or equal to Line for a single line; Line is 0 for a finding about the
	// whole file.
	StartLine int `json:"start_line,omitempty"`
	Line      int `json:"line,omitempty"`
	// Quote is the code that the finding is about, as it stands at the head.
	Quote string `json:"quote,omitempty"`
	// Claim says what is wrong, Why what it costs.
	Claim string `json:"claim"`
	Why   string `json:"why,omitempty"`
	// Suggestion is a diff or a replacement for the quoted lines.
	Suggestion string `json:"suggestion,omitempty"`
	// Verify says how one can tell that the finding is gone.
	Verify string `json:"verify,omitempty"`
	// Evidence are the ids of what code suspected and the finding confirms.
	Evidence []string `json:"evidence,omitempty"`

	// Text names what the pull request says of itself that the finding is about, such as TitleText; empty
	// for any other.
	Text string `json:"-"`
	// Was is the milder severity that the session gave it, empty if none.
	Was Severity `json:"-"`
	// Late says that its code was there for an earlier round to see, which did not
	// find it; Tolerated, that it does not block although its severity would.
	Late      bool `json:"-"`
	Tolerated bool `json:"-"`
	// Check is what came of having another session refute it; empty where none was asked to.
	// Where that lowered it, From is what it was before, and Reach says why it is small.
	Check Checked  `json:"-"`
	From  Severity `json:"-"`
	Reach string   `json:"-"`
	// Kept says, as a sentence part, why code has a finding of an earlier round stand
	// that the session did not find again; empty for what it found.
	Kept string `json:"-"`
}

// Blocks reports whether the finding stands against an approval.
func (f Finding) Blocks() bool { return f.Severity.Blocks() && !f.Tolerated }

// Place is where a finding or a hold is, for people: a path and a line, of which line 0
// is all of the file and no path the change as a whole.
func Place(path string, line int) string {
	switch {
	case path == "":
		return "the change as a whole"
	case line == 0:
		return path
	}
	return fmt.Sprintf("%s:%d", path, line)
}

// Place is where the finding is, for people.
func (f Finding) Place() string {
	if f.Text != "" {
		return "the " + f.Text
	}
	return Place(f.Path, f.Line)
}

// Sum says in a few words what a judgement comes to: how many findings of each severity,
// and what else speaks against an approval.
func (j Judgement) Sum() string {
	count := map[Severity]int{}
	for _, f := range j.Answer.Findings {
		count[f.Severity]++
	}
	var parts []string
	for _, s := range Severities() {
		if n := count[s]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, s))
		}
	}
	if n := len(j.Holds); n > 0 {
		parts = append(parts, fmt.Sprintf("%d for a person to decide", n))
	}
	switch {
	case len(parts) > 0:
		return strings.Join(parts, ", ")
	case j.Verdict == Approve:
		return "nothing found"
	}
	return "no finding, but the review is not complete"
}
