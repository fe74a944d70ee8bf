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

// session gathers what one session prints.
type session struct {
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
}

// synthetic is the model's name in messages that the CLI wrote itself.
const synthetic = "<synthetic>"

// line takes one line of output.
func (s *session) line(line []byte) error {
	var e event
	if !decode(line, &e) || e.Type == "" {
		s.report(engine.ProgressRaw, string(line))
		return nil
	}
	s.id = cmp.Or(e.SessionID, s.id)
	switch e.Type {
	case "assistant":
		s.retrying = false
		return s.assistant(e)
	case "stream_event":
		s.retrying = false
		// Sub-agents have no part in the text, so nor have their limits.
		if reason := e.Stream.Delta.StopReason; reason != "" && e.ParentToolUseID == "" {
			s.stop = reason
		}
	case "result":
		s.result = &e.outcome
	case "system":
		s.system(e)
	case "user", "tool_progress", "rate_limit_event":
		s.retrying = false
	default:
		s.report(engine.ProgressRaw, string(line))
	}
	return nil
}

func (s *session) system(e event) {
	switch e.Subtype {
	case "init":
		s.model = cmp.Or(e.Model, s.model)
	case "api_retry":
		s.retry, s.retrying = e, true
		s.report(engine.ProgressRetry, fmt.Sprintf("%s (attempt %d of %d, in %s)",
			cmp.Or(e.Error, "failure"), e.Attempt, e.MaxRetries, e.retryDelay().Round(100*time.Millisecond)))
	case "status", "thinking_tokens", "informational", "permission_denied":
	default:
		s.report(engine.ProgressRaw, "system/"+e.Subtype)
	}
}

func (s *session) assistant(e event) error {
	var m message
	if !decode(e.Message, &m) {
		s.report(engine.ProgressRaw, "assistant event without a message")
		return nil
	}
	if e.Error != "" || m.Model == synthetic {
		s.failure = e
		return nil
	}
	s.model = cmp.Or(m.Model, s.model)
	for _, c := range m.Content {
		switch {
		case c.Type == "tool_use":
			target := cmp.Or(c.Input.FilePath, c.Input.Command, c.Input.Pattern, c.Input.Path)
			s.report(engine.ProgressTool, strings.TrimSpace(c.Name+" "+target))
		case c.Type == "text" && e.ParentToolUseID == "":
			if err := s.prose(c.Text); err != nil {
				return err
			}
		}
	}
	return nil
}

var dimensionHeading = regexp.MustCompile(`(?m)^## \[([A-Za-z-]+)\]`)

func (s *session) prose(text string) error {
	if text == "" {
		return nil
	}
	// A message cut off at its limit goes on in the next one, in mid-sentence.
	if s.text.Len() > 0 && s.stop != "max_tokens" {
		s.text.WriteString("\n\n")
	}
	s.stop = ""
	if s.text.Len()+len(text) > maxText {
		return engine.Errorf(engine.BadOutput, "the session wrote more than %d MiB of text and was stopped", maxText>>20)
	}
	s.text.WriteString(text)
	headings := dimensionHeading.FindAllStringSubmatch(text, -1)
	for _, heading := range headings {
		s.report(engine.ProgressDimension, heading[1])
	}
	if len(headings) == 0 {
		s.report(engine.ProgressText, text)
	}
	return nil
}

// silence passes a heartbeat on.
func (s *session) silence(since time.Duration) {
	if s.progress != nil {
		s.progress(engine.Progress{Kind: engine.ProgressHeartbeat, Elapsed: time.Since(s.started), Silence: since})
	}
}

func (s *session) report(kind engine.ProgressKind, text string) {
	if s.progress != nil {
		s.progress(engine.Progress{Kind: kind, Text: s.clean(text, maxProgress), Elapsed: time.Since(s.started)})
	}
}

// How many characters of foreign text are passed on in one line.
const (
	maxProgress = 200
	maxDetail   = 400
)

// clean makes one printable line of foreign text, without the secret.
func (s *session) clean(text string, limit int) string {
	if s.secret != "" {
		text = strings.ReplaceAll(text, s.secret, "[redacted]")
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

// finish turns the end of the process into the end of the session.
func (s *session) finish(report process.Report, stopped error) (engine.Result, error) {
	result := engine.Result{
		Text: s.text.String(), SessionID: s.id, Model: s.model,
		Started: report.Started, Duration: report.Duration, FirstByte: report.FirstByte,
	}
	if s.result != nil {
		u := s.result.Usage
		result.Usage = engine.Usage{Input: u.Input, CacheWrite: u.CacheWrite, CacheRead: u.CacheRead, Output: u.Output}
		result.CostUSD = s.result.CostUSD
		result.Turns = s.result.NumTurns
	}
	if stopped != nil {
		return result, s.stopped(stopped)
	}
	if s.result == nil {
		failure := engine.Errorf(engine.Crash, "claude ended (%s) before the session was over", report.Exit)
		if detail := s.clean(report.Stderr, maxDetail); detail != "" {
			failure.Message += "; it said: " + detail
		}
		return result, failure
	}
	if failure := s.classify(); failure != nil {
		return result, failure
	}
	if strings.TrimSpace(result.Text) == "" {
		return result, engine.Errorf(engine.BadOutput, "claude ended the session without a word")
	}
	return result, nil
}

// stopped names the cause of a stop: a CLI that was killed while it waited to
// ask the provider again failed for the provider's reason.
func (s *session) stopped(err error) error {
	var failure *engine.Error
	if !errors.As(err, &failure) {
		return err
	}
	late := failure.Class == engine.Idle || failure.Class == engine.Timeout
	if !late || !s.retrying {
		return missing(err)
	}
	return &engine.Error{
		Class:      classOf(s.retry.Error, s.retry.ErrorStatus),
		Message:    fmt.Sprintf("the provider kept refusing (%s), and %s", cmp.Or(s.retry.Error, "no reason given"), failure.Message),
		RetryAfter: s.retry.retryDelay(),
	}
}
