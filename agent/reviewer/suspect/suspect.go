// Package suspect finds, in code and without a model, where a change speaks to
// the machine that reviews it instead of to its readers: text that is hidden, and
// text that gives a reviewing model orders, imitates the product's own markers or
// asks for secrets. It owns the knowledge of how such texts look; it reads values
// and does no I/O. The rule behind it is row S14 of the security guideline.
//
// No list of patterns finds every sentence that could sway a model. What is found
// never depends on a model's judgement, and a person has to look at it. What is
// not found still meets the model's own instructions, the judgement of its answer
// and the other checks in code.
//
// A change that speaks of prompts, reviews and verdicts is not suspect for that;
// one that spells such orders out, in a test for instance, is, since a model reads
// them all the same.
package suspect

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"touchstone/agent/reviewer/hidden"
	"touchstone/verdict"
)

// Form says how a text reaches its readers.
type Form int

// The forms of texts.
const (
	// Name is a title, the name of a branch or of a file.
	Name Form = iota
	// Prose is a commit message.
	Prose
	// Markdown is rendered by GitHub: a description, a comment, an issue.
	Markdown
	// Code is the text of a file.
	Code
	// Output is what a program printed: the log of a check.
	Output
)

// Text is one text that somebody else wrote.
type Text struct {
	Form Form
	// What names the text for people, such as "the description".
	What string
	// Path is the file that a text is from, and Line its first line there, from 1.
	Path string
	Line int
	Text string
}

const (
	// MaxHolds bounds the holds of one change. One more says that there were others.
	MaxHolds = 50
	// maxDetail bounds Hold.Detail, in bytes.
	maxDetail = 300
	rule      = "security/S14"
)

// Holds are the reasons why a person has to look at a change with these texts,
// one at most for each kind and line. Known texts are those of the base branch
// that a description may repeat, such as a template with comments.
func Holds(texts []Text, known ...string) []verdict.Hold {
	var holds []verdict.Hold
	for _, t := range texts {
		t.Text = ownMark.ReplaceAllString(t.Text, "")
		for _, p := range t.hidden(known) {
			holds = append(holds, t.hold(verdict.HiddenText, p.Line, fmt.Sprintf("%s holds hidden text (%s): %s", t.what(), p.Kind, p.Text)))
		}
		for _, o := range ordersIn(t) {
			holds = append(holds, t.hold(verdict.Manipulation, o.line, fmt.Sprintf("%s %s: “%s”", t.what(), o.why, o.quote)))
		}
		if len(holds) > MaxHolds {
			holds = append(holds[:MaxHolds:MaxHolds], verdict.Hold{Kind: holds[MaxHolds].Kind, Rule: rule, Detail: "There is more of this than is listed here."})
			break
		}
	}
	return holds
}

// ownMark is by which the product finds its own comments again, each kind in the very form
// that agent/daemon writes. Whoever copies one says nothing with it.
var ownMark = regexp.MustCompile(`(?m)^<!-- touchstone:(?:escalation v1 [0-9a-f]{7,64}` +
	`|escalation v2 [0-9a-f]{7,64} (?:[0-9a-f]{7,64}|-) [A-Za-z0-9%+_.~-]{1,400}|rest v1 [0-9a-f]{7,64} until [0-9TZ:+-]{20,25}|waiting v1 [0-9a-f]{7,64} [a-z-]{1,20}|reply v1 [0-9]{1,20}) -->$`)

func (t Text) hold(kind verdict.HoldKind, line int, detail string) verdict.Hold {
	h := verdict.Hold{Kind: kind, Rule: rule, Path: t.Path, Detail: clip(detail, maxDetail)}
	if t.Path != "" && t.Form == Code {
		h.Line = max(t.Line, 1) + line - 1
	}
	return h
}

func (t Text) what() string {
	switch {
	case t.What != "":
		return strings.ToUpper(t.What[:1]) + t.What[1:]
	case t.Form == Code:
		return "The file"
	}
	return "The file's name"
}

func (t Text) hidden(known []string) []hidden.Passage {
	switch t.Form {
	case Markdown:
		return hidden.FindRendered(t.Text, known...)
	case Output:
		return nil // a log is what programs print, cursor movements and all
	}
	found := hidden.Find(t.Text)
	if t.Form == Code && page.MatchString(t.Path) {
		found = append(found, hidden.FindComments(t.Text)...)
	}
	return found
}

// page is the name of a file that is read as a page.
var page = regexp.MustCompile(`(?i)\.(?:md|mdx|markdown)$`)

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n-len("…")], "") + "…"
}

// hunk is the head of a part of a unified diff.
var hunk = regexp.MustCompile(`^@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@`)

// Added is what a unified diff of one file brings in: the file's name, and the
// added lines, those that follow each other as one text. A line that the diff
// repeats for context was there before, and only stays where it has no words.
func Added(path string, patch []byte) []Text {
	texts := []Text{{Form: Name, Path: path, Text: path}}
	line, inHunk := 0, false
	var run []byte
	flush := func() {
		if len(run) > 0 {
			texts = append(texts, Text{Form: Code, Path: path, Line: line - bytes.Count(run, []byte("\n")), Text: string(run)})
		}
		run = run[:0]
	}
	for part := range bytes.Lines(patch) {
		m := hunk.FindSubmatch(part)
		switch {
		case m != nil:
			flush()
			line, _ = strconv.Atoi(string(m[1]))
			inHunk = true
		case !inHunk || part[0] == '\\':
		case part[0] == '+':
			run = append(run, bytes.TrimSuffix(part[1:], []byte("\n"))...)
			run = append(run, '\n')
			line++
		case part[0] == '-':
		case len(run) > 0 && len(part) > 1 && len(bytes.TrimLeft(part[1:], leader+"\r\n")) == 0:
			run = append(run, part[1:]...) // a line without words parts no sentence
			line++
		default:
			flush()
			line++
		}
	}
	flush()
	return texts
}

// order is a place where a text gives orders.
type order struct {
	line       int // in its text, from 1
	why, quote string
}

// ordersIn finds what a text says to a reviewing machine, one place for each line.
func ordersIn(t Text) []order {
	var found []order
	for _, r := range readings(t) {
		for _, w := range windows(r.text) {
			for _, p := range patterns {
				if !p.in(t.Form) || r.bare && !p.bare {
					continue
				}
				for _, at := range p.find(r.text[w.start:w.end]) {
					start, end := w.start+at[0], w.start+at[1]
					o := order{line: r.line(start), why: p.why, quote: clip(strings.Join(strings.Fields(r.text[start:end]), " "), 160)}
					if !slices.ContainsFunc(found, func(f order) bool { return f.line == o.line }) {
						found = append(found, o)
					}
				}
			}
		}
	}
	slices.SortStableFunc(found, func(a, b order) int { return a.line - b.line })
	return found
}
