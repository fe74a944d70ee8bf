package engine

import (
	"fmt"
	"time"
)

// Class says why a session did not finish; it is the same for every CLI, so
// that what to do next can be decided without knowing which one ran.
type Class string

const (
	// Missing: the CLI is not installed, or cannot be executed.
	Missing Class = "missing"
	// Auth: the provider does not accept, or the CLI does not have, a login.
	Auth Class = "auth"
	// Billing: the account has no credit left.
	Billing Class = "billing"
	// RateLimited: the account's quota is used up for now; RetryAfter may say for how long.
	RateLimited Class = "rate-limited"
	// Overloaded: the provider has no capacity for anyone.
	Overloaded Class = "overloaded"
	// Server: the provider failed.
	Server Class = "server"
	// Network: the provider could not be reached, or the connection broke.
	Network Class = "network"
	// UnknownModel: the provider has no such model, or not for this account.
	UnknownModel Class = "unknown-model"
	// ContextOverflow: prompt and session are longer than the model's context.
	ContextOverflow Class = "context-overflow"
	// Refusal: the model declined to answer.
	Refusal Class = "refusal"
	// BadRequest: the provider calls the request malformed; trying again will not help.
	BadRequest Class = "bad-request"
	// BadOutput: the CLI ended well but its output is no session, or is beyond all bounds.
	BadOutput Class = "bad-output"
	// MaxTurns: the session used up its turns.
	MaxTurns Class = "max-turns"
	// Budget: the session used up its Request.Budget.
	Budget Class = "budget"
	// Idle: nothing came for Request.IdleTimeout, or ToolTimeout.
	Idle Class = "idle"
	// Timeout: the session lasted longer than Request.Timeout.
	Timeout Class = "timeout"
	// Cancelled: the caller's context ended.
	Cancelled Class = "cancelled"
	// Crash: the CLI ended without a result, or left processes that were not seen to end.
	Crash Class = "crash"
	// Invalid: the request, or this machine, does not allow the session to
	// begin; nothing was started.
	Invalid Class = "invalid"
)

// Error is a session that did not finish.
type Error struct {
	Class Class
	// Message is a sentence that says what happened and, where it is known,
	// what to do. It holds no secrets.
	Message string
	// RetryAfter is the least time to wait before asking again, as the provider says, or
	// the CLI that waited for it; zero if neither said.
	RetryAfter time.Duration
	// Err is the cause within this process, if there is one: a cancelled
	// session wraps the context's cause.
	Err error
}

// Errorf makes an Error of a class from a format and its arguments.
func Errorf(class Class, format string, args ...any) *Error {
	return &Error{Class: class, Message: fmt.Sprintf(format, args...)}
}

func (e *Error) Error() string { return e.Message }

// Unwrap gives the cause, so that errors.Is sees context.Canceled.
func (e *Error) Unwrap() error { return e.Err }
