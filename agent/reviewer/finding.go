package reviewer

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/rs/zerolog"

	"touchstone/agent/forge"
	"touchstone/agent/reviewer/change"
	"touchstone/verdict"
	"touchstone/worktree"
	"touchstone/worktree/diff"
	"touchstone/worktree/lazyregexp"
)

// anchor is where a finding is shown on GitHub.
type anchor struct {
	path        string
	start, line int    // start is 0 for a single line
	side        string // of the diff, as in forge.ReviewComment
	// exact says that the comment is on exactly the finding's lines.
	exact bool
}

// anchorOf places a finding on lines of the diff, since GitHub only takes comments there: on all of its own
// lines if one hunk has them, else on the last of them, else on the nearest line of its file. Result ok is
// false if only the review's body is left.
func anchorOf(file diff.File, f verdict.Finding) (a anchor, ok bool) {
	start := cmp.Or(f.StartLine, f.Line)
	a = anchor{path: file.Path, side: "RIGHT"}
	for _, h := range file.Hunks {
		if f.Line > 0 && start >= h.NewStart && f.Line < h.NewStart+h.NewLines {
			a.line, a.exact = f.Line, true
			if start < f.Line {
				a.start = start
			}
			return a, true
		}
	}
	nearest := -1
	for _, h := range file.Hunks {
		if h.NewLines == 0 {
			continue
		}
		line := min(max(f.Line, h.NewStart), h.NewStart+h.NewLines-1)
		if away := max(line-f.Line, f.Line-line); nearest < 0 || away < nearest {
			nearest, a.line = away, line
		}
	}
	if nearest >= 0 {
		return a, true
	}
	if len(file.Hunks) > 0 { // the file is deleted
		h := file.Hunks[0]
		return anchor{path: file.Path, line: h.OldStart, side: "LEFT"}, h.OldLines > 0
	}
	return anchor{}, false
}

// place is where people are shown a finding.
type place struct {
	anchor
	// ok says that GitHub accepts a comment there.
	ok bool
	// name is the path and line in the head, or in the merge if only the merge has them.
	name string
	// removed says that the finding is about deleted lines and is shown next to them.
	removed bool
}

// places returns a function that finds the place of a finding. A finding about deleted code has no line; its
// place is the nearest remaining one.
func (c Checkout) places(ctx context.Context) func(verdict.Finding) place {
	merged := map[string]diff.File{}
	for _, f := range c.Diff.Files {
		merged[change.Spell(f.Path)] = f
	}
	at := c.linesOfHead(ctx, merged)
	return func(f verdict.Finding) place {
		if line, ok := change.Removal(merged[f.Path].Patch, f.Quote); ok && f.Line == 0 {
			f.Line = line
			found := at(f)
			found.exact, found.removed = false, true
			return found
		}
		return at(f)
	}
}

// linesOfHead maps the lines of a finding, which are lines of the merge, to the head, since GitHub takes
// comments on lines of the head. If the mapping fails, no finding gets a comment on a line.
func (c Checkout) linesOfHead(ctx context.Context, merged map[string]diff.File) func(verdict.Finding) place {
	if c.Shown == nil || c.Head == c.Diff.Head {
		return func(f verdict.Finding) place {
			a, ok := anchorOf(merged[f.Path], f)
			return place{anchor: a, ok: ok, name: f.Place()}
		}
	}
	shown := sync.OnceValues(func() (worktree.Shown, error) { return c.Shown(ctx) })
	return func(f verdict.Finding) place {
		view, err := shown()
		if err != nil {
			zerolog.Ctx(ctx).Warn().Err(err).Msg("findings are put into the body of the review, since their lines in the head are not known")
			return place{name: f.Place()}
		}
		start := cmp.Or(f.StartLine, f.Line)
		path, first, last, same := view.InHead(cmp.Or(merged[f.Path].Path, f.Path), start, f.Line)
		in := slices.IndexFunc(view.Diff.Files, func(d diff.File) bool { return d.Path == path })
		at := place{name: f.Place()}
		if same && f.Path != "" {
			at.name = verdict.Place(change.Spell(path), last)
		}
		if in >= 0 {
			head := f
			head.StartLine, head.Line = first, last
			at.anchor, at.ok = anchorOf(view.Diff.Files[in], head)
			at.exact = at.exact && same
		}
		return at
	}
}

// describe is the text of one finding for its author: tag, severity and rule, then the argument. With
// replace, its suggestion replaces exactly the commented lines.
func (p *Prepared) describe(f verdict.Finding, replace bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "**[%s] %s**", f.Dimension, f.Severity)
	if f.Rule != "" {
		fmt.Fprintf(&b, " · %s", code(f.Rule))
	}
	b.WriteString(" · " + verdict.FindingTag(f.ID))
	switch f.Check {
	case verdict.Upheld:
		b.WriteString(" · upheld by a second session")
	case verdict.Lowered:
		b.WriteString(" · " + lowering(f))
	}
	if f.Late {
		b.WriteString(" · late")
		if f.Tolerated {
			b.WriteString(", does not block")
		}
	}
	return b.String() + "\n\n" + p.argue(f, replace)
}

// lowering says that another session lowered a finding.
func lowering(f verdict.Finding) string {
	return fmt.Sprintf("lowered from %s by a second session", f.From)
}

// argue is the argument of a finding: the claim, why it matters, the fix, and how to verify it.
func (p *Prepared) argue(f verdict.Finding, replace bool) string {
	var b strings.Builder
	b.WriteString(prose(clip(strings.TrimSpace(f.Claim), maxField)))
	if f.Late {
		b.WriteString("\n\nThis code was there in an earlier round, which should have found it.")
	}
	if f.Was != "" {
		fmt.Fprintf(&b, "\n\nThe session rated it %s; a session cannot lower a rule's severity.", f.Was)
	}
	b.WriteString(labelled("Why it matters", f.Why))
	b.WriteString(labelled("Why it was lowered", f.Reach))
	if criterion := p.criteria.criterion(f.Rule); criterion != "" {
		b.WriteString("\n\n**The rule:** " + criterion)
	}
	if fix := clip(strings.Trim(f.Suggestion, "\r\n"), 2*maxField); fix != "" {
		language := ""
		switch {
		case isDiff(fix):
			language = "diff"
		case replace:
			language = "suggestion"
		}
		b.WriteString("\n\n" + fenced(language, fix))
	}
	b.WriteString(labelled("To verify", f.Verify))
	return b.String()
}

// labelled is a text after its label, or below it if the text begins with a code block.
func labelled(label, text string) string {
	text = prose(clip(strings.TrimSpace(text), maxField))
	if text == "" {
		return ""
	}
	space := " "
	if first, _, _ := strings.Cut(text, "\n"); fenceLine.MatchString(first) {
		space = "\n\n"
	}
	return "\n\n**" + label + ":**" + space + text
}

// replacement is the text that a finding's suggestion puts in place of exactly the anchor's lines. Result ok
// is false if it does not replace exactly those. Function head returns files with the lines that the
// finding's numbers refer to.
func replacement(f verdict.Finding, a anchor, head func(path string) ([]byte, error)) (text string, ok bool) {
	if !a.exact {
		return "", false
	}
	content, err := head(f.Path)
	if err != nil { // a file that cannot be read has no lines to replace
		return "", false
	}
	if text, ok = patched(f, content); ok {
		return text, true
	}
	return strings.Trim(f.Suggestion, "\r\n"), replaces(f, content)
}

// replaces reports whether the finding's suggestion can replace its lines: it is code, and the finding quotes
// those lines exactly. If the quote lost its indentation, the suggestion has lost it too.
func replaces(f verdict.Finding, head []byte) bool {
	if f.Line == 0 || f.Quote == "" || isDiff(f.Suggestion) || len(f.Suggestion) > 2*maxField {
		return false
	}
	lines := strings.Split(string(head), "\n")
	start := cmp.Or(f.StartLine, f.Line)
	if start < 1 || f.Line > len(lines) {
		return false
	}
	same := func(text string) string {
		var b strings.Builder
		for line := range strings.SplitSeq(strings.Trim(text, "\r\n"), "\n") {
			b.WriteString(strings.TrimRight(line, " \t\r") + "\n")
		}
		return b.String()
	}
	return same(f.Quote) == same(strings.Join(lines[start-1:f.Line], "\n"))
}

var (
	diffLine = lazyregexp.New(`(?m)^(@@ |--- |\+\+\+ |diff --git )`)
	// order matches a line, anywhere in a text, that a bot could take for a command.
	order = lazyregexp.New(`(?m)^\s*/[A-Za-z]`)
)

func isDiff(text string) bool { return diffLine.MatchString(text) }

// fenced puts text into a code block that the text cannot close. If a line could be a command to a bot, the
// block is quoted and is no suggestion.
func fenced(language, text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	if !order.MatchString(text) {
		return fence + language + "\n" + text + "\n" + fence
	}
	if language == "suggestion" {
		language = ""
	}
	return "> " + strings.ReplaceAll(fence+language+"\n"+text+"\n"+fence, "\n", "\n> ")
}

// code puts a short text into a code span on one line. A span needs a text: two backticks alone begin another one.
func code(text string) string {
	text = strings.Map(func(r rune) rune {
		if r == '`' || r < ' ' {
			return -1
		}
		return r
	}, text)
	return "`" + cmp.Or(text, "?") + "`"
}

// comment is a finding as a comment on lines of the diff.
func (p *Prepared) comment(f verdict.Finding, a place, head func(path string) ([]byte, error)) forge.ReviewComment {
	text, replace := replacement(f, a.anchor, head)
	if replace {
		f.Suggestion = text
	}
	body := p.describe(f, replace)
	switch {
	case a.removed:
		body += "\n\nIt is about lines that the change removes here."
	case !a.exact:
		body = body + "\n\nIt is about " + code(a.name) + ", where GitHub accepts no comment."
	}
	return forge.ReviewComment{Path: a.path, StartLine: a.start, Line: a.line, Side: a.side, Body: clipBlock(body, maxComment)}
}
