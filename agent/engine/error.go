package engine

import (
	"errors"
	"fmt"
	"time"
)

// Class says why a session did not finish. The classes are the same for every CLI, so that a caller can
// decide what to do without knowing which CLI ran.
type Class string

const (
	// Missing: the CLI is not installed, or cannot be executed.
	Missing Class = "missing"
	// Auth: the provider rejects the login, or the CLI has none.
	Auth Class = "auth"
	// Billing: the account has no credit left.
	Billing Class = "billing"
	// RateLimited: the account's quota is used up for now. RetryAfter may say for how long.
	RateLimited Class = "rate-limited"
	// Overloaded: the provider has no capacity for anyone.
	Overloaded Class = "overloaded"
	// Server: the provider failed.
	Server Class = "server"
	// Network: the provider could not be reached, or the connection broke.
	Network Class = "network"
	// UnknownModel: the provider does not have the model, or not for this account.
	UnknownModel Class = "unknown-model"
	// ContextOverflow: prompt and session together are longer than the model's context.
	ContextOverflow Class = "context-overflow"
	// PromptTooLarge: the session's first prompt is longer than the CLI or the model accepts. The same prompt would be
	// rejected again.
	PromptTooLarge Class = "prompt-too-large"
	// Refusal: the model declined to answer.
	Refusal Class = "refusal"
	// BadRequest: the provider calls the request malformed; a retry will not help.
	BadRequest Class = "bad-request"
	// BadOutput: the CLI exited normally, but its output is no session or exceeds all bounds.
	BadOutput Class = "bad-output"
	// MaxTurns: the session used up its turns.
	MaxTurns Class = "max-turns"
	// Budget: the session used up its Request.Budget.
	Budget Class = "budget"
	// Idle: nothing was received for Request.IdleTimeout, or ToolTimeout.
	Idle Class = "idle"
	// Timeout: the session lasted longer than Request.Timeout.
	Timeout Class = "timeout"
	// Cancelled: the caller's context ended.
	Cancelled Class = "cancelled"
	// Crash: the CLI ended without a result, or left processes that may still be running.
	Crash Class = "crash"
	// Invalid: the request, or this machine, does not allow the session; nothing was started.
	Invalid Class = "invalid"
)

// LongestWait bounds the wait that a model's provider can ask for: the model is tried again after that for all pull
// requests, and the next session may be another model's.
const LongestWait = time.Hour

// Error says why a session did not finish.
type Error struct {
	Class Class
	// Message is a sentence that says what happened and, if known, what to do. It contains no secrets.
	Message string
	// RetryAfter is the minimum time before a retry, as the provider says, or the CLI that waited for it;
	// zero if neither did.
	RetryAfter time.Duration
	// Err is the cause within this process, if there is one: the error of a cancelled session wraps the
	// context's cause.
	Err error
}

// Errorf makes an Error of a class from a format and its arguments.
func Errorf(class Class, format string, args ...any) *Error {
	return &Error{Class: class, Message: fmt.Sprintf(format, args...)}
}

// Classified returns an error's own class and message. An error without a class is Invalid: it kept a session or a turn from
// starting.
func Classified(err error) *Error {
	if failure, ok := errors.AsType[*Error](err); ok {
		return failure
	}
	return &Error{Class: Invalid, Message: err.Error(), Err: err}
}

// Late reports whether the CLI was stopped for its silence or at the end of its time.
func (e *Error) Late() bool { return e.Class == Idle || e.Class == Timeout }

func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause, so that errors.Is sees context.Canceled.
func (e *Error) Unwrap() error { return e.Err }
