package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"touchstone/verdict"

	"github.com/mattn/go-colorable"
	"golang.org/x/term"
)

// style is the parameter of a terminal's escape sequence for text.
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

// timeline writes the events in columns, one line for each step.
type timeline struct {
	w      io.Writer
	colour bool
	// width is the terminal's width, in characters; 0 means no limit.
	width int
	began time.Time
}

// newTimeline writes to standard output, in colour if that is a terminal and the user allows colour
// (https://no-color.org).
func newTimeline() *timeline {
	t := &timeline{w: colorable.NewColorableStdout(), began: time.Now()}
	if out := int(os.Stdout.Fd()); term.IsTerminal(out) {
		t.colour = os.Getenv("NO_COLOR") == ""
		// On a terminal that does not report its width, lines are not shortened.
		t.width, _, _ = term.GetSize(out)
	}
	return t
}

// paint returns text in a style, padded to width first so that columns stay aligned. Text by a model must not
// control the terminal, so control characters become spaces.
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

// title begins the output.
func (t *timeline) title(text, rest string) {
	fmt.Fprintf(t.w, "\n  %s  %s\n\n", t.paint(bold, 0, text), rest)
}

// fact prints a line that holds for the whole run.
func (t *timeline) fact(name, value string) {
	fmt.Fprintf(t.w, "  %s %s\n", t.paint(dim, 10, name), value)
}

// narrow is the width, in characters, below which the least useful columns are left out.
const narrow = 100

// cell is the content of one column of a line.
type cell struct {
	style style
	width int
	text  string
	// wide is set for a column that is left out on a narrow terminal.
	wide bool
}

// row writes cells beside one another. Text that does not fit the terminal is left out, since the pull
// request contains it. The last column of the terminal stays empty, because some terminals wrap there.
func (t *timeline) row(indent int, cells ...cell) {
	line, room := strings.Repeat(" ", indent), math.MaxInt
	if t.width > 0 {
		room = t.width - indent - 1
	}
	for _, c := range cells {
		if room <= 0 || c.wide && t.width > 0 && t.width < narrow {
			continue
		}
		text := clip(c.text, room)
		line += t.paint(c.style, min(c.width, room), text) + "  "
		room -= max(c.width, utf8.RuneCountInString(text)) + 2
	}
	fmt.Fprintln(t.w, strings.TrimRight(line, " "))
}

// header writes the headings of the following steps' columns.
func (t *timeline) header() {
	t.line("")
	t.row(2, cell{dim, 7, "   time", false}, cell{dim, 5, "round", false}, cell{dim, 7, "head", false},
		cell{dim, 29, "event", true}, cell{dim, 8, "who", false}, cell{dim, 0, "what", false})
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
	t.row(2, cell{plain, 7, fmt.Sprintf("%6.1fs", time.Since(t.began).Seconds()), false}, cell{plain, 5, fmt.Sprintf("%5d", s.round), false},
		cell{cyan, 7, verdict.Short(s.sha), false}, cell{dim, 29, s.event, true}, cell{bold, 8, s.who, false}, cell{s.style, 0, s.what, false})
}

// detail writes a line that belongs to the step above it.
func (t *timeline) detail(s style, mark, kind, where, text string) {
	t.row(16, cell{s, 9, mark, false}, cell{plain, 14, kind, true}, cell{dim, 22, where, false}, cell{plain, 0, text, false})
}

// line ends the output or writes a line outside the columns.
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
