package reviewer

import (
	"regexp"
	"strings"

	"touchstone/verdict"
)

// prose is a model's Markdown as it may stand amid ours: it mentions nobody and
// gives no orders, it suggests no change to lines that nobody compared, and it
// neither hides nor swallows what stands below it.
func prose(text string) string {
	var b strings.Builder
	open := "" // the fence of the code block that a line is in
	for line := range strings.Lines(verdict.Prose(text)) {
		if m := anyFence.FindStringSubmatch(line); m != nil {
			line = m[1] + m[2] + "\n"
		}
		m := fenceLine.FindStringSubmatch(line)
		switch {
		case open != "" && m != nil && strings.HasPrefix(m[1], open) && strings.TrimSpace(m[2]) == "":
			open = ""
		case open != "":
		case m != nil:
			open = m[1]
		default:
			line = untagged(line)
		}
		b.WriteString(line)
	}
	if open != "" {
		return strings.TrimRight(b.String(), "\n") + "\n" + open
	}
	return b.String()
}

var (
	// anyFence opens a block that GitHub offers to apply, however it is nested. See
	// https://docs.github.com/en/pull-requests/collaborating-with-pull-requests/reviewing-changes-in-pull-requests/incorporating-feedback-in-your-pull-request.
	anyFence = regexp.MustCompile("(?i)^([^`~\n]*)(`{3,}|~{3,})[ \t]*suggestion[^\n]*\n?$")
	// fenceLine begins or ends a code block: https://spec.commonmark.org/0.31.2/#fenced-code-blocks.
	fenceLine = regexp.MustCompile("^ {0,3}(`{3,}|~{3,})([^`\n]*)\n?$")
	tag       = regexp.MustCompile(`<([A-Za-z/])`)
)

// untagged is a line in which HTML shows as it is written, except in code spans,
// where it does so anyway.
func untagged(line string) string {
	var b strings.Builder
	for {
		start := strings.IndexByte(line, '`')
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

// spanEnd is where a code span that began with n backticks ends in the rest of its
// line, or -1 if it does not.
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
