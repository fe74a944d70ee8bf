package session

import (
	"encoding/json"
	"errors"
	"strings"
	"time"
	"unicode"

	"touchstone/agent/engine"
	"touchstone/worktree/lazyregexp"
)

// maxText bounds, in bytes, how much prose of a turn is kept. No review comes near it; a turn that exceeds it
// is out of control and is stopped.
const maxText = 4 << 20

// Transcript collects the prose of one turn and reports its progress.
type Transcript struct {
	progress func(engine.Progress)
	started  time.Time
	running  string // the tool that was called last, until it returns
	calls    map[string]engine.Progress
	redact   func(string) string
	text     strings.Builder
}

// NewTranscript starts a transcript; progress may be nil. redact removes secrets from everything that is
// reported, except the prose itself.
func NewTranscript(progress func(engine.Progress), redact func(string) string) *Transcript {
	return &Transcript{progress: progress, started: time.Now(), redact: redact, calls: map[string]engine.Progress{}}
}

// Decode reads as much of what a CLI prints as it can: a field of an unexpected type stays empty, the others are kept. Invalid
// UTF-8 becomes U+FFFD.
func Decode(data []byte, into any) bool {
	err := json.Unmarshal(data, into)
	_, mistyped := errors.AsType[*json.UnmarshalTypeError](err)
	return err == nil || mistyped
}

// Text is all the prose so far.
func (t *Transcript) Text() string { return t.text.String() }

var dimensionHeading = lazyregexp.New(`(?m)^## \[([A-Za-z-]+)\]`)

// Prose adds a piece of prose. If goesOn is true, it continues the last sentence, and no new paragraph is
// started. The error stops the turn.
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

// Silence reports a heartbeat.
func (t *Transcript) Silence(since time.Duration) {
	if t.progress != nil {
		t.progress(engine.Progress{Kind: engine.ProgressHeartbeat, Text: t.running, Elapsed: time.Since(t.started), Silence: since})
	}
}

// Report reports an event in the CLI's words.
func (t *Transcript) Report(kind engine.ProgressKind, text string) {
	if t.progress != nil {
		t.progress(engine.Progress{Kind: kind, Text: t.clean(text, maxProgress), Elapsed: time.Since(t.started)})
	}
}

// Tool reports the call of a tool: its target and its arguments. The id is the CLI's own.
func (t *Transcript) Tool(id, name, target, arguments string) {
	if t.progress != nil {
		t.running = t.clean(name+" "+target, maxProgress)
		t.calls[id] = engine.Progress{Kind: engine.ProgressTool, Text: t.running, Target: t.clean(arguments, maxTarget)}
		t.tell(t.calls[id])
	}
}

// Failed reports that the call with this id failed.
func (t *Transcript) Failed(id string) {
	if p, called := t.calls[id]; called {
		delete(t.calls, id)
		p.Kind = engine.ProgressFailed
		t.tell(p)
	}
}

func (t *Transcript) tell(p engine.Progress) {
	p.Elapsed = time.Since(t.started)
	t.progress(p)
}

// Returned records that the last tool has returned.
func (t *Transcript) Returned() { t.running = "" }

// How many characters of foreign text are reported in one line.
const (
	maxProgress = 200
	maxTarget   = 4096
	maxDetail   = 400
	maxReason   = 120
)

// Detail makes foreign text fit for an error message. It leaves out the middle of a long one: a program that fails says why
// in its first words, before it explains its flags or lists its calls, or in its last.
func (t *Transcript) Detail(text string) string {
	line := printable(t.redact(text))
	if half := maxDetail / 2; len(line) > maxDetail {
		return string(line[:half-2]) + " … " + string(line[len(line)-half+1:])
	}
	return string(line)
}

// clean turns foreign text into one printable line.
func (t *Transcript) clean(text string, limit int) string {
	text = t.redact(text)
	// The result never shows more than this, however much of it is white space.
	line := printable(text[:min(len(text), 16*limit)])
	if len(line) > limit {
		return string(line[:limit-1]) + "…"
	}
	return string(line)
}

// printable joins the words of a text to one line.
func printable(text string) []rune {
	words := strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) })
	return []rune(strings.Join(words, " "))
}
