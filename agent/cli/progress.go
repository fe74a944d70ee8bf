package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"touchstone/agent/engine"
	"touchstone/agent/terminal"
	"touchstone/verdict"
)

// Progress prints a session's progress on a terminal. It prints nothing on other outputs.
func Progress(out io.Writer) func(engine.Progress) {
	if !terminal.Is(out) {
		return nil
	}
	return narrate(out)
}

// Steps prints the steps of a review before its session begins, on a terminal. It prints nothing on other
// outputs.
func Steps(out io.Writer) func(step string) {
	if !terminal.Is(out) {
		return func(string) {}
	}
	began := time.Now()
	return func(step string) { timed(out, time.Since(began), step) }
}

// timed writes a line about a review's progress.
func timed(out io.Writer, since time.Duration, text string) {
	fmt.Fprintf(out, "%7s  %s\n", since.Round(time.Second), terminal.Plain(text))
}

// narrate reports each dimension when it begins, each tool call, and after every 30 s of silence that the
// session is still working; with the tokens used so far, once known.
func narrate(out io.Writer) func(engine.Progress) {
	return func(p engine.Progress) {
		text := ""
		switch p.Kind {
		case engine.ProgressDimension:
			text = p.Text
			last := text[strings.LastIndexByte(text, ' ')+1:]
			if i := slices.Index(verdict.Dimensions(), verdict.Dimension(last)); i >= 0 {
				text = fmt.Sprintf("%d/%d %s", i+1, len(verdict.Dimensions()), text)
			}
		case engine.ProgressHeartbeat:
			text = p.Waiting()
		case engine.ProgressRetry:
			text = "the provider refused; the request is repeated: " + p.Text
		case engine.ProgressTool:
			text = p.Text
		default:
			return
		}
		if used := p.Used.Total(); used > 0 {
			text += fmt.Sprintf(", %d tokens", used)
		}
		timed(out, p.Elapsed, text)
	}
}
