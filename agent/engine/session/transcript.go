package session

import (
	"strings"
	"time"
	"unicode"

	"touchstone/agent/engine"
	"touchstone/worktree/lazyregexp"
)

// maxText bounds the prose kept of a turn, in bytes. No review comes near it; a
// turn beyond it runs away and is stopped.
const maxText = 4 << 20

// Transcript gathers the prose of one turn and tells of its progress.
type Transcript struct {
	progress func(engine.Progress)
	started  time.Time
	running  string // the tool that was called last, until it is done
	redact   func(string) string
	text     strings.Builder
}

// NewTranscript begins a transcript; progress may be nil. Redact takes secrets out
// of all that is passed on, except the prose itself.
func NewTranscript(progress func(engine.Progress), redact func(string) string) *Transcript {
	return &Transcript{progress: progress, started: time.Now(), redact: redact}
}

// Text is all the prose until now.
func (t *Transcript) Text() string { return t.text.String() }

var dimensionHeading = lazyregexp.New(`(?m)^## \[([A-Za-z-]+)\]`)

// Prose takes a piece of prose; if it goes on in the middle of the sentence
// before, no paragraph is begun. The error stops the turn.
func (t *Transcript) Prose(text string, goesOn bool) error {
	if text == "" {
		return nil
	}
	if t.text.Len() > 0 && !goesOn {
		t.text.WriteString("\n\n")
	}
	if t.text.Len()+len(text) > maxText {
		return engine.Errorf(engine.BadOutput, "the session wrote more than %d MiB of text and was stopped", maxText>>20)
	}
	t.text.WriteString(text)
	var begun []string
	for _, heading := range dimensionHeading.FindAllStringSubmatch(text, -1) {
		begun = append(begun, heading[1])
	}
	if len(begun) > 0 {
		t.Report(engine.ProgressDimension, strings.Join(begun, ", "))
	} else {
		t.Report(engine.ProgressText, text)
	}
	return nil
}

// Silence passes a heartbeat on.
func (t *Transcript) Silence(since time.Duration) {
	if t.progress != nil {
		t.progress(engine.Progress{Kind: engine.ProgressHeartbeat, Text: t.running, Elapsed: time.Since(t.started), Silence: since})
	}
}

// Report passes on what happened, in the CLI's words.
func (t *Transcript) Report(kind engine.ProgressKind, text string) {
	if t.progress != nil {
		t.progress(engine.Progress{Kind: kind, Text: t.clean(text, maxProgress), Elapsed: time.Since(t.started)})
	}
}

// Tool passes on that a tool is called: on what, and with which arguments.
func (t *Transcript) Tool(name, target, arguments string) {
	if t.progress != nil {
		t.running = t.clean(name+" "+target, maxProgress)
		t.progress(engine.Progress{
			Kind: engine.ProgressTool, Elapsed: time.Since(t.started),
			Text: t.running, Target: t.clean(arguments, maxTarget),
		})
	}
}

// Returned notes that the tool that was called last is done.
func (t *Transcript) Returned() { t.running = "" }

// How many characters of foreign text are passed on in one line.
const (
	maxProgress = 200
	maxTarget   = 4096
	maxDetail   = 400
)

// Detail makes foreign text fit to stand in an error's message.
func (t *Transcript) Detail(text string) string { return t.clean(text, maxDetail) }

// clean makes one printable line of foreign text.
func (t *Transcript) clean(text string, limit int) string {
	text = t.redact(text)
	// More than this never shows, however much of it is white space.
	text = text[:min(len(text), 16*limit)]
	words := strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) })
	line := []rune(strings.Join(words, " "))
	if len(line) > limit {
		return string(line[:limit-1]) + "…"
	}
	return string(line)
}
