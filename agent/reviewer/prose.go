package reviewer

import (
	"strings"

	"touchstone/verdict"
	"touchstone/worktree/lazyregexp"
)

// prose makes a model's Markdown safe amid ours: without mentions and commands, without suggestions for lines
// that were not compared, and without an open block or tag that would hide the text below it.
func prose(text string) string {
	var b strings.Builder
	open := ""        // the fence of the open code block
	dangling := false // a code span of the paragraph may be open
	for line := range strings.Lines(verdict.Prose(text)) {
		if m := suggesting.FindStringSubmatch(line); m != nil {
			line = m[1] + m[2] + "\n"
		}
		before := open
		open = fenceAfter(open, line)
		if before == "" && open == "" {
			dangling = dangling && strings.TrimSpace(line) != ""
			if dangling { // the next backtick can end that span, so none is known to begin one
				line = tag.ReplaceAllString(line, "&lt;$1")
			}
			dangling = dangling || paired(line) != line
			line = untagged(line)
		}
		b.WriteString(line)
	}
	return closed(b.String(), open)
}

// fenceAfter is the fence of the code block that is open after a line.
func fenceAfter(open, line string) string {
	m := fenceLine.FindStringSubmatch(line)
	switch {
	case m == nil:
		return open
	case open == "":
		return m[1]
	case strings.HasPrefix(m[1], open) && strings.TrimSpace(m[2]) == "":
		return ""
	}
	return open
}

// closed closes the code block that is open at the end of a text.
func closed(text, open string) string {
	if open == "" {
		return text
	}
	return strings.TrimRight(text, "\n") + "\n" + open
}

// clipBlock is clip for our own Markdown, which may be cut inside a code block.
func clipBlock(text string, n int) string {
	if len(text) <= n {
		return text
	}
	text = clip(text, n-100) // leaves room for the fence
	open := ""
	for line := range strings.Lines(text) {
		open = fenceAfter(open, line)
	}
	return closed(text, open)
}

// inline is a model's text for use inside one of our lines. Each code span in it ends in it, else a span that
// begins in one text of a line would show what follows, and turn the next one's code into tags.
func inline(text string) string { return paired(untagged(verdict.Prose(verdict.OneLine(text)))) }

// paired is a text in which the backticks that would begin a code span without an end are ordinary characters.
func paired(text string) string {
	for at, n := unended(text, 0); n > 0; at, n = unended(text, at) {
		text = text[:at] + strings.Repeat("&#96;", n) + text[at+n:]
	}
	return text
}

// unended is where the first code span without an end begins, from an offset on, and with how many backticks: 0 if all end.
func unended(text string, from int) (at, n int) {
	for at = opening(text, from); at >= 0; at = opening(text, from) {
		n = len(text[at:]) - len(strings.TrimLeft(text[at:], "`"))
		end := spanEnd(text[at+n:], n)
		if end < 0 {
			return at, n
		}
		from = at + n + end
	}
	return at, 0
}

var (
	// suggesting matches the start of a block that GitHub offers to apply, however deeply nested:
	// https://docs.github.com/en/pull-requests/collaborating-with-pull-requests/reviewing-changes-in-pull-requests/incorporating-feedback-in-your-pull-request.
	suggesting = lazyregexp.New("(?i)^([^`~\n]*)(`{3,}|~{3,})[ \t]*suggestion[^\n]*\n?$")
	// fenceLine begins or ends a code block: https://spec.commonmark.org/0.31.2/#fenced-code-blocks.
	fenceLine = lazyregexp.New("^ {0,3}(`{3,}|~{3,})([^`\n]*)\n?$")
	tag       = lazyregexp.New(`<([A-Za-z/])`)
)

// untagged is a line in which HTML tags are escaped, except in code spans, which show them literally anyway.
func untagged(line string) string {
	var b strings.Builder
	for {
		start := opening(line, 0)
		if start < 0 {
			break
		}
		n := len(line[start:]) - len(strings.TrimLeft(line[start:], "`"))
		end := spanEnd(line[start+n:], n)
		b.WriteString(tag.ReplaceAllString(line[:start], "&lt;$1"))
		stop := start + n
		if end >= 0 {
			stop += end
		}
		b.WriteString(line[start:stop])
		line = line[stop:]
	}
	return b.String() + tag.ReplaceAllString(line, "&lt;$1")
}

// opening is where the first run of backticks that can begin a code span stands, from an offset on, or -1. A
// backslash makes one backtick an ordinary character: https://spec.commonmark.org/0.31.2/#backslash-escapes.
func opening(text string, from int) int {
	for ; from < len(text); from++ {
		switch text[from] {
		case '\\':
			from++
		case '`':
			return from
		}
	}
	return -1
}

// spanEnd is where a code span that began with n backticks ends in the rest of its line, or -1 if it does not
// end there.
func spanEnd(rest string, n int) int {
	for at := 0; at < len(rest); {
		if rest[at] != '`' {
			at++
			continue
		}
		run := len(rest[at:]) - len(strings.TrimLeft(rest[at:], "`"))
		at += run
		if run == n {
			return at
		}
	}
	return -1
}
