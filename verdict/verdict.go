// Package verdict owns what a review says: findings and their severities, the model's answer and its markers,
// the checks that the answer must pass, holds, people's orders, the ledger of findings over the rounds of one
// pull request, and the record in a posted review. It reads text and values and does no I/O. Package
// verdict/decide decides what follows from a pull request's state.
package verdict

import (
	"fmt"
	"slices"
	"strings"
)

// Verdict is the outcome of a finished review. There are only these two values; an unfinished session has no
// verdict at all.
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

// Blocks reports whether a finding of this severity blocks an approval. All but a nit do, including unknown
// severities.
func (s Severity) Blocks() bool { return s != Nit }

// Rank orders severities: 0 is the worst. An unknown severity ranks with the worst, so that a typo never
// makes a finding milder.
func (s Severity) Rank() int { return max(0, slices.Index(Severities(), s)) }

// Dimension is one of the aspects that a review walks, in order.
type Dimension string

// The dimensions in walking order: it begins with what depends on what and ends with what keeps coming back.
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

// Dimensions lists the dimensions in walking order. Everything that names them all, such as the prompt and
// the guidelines' order, reads this list. A new dimension is an entry here and a document in guidelines/docs
// with its tag.
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

// dimension finds the dimension that a model meant, in any case, with or without brackets.
func dimension(name string) (Dimension, bool) {
	name = strings.Trim(strings.TrimSpace(name), "[]")
	for _, d := range Dimensions() {
		if strings.EqualFold(string(d), name) {
			return d, true
		}
	}
	return "", false
}

// Finding is one defect that a review names.
type Finding struct {
	// ID identifies the finding over the rounds of one pull request. A session gives an id only to say which
	// earlier finding it found again.
	ID        string    `json:"id,omitempty"`
	Dimension Dimension `json:"dimension"`
	Severity  Severity  `json:"severity"`
	// Rule is the guideline row that the finding cites, such as "security/S3".
	Rule string `json:"rule"`
	// Path is relative to the repository's root, with forward slashes.
	Path string `json:"path"`
	// StartLine and Line are 1-based lines of the file at the head. For a single line, StartLine is 0 or
	// equal to Line. Line is 0 for a finding about the whole file.
	StartLine int `json:"start_line,omitempty"`
	Line      int `json:"line,omitempty"`
	// Quote is the code that the finding is about, as it stands at the head.
	Quote string `json:"quote,omitempty"`
	// Claim says what is wrong. Why says what harm it does.
	Claim string `json:"claim"`
	Why   string `json:"why,omitempty"`
	// Suggestion is a diff or a replacement for the quoted lines.
	Suggestion string `json:"suggestion,omitempty"`
	// Verify says how to check that the finding is gone.
	Verify string `json:"verify,omitempty"`
	// Evidence are the ids of the suspicions by code that the finding confirms.
	Evidence []string `json:"evidence,omitempty"`

	// Text names the pull request's own text that the finding is about, such as TitleText; else it is empty.
	Text string `json:"-"`
	// Was is the milder severity that the session gave, if it was raised.
	Was Severity `json:"-"`
	// Late says that an earlier round could have seen this code and did not report the finding. Tolerated
	// says that the finding does not block although its severity would.
	Late      bool `json:"-"`
	Tolerated bool `json:"-"`
	// Check is the result of asking another session to refute the finding; empty if none was asked. If that
	// session lowered it, From is the severity before, and Reach says why it is small.
	Check Checked  `json:"-"`
	From  Severity `json:"-"`
	Reach string   `json:"-"`
	// Kept says, as a sentence fragment, why code keeps a finding of an earlier round that the session did
	// not find again. It is empty for the session's own findings.
	Kept string `json:"-"`
}

// Blocks reports whether the finding stands against an approval.
func (f Finding) Blocks() bool { return f.Severity.Blocks() && !f.Tolerated }

// Place says for people where a finding or a hold is: a path and a line. Line 0 is the whole file, and no
// path is the change as a whole.
func Place(path string, line int) string {
	switch {
	case path == "":
		return "the change as a whole"
	case line == 0:
		return path
	}
	return fmt.Sprintf("%s:%d", path, line)
}

// Place says for people where the finding is.
func (f Finding) Place() string {
	if f.Text != "" {
		return "the " + f.Text
	}
	return Place(f.Path, f.Line)
}

// Counts are the numbers of findings by severity in words, the worst first: "1 critical", "2 major".
func Counts(findings map[Severity]int) (parts []string) {
	for _, s := range Severities() {
		if n := findings[s]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, s))
		}
	}
	return parts
}

// Sum summarizes a judgement in a few words: the number of findings of each severity, and what else stands
// against an approval.
func (j Judgement) Sum() string {
	count := map[Severity]int{}
	for _, f := range j.Answer.Findings {
		count[f.Severity]++
	}
	parts := Counts(count)
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
