package claude

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"touchstone/agent/engine"
	"touchstone/agent/engine/session"
	"touchstone/agent/engine/usage"
	"touchstone/verdict"
)

// turn collects what the CLI prints in one turn.
type turn struct {
	*session.Transcript

	// first says that nothing was said before in the session.
	first  bool
	id     string
	model  string
	result *outcome
	// failure is the last assistant event that reported a failure.
	failure event
	// retry is the last retry. retrying says that nothing has followed it yet.
	retry    event
	retrying bool
	// stop is why the last message ended.
	stop string
	// answered says that the model has answered in this turn. over says that nothing has followed the result that
	// goes on with the model.
	answered, over bool
	retries        int

	// account records the usage of the answers; nil if a gateway records it.
	account *usage.Account
	answer  *usage.Answer
}

// synthetic is the model's name in messages that the CLI itself wrote.
const synthetic = "<synthetic>"

// line handles one line of output.
func (t *turn) line(line []byte) error {
	var e event
	if !session.Decode(line, &e) || e.Type == "" {
		t.Report(engine.ProgressRaw, string(line))
		return nil
	}
	t.id = cmp.Or(e.SessionID, t.id)
	switch e.Type {
	case "assistant":
		t.retrying, t.over = false, false
		return t.assistant(e)
	case "stream_event":
		t.retrying, t.over = false, false
		return t.stream(e)
	case "result":
		t.result, t.over = &e.outcome, true
	case "system":
		return t.system(e)
	case "user": // what the model is told next
		t.retrying, t.over = false, false
		t.Returned()
		t.results(e)
	case "tool_progress", "rate_limit_event":
		t.retrying = false
	default:
		t.Report(engine.ProgressRaw, string(line))
	}
	return nil
}

// stream handles an event of the provider.
func (t *turn) stream(e event) error {
	var s streamed
	if !session.Decode(e.Stream, &s) {
		return nil
	}
	// Sub-agents do not contribute to the text, so their limits do not matter.
	if s.Delta.StopReason != "" && e.ParentToolUseID == "" {
		t.stop = s.Delta.StopReason
	}
	if t.account == nil {
		return nil
	}
	if s.Type == "message_start" {
		if over := t.account.Exhausted(); over != nil {
			return over
		}
		t.answer = t.account.Answer(t.model, 0, false)
	}
	if t.answer != nil {
		t.answer.Event(e.Stream)
	}
	return nil
}

func (t *turn) system(e event) error {
	switch e.Subtype {
	case "init":
		t.over = false
		t.model = cmp.Or(e.Model, t.model)
		if t.account != nil {
			if barred := t.account.Barred(t.model); barred != nil {
				return barred
			}
		}
	case "api_retry":
		t.retry, t.retrying = e, true
		if t.account != nil {
			t.retries++
		}
		t.Report(engine.ProgressRetry, fmt.Sprintf("%s (attempt %d of %d, in %s)",
			cmp.Or(e.Error, "failure"), e.Attempt, e.MaxRetries, e.retryDelay().Round(100*time.Millisecond)))
	case "status", "thinking_tokens", "informational", "permission_denied":
	default:
		t.Report(engine.ProgressRaw, "system/"+e.Subtype)
	}
	return nil
}

func (t *turn) assistant(e event) error {
	var m message
	if !session.Decode(e.Message, &m) {
		t.Report(engine.ProgressRaw, "assistant event without a message")
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
			var on target
			session.Decode(c.Input, &on)
			t.Tool(c.ID, c.Name, cmp.Or(on.FilePath, on.Command, on.Pattern, on.Path), string(c.Input))
		case c.Type == "text" && e.ParentToolUseID == "":
			// A message that was cut off at its limit continues in the next one, in mid-sentence.
			goesOn := t.stop == "max_tokens"
			t.stop = ""
			if err := t.Prose(c.Text, goesOn); err != nil {
				return err
			}
		}
	}
	return nil
}

// results handles what the tools returned. A message can also be plain text, which does not decode.
func (t *turn) results(e event) {
	var m message
	if session.Decode(e.Message, &m) {
		for _, c := range m.Content {
			if c.Failed {
				t.Failed(c.Of)
			}
		}
	}
}

// says is what the CLI reports about the turn.
func (t *turn) says() engine.Result {
	result := engine.Result{Text: t.Text(), SessionID: t.id, Model: t.model, Retries: t.retries}
	if t.result != nil {
		u := t.result.Usage
		result.Usage = verdict.Usage{Input: u.Input, CacheWrite: u.CacheWrite, CacheRead: u.CacheRead, Output: u.Output}
		result.CostUSD = t.result.CostUSD
		result.Turns = t.result.NumTurns
	}
	return result
}

// judge decides whether a finished turn succeeded. Function fail makes the failure of a class with a detail.
func (t *turn) judge(exit, stderr string, fail func(engine.Class, string) *engine.Error) error {
	if t.result == nil {
		return kind.Crash(t.Transcript, exit, stderr, t.id != "")
	}
	if failure := t.classify(fail); failure != nil {
		return failure
	}
	if strings.TrimSpace(t.Text()) == "" {
		return engine.Errorf(engine.BadOutput, "claude ended the session without an answer")
	}
	return nil
}

// stopped names the cause of a stop: a CLI that was killed while it waited to retry a request failed because
// of the provider.
func (t *turn) stopped(err error) error {
	failure, ok := errors.AsType[*engine.Error](err)
	if !ok || !failure.Late() || !t.retrying {
		return err
	}
	return &engine.Error{
		Class:      classOf(t.retry.Error, t.retry.ErrorStatus),
		Message:    fmt.Sprintf("the provider refused repeatedly (%s), and %s", cmp.Or(t.retry.Error, "no reason given"), failure.Message),
		RetryAfter: t.retry.retryDelay(),
	}
}
