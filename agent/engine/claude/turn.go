package claude

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode"

	"touchstone/agent/engine"
	"touchstone/agent/engine/process"
)

// maxText bounds the prose kept of a session, in bytes. No review comes near
// it; a session beyond it runs away and is stopped.
const maxText = 4 << 20

// turn gathers what the CLI prints in one turn.
type turn struct {
	progress func(engine.Progress)
	started  time.Time
	secret   string

	text   strings.Builder
	id     string
	model  string
	result *outcome
	// failure is the last assistant event that reported one.
	failure event
	// retry is the last retry; retrying, while nothing has come after it.
	retry    event
	retrying bool
	// stop is why the last message ended.
	stop string
	// answered says that the model has said something in this turn.
	answered bool
}

// synthetic is the model's name in messages that the CLI wrote itself.
const synthetic = "<synthetic>"

// line takes one line of output.
func (t *turn) line(line []byte) error {
	var e event
	if !decode(line, &e) || e.Type == "" {
		t.report(engine.ProgressRaw, string(line))
		return nil
	}
	t.id = cmp.Or(e.SessionID, t.id)
	switch e.Type {
	case "assistant":
		t.retrying = false
		return t.assistant(e)
	case "stream_event":
		t.retrying = false
		// Sub-agents have no part in the text, so nor have their limits.
		if reason := e.Stream.Delta.StopReason; reason != "" && e.ParentToolUseID == "" {
			t.stop = reason
		}
	case "result":
		t.result = &e.outcome
	case "system":
		t.system(e)
	case "user", "tool_progress", "rate_limit_event":
		t.retrying = false
	default:
		t.report(engine.ProgressRaw, string(line))
	}
	return nil
}

func (t *turn) system(e event) {
	switch e.Subtype {
	case "init":
		t.model = cmp.Or(e.Model, t.model)
	case "api_retry":
		t.retry, t.retrying = e, true
		t.report(engine.ProgressRetry, fmt.Sprintf("%s (attempt %d of %d, in %s)",
			cmp.Or(e.Error, "failure"), e.Attempt, e.MaxRetries, e.retryDelay().Round(100*time.Millisecond)))
	case "status", "thinking_tokens", "informational", "permission_denied":
	default:
		t.report(engine.ProgressRaw, "system/"+e.Subtype)
	}
}

func (t *turn) assistant(e event) error {
	var m message
	if !decode(e.Message, &m) {
		t.report(engine.ProgressRaw, "assistant event without a message")
		return nil
	}
	if e.Error != "" || m.Model == synthetic {
		t.failure = e
		return nil
	}
	t.answered = true
	t.model = cmp.Or(m.Model, t.model)
	for _, c := range m.Content {
		switch {
		case c.Type == "tool_use":
			target := cmp.Or(c.Input.FilePath, c.Input.Command, c.Input.Pattern, c.Input.Path)
			t.report(engine.ProgressTool, strings.TrimSpace(c.Name+" "+target))
		case c.Type == "text" && e.ParentToolUseID == "":
			if err := t.prose(c.Text); err != nil {
				return err
			}
		}
	}
	return nil
}

var dimensionHeading = regexp.MustCompile(`(?m)^## \[([A-Za-z-]+)\]`)

func (t *turn) prose(text string) error {
	if text == "" {
		return nil
	}
	// A message cut off at its limit goes on in the next one, in mid-sentence.
	if t.text.Len() > 0 && t.stop != "max_tokens" {
		t.text.WriteString("\n\n")
	}
	t.stop = ""
	if t.text.Len()+len(text) > maxText {
		return engine.Errorf(engine.BadOutput, "the session wrote more than %d MiB of text and was stopped", maxText>>20)
	}
	t.text.WriteString(text)
	headings := dimensionHeading.FindAllStringSubmatch(text, -1)
	for _, heading := range headings {
		t.report(engine.ProgressDimension, heading[1])
	}
	if len(headings) == 0 {
		t.report(engine.ProgressText, text)
	}
	return nil
}

// silence passes a heartbeat on.
func (t *turn) silence(since time.Duration) {
	if t.progress != nil {
		t.progress(engine.Progress{Kind: engine.ProgressHeartbeat, Elapsed: time.Since(t.started), Silence: since})
	}
}

func (t *turn) report(kind engine.ProgressKind, text string) {
	if t.progress != nil {
		t.progress(engine.Progress{Kind: kind, Text: t.clean(text, maxProgress), Elapsed: time.Since(t.started)})
	}
}

// How many characters of foreign text are passed on in one line.
const (
	maxProgress = 200
	maxDetail   = 400
)

// clean makes one printable line of foreign text, without the secret.
func (t *turn) clean(text string, limit int) string {
	if t.secret != "" {
		text = strings.ReplaceAll(text, t.secret, "[redacted]")
	}
	// More than this never shows, however much of it is white space.
	text = text[:min(len(text), 16*limit)]
	words := strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) })
	line := []rune(strings.Join(words, " "))
	if len(line) > limit {
		return string(line[:limit-1]) + "…"
	}
	return string(line)
}

// finish turns the end of the process into the end of the turn.
func (t *turn) finish(report process.Report, stopped error) (engine.Result, error) {
	result := engine.Result{
		Text: t.text.String(), SessionID: t.id, Model: t.model,
		Started: report.Started, Duration: report.Duration, FirstByte: report.FirstByte,
	}
	if t.result != nil {
		u := t.result.Usage
		result.Usage = engine.Usage{Input: u.Input, CacheWrite: u.CacheWrite, CacheRead: u.CacheRead, Output: u.Output}
		result.CostUSD = t.result.CostUSD
		result.Turns = t.result.NumTurns
	}
	if stopped != nil {
		return result, t.stopped(stopped)
	}
	if t.result == nil {
		failure := engine.Errorf(engine.Crash, "claude ended (%s) before the session was over", report.Exit)
		if detail := t.clean(report.Stderr, maxDetail); detail != "" {
			failure.Message += "; it said: " + detail
		}
		return result, failure
	}
	if failure := t.classify(); failure != nil {
		return result, failure
	}
	if strings.TrimSpace(result.Text) == "" {
		return result, engine.Errorf(engine.BadOutput, "claude ended the session without a word")
	}
	return result, nil
}

// stopped names the cause of a stop: a CLI that was killed while it waited to
// ask the provider again failed for the provider's reason.
func (t *turn) stopped(err error) error {
	var failure *engine.Error
	if !errors.As(err, &failure) {
		return err
	}
	late := failure.Class == engine.Idle || failure.Class == engine.Timeout
	if !late || !t.retrying {
		return missing(err)
	}
	return &engine.Error{
		Class:      classOf(t.retry.Error, t.retry.ErrorStatus),
		Message:    fmt.Sprintf("the provider kept refusing (%s), and %s", cmp.Or(t.retry.Error, "no reason given"), failure.Message),
		RetryAfter: t.retry.retryDelay(),
	}
}
