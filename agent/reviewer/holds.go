package reviewer

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"touchstone/agent/reviewer/hidden"
	"touchstone/verdict"
	"touchstone/verdict/guard"
)

const (
	// maxHolds bounds the holds of one change: beyond it, a person knows.
	maxHolds = 50
	// maxHoldDetail bounds what one of them says, in bytes.
	maxHoldDetail = 300
)

// holds finds in code what only a person can let pass.
func (p *Prepared) holds(ctx context.Context) ([]verdict.Hold, error) {
	lowered, err := p.qualityBar(ctx)
	if err != nil {
		return nil, err
	}
	found := append(lowered, p.hiddenText()...)
	if len(found) > maxHolds {
		more := len(found) - maxHolds
		found = append(found[:maxHolds:maxHolds], verdict.Hold{Kind: found[maxHolds].Kind, Detail: fmt.Sprintf("%d more of these are not listed.", more)})
	}
	for i := range found {
		found[i].Detail = clip(found[i].Detail, maxHoldDetail)
	}
	return found, nil
}

// qualityBar is what the guard finds: checks that the change makes easier to pass.
func (p *Prepared) qualityBar(ctx context.Context) ([]verdict.Hold, error) {
	sides, err := p.Files.Sides(ctx, p.Diff, guard.Examines, guard.MaxFile)
	if err != nil {
		return nil, fmt.Errorf("read what could lower the quality bar: %w", err)
	}
	var change guard.Change
	for _, s := range sides {
		change.Files = append(change.Files, guard.File(s))
	}
	var found []verdict.Hold
	for _, hit := range guard.Examine(change) {
		detail := hit.Why
		if hit.Before != "" || hit.After != "" {
			detail += fmt.Sprintf(" Before: %s After: %s", orNothing(hit.Before), orNothing(hit.After))
		}
		found = append(found, verdict.Hold{Kind: verdict.QualityBar, Rule: hit.Kind.Rule(), Path: hit.Path, Line: hit.Line, Detail: detail})
	}
	return found, nil
}

// orNothing shows a line of code within a sentence.
func orNothing(line string) string {
	if line = words(line); line == "" {
		return "nothing."
	}
	return code(line) + "."
}

// hiddenText is what readers of the change and of its description do not see.
func (p *Prepared) hiddenText() []verdict.Hold {
	var found []verdict.Hold
	search := func(what, path, text string, find func(string) []hidden.Passage, line func(int) int) {
		for _, h := range find(text) {
			found = append(found, verdict.Hold{Kind: verdict.HiddenText, Path: path, Line: line(h.Line), Detail: fmt.Sprintf("%s holds %s: %s", what, h.Kind, code(h.Text))})
		}
	}
	rendered := func(text string) []hidden.Passage { return hidden.FindRendered(text, p.templates...) }
	nowhere := func(int) int { return 0 }
	search("The title", "", p.Title, hidden.Find, nowhere)
	search("The description", "", p.Body, rendered, nowhere)
	search("The branch's name", "", p.Branch, hidden.Find, nowhere)
	for _, message := range p.Commits {
		search("A commit message", "", message, hidden.Find, nowhere)
	}
	for _, s := range p.Said {
		search("The text of "+s.What, "", s.Text, rendered, nowhere)
	}
	for _, f := range p.Diff.Files {
		search("The file's name", f.Path, f.Path, hidden.Find, nowhere)
		text, lines := added(f.Patch)
		search("The file", f.Path, text, hidden.Find, func(n int) int { return lines[n-1] })
	}
	return found
}

// added are the lines that a patch adds, and of each its number at the head.
func added(patch []byte) (text string, lines []int) {
	var b strings.Builder
	at, inHunk := 0, false
	for line := range bytes.SplitSeq(patch, []byte("\n")) {
		switch {
		case bytes.HasPrefix(line, []byte("@@ ")):
			inHunk = true
			var skip int
			header := string(line[:min(len(line), 200)])
			if _, after, ok := strings.Cut(header, " +"); ok {
				// A header that does not scan leaves the count as it is.
				if n, _ := fmt.Sscanf(after, "%d", &skip); n == 1 {
					at = skip
				}
			}
		case bytes.HasPrefix(line, []byte("diff --git ")):
			inHunk = false
		case inHunk && bytes.HasPrefix(line, []byte("+")):
			b.Write(line[1:])
			b.WriteByte('\n')
			lines = append(lines, at)
			at++
		case inHunk && bytes.HasPrefix(line, []byte(" ")):
			at++
		}
	}
	return b.String(), append(lines, at)
}
