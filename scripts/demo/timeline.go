package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/mattn/go-colorable"
	"golang.org/x/term"
)

// style is a terminal's escape sequence for a way to write.
type style string

const (
	plain style = ""
	bold  style = "1"
	dim   style = "2"
	bad   style = "31"
	good  style = "32"
	warn  style = "33"
	cyan  style = "36"
)

// timeline writes what happens, a line for each step, in columns.
type timeline struct {
	w      io.Writer
	colour bool
	// width is the terminal's, in characters; 0 where there is none to keep to.
	width int
	began time.Time
}

// newTimeline writes to standard output, in colour if that is a terminal and
// its user has nothing against it (https://no-color.org).
func newTimeline() *timeline {
	t := &timeline{w: colorable.NewColorableStdout(), began: time.Now()}
	if out := int(os.Stdout.Fd()); term.IsTerminal(out) {
		t.colour = os.Getenv("NO_COLOR") == ""
		// A terminal that does not tell its width is one to write whole lines to.
		t.width, _, _ = term.GetSize(out)
	}
	return t
}

// paint writes text in a style, padded to width first so that columns stay
// aligned. What a model wrote must not steer the terminal, so control characters
// become spaces.
func (t *timeline) paint(s style, width int, text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
	if pad := width - utf8.RuneCountInString(text); pad > 0 {
		text += strings.Repeat(" ", pad)
	}
	if !t.colour || s == plain {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

// title opens the output.
func (t *timeline) title(text, rest string) {
	fmt.Fprintf(t.w, "\n  %s  %s\n\n", t.paint(bold, 0, text), rest)
}

// fact is a line that holds for the whole run.
func (t *timeline) fact(name, value string) {
	fmt.Fprintf(t.w, "  %s %s\n", t.paint(dim, 10, name), value)
}

// header names the columns of the steps that follow.
func (t *timeline) header() {
	columns := fmt.Sprintf("%7s  %-5s  %-7s  %-29s  %-8s %s", "time", "round", "head", "event", "who", "what")
	fmt.Fprintf(t.w, "\n  %s\n", t.paint(dim, 0, columns))
}

// step is one line of the timeline.
type step struct {
	round int
	sha   string
	event string
	who   string
	what  string
	style style
}

func (t *timeline) step(s step) {
	fmt.Fprintf(t.w, "  %6.1fs  %5d  %s  %s  %s %s\n", time.Since(t.began).Seconds(), s.round,
		t.paint(cyan, 7, short(s.sha)), t.paint(dim, 29, s.event), t.paint(bold, 8, s.who), t.paint(s.style, 0, s.what))
}

// detail is a line that belongs to the step above it. What does not fit the
// terminal is left out, since the review has it all.
func (t *timeline) detail(s style, mark, kind, where, text string) {
	before := fmt.Sprintf("%16s%-9s %-14s %-22s ", "", mark, kind, where)
	if room := t.width - utf8.RuneCountInString(before) - 1; t.width > 0 {
		text = clip(text, max(room, 0))
	}
	fmt.Fprintf(t.w, "%16s%s %s %s %s\n", "", t.paint(s, 9, mark), t.paint(plain, 14, kind), t.paint(dim, 22, where), t.paint(plain, 0, text))
}

// line ends the output or says something outside the columns.
func (t *timeline) line(format string, args ...any) {
	fmt.Fprintf(t.w, format+"\n", args...)
}

// clip shortens text to at most n characters.
func clip(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return string([]rune(text)[:max(n-1, 0)]) + "…"
}

func short(sha string) string { return sha[:min(len(sha), 7)] }
