// Package engine says what a model CLI is to this product: something that can
// be probed, and that can be run once, in a directory, in a role, with a
// prompt, until it answers, fails in a way that has a name, or is stopped.
//
// It owns the vocabulary (Engine, Request, Result, Error and its classes) and
// stores nothing. Each CLI has a package of its own below this one; the
// process package supervises whichever of them runs.
package engine

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// Engine drives one kind of model CLI. Its methods may be called from several
// goroutines at once; each Run is a process of its own.
type Engine interface {
	// Name is the engine's name in config and reviews, such as "claude".
	Name() string

	// Probe starts the CLI only to ask for its version. The error, an *Error,
	// says what to install or how to log in.
	Probe(ctx context.Context) (Version, error)

	// Run holds one session and blocks until every process of it is gone.
	// When the session did not finish, the error is an *Error and the Result
	// holds what was learnt until then (time, tokens, cost), for the books
	// only: its text is no answer.
	Run(ctx context.Context, req Request) (Result, error)
}

// Version is what a CLI says it is.
type Version struct {
	// Path is the executable that answered, absolute.
	Path string
	// Number is the version as the CLI prints it, such as "2.1.329".
	Number string
}

// Role decides what a session may do.
type Role string

const (
	// Reviewer reads files in its directories; it has no shell and can write nowhere.
	Reviewer Role = "reviewer"
	// Author also edits files in its working directory, and runs the commands allowed to it.
	Author Role = "author"
)

// The bounds of a session whose Request sets none.
const (
	DefaultTimeout     = 25 * time.Minute
	DefaultIdleTimeout = 60 * time.Second
)

// MaxPrompt is the longest prompt in bytes; claude refuses more on its standard input.
const MaxPrompt = 10 << 20

// Request is one session to hold.
type Request struct {
	Role Role
	// Dir is the session's working directory, normally a worktree.
	Dir string
	// ReadDirs are more directories a reviewer may read. An author has none,
	// since what a CLI lets it read besides its worktree it may let it edit.
	ReadDirs []string
	// Instructions are the standing orders of the role; the session sees no
	// others, neither this user's own nor the checkout's.
	Instructions string
	// Prompt reaches the CLI by standard input, at most MaxPrompt bytes.
	Prompt string
	// Model is the CLI's name of a model; empty leaves the choice to the CLI.
	Model string
	// Allow lists the shell commands an author may run, as patterns in which
	// * stands for anything, such as "go test *". A reviewer has no shell.
	Allow []string
	// Timeout bounds the whole session; zero is DefaultTimeout.
	Timeout time.Duration
	// IdleTimeout bounds the time without a byte from the CLI; zero is DefaultIdleTimeout.
	IdleTimeout time.Duration
	// Progress, if set, hears of the session as it goes, from one goroutine at
	// a time. It must not block: the session waits for it.
	Progress func(Progress)
}

// Bounded returns the request with its defaults in place, or says why no
// session can be held for it.
func (r Request) Bounded() (Request, error) {
	switch {
	case r.Role != Reviewer && r.Role != Author:
		return r, fmt.Errorf("role %q is neither %s nor %s", r.Role, Reviewer, Author)
	case r.Role == Author && len(r.ReadDirs) > 0:
		return r, fmt.Errorf("an author works in one directory, and may read no other")
	case r.Role == Reviewer && len(r.Allow) > 0:
		return r, fmt.Errorf("a reviewer has no shell to allow commands in")
	case r.Dir == "":
		return r, fmt.Errorf("a session needs a directory to work in")
	case strings.TrimSpace(r.Prompt) == "":
		return r, fmt.Errorf("a session needs a prompt")
	case len(r.Prompt) > MaxPrompt:
		return r, fmt.Errorf("the prompt is %d bytes long; the model takes %d", len(r.Prompt), MaxPrompt)
	case r.Timeout < 0 || r.IdleTimeout < 0:
		return r, fmt.Errorf("a session's timeouts cannot be negative")
	}
	if r.Timeout == 0 {
		r.Timeout = DefaultTimeout
	}
	if r.IdleTimeout == 0 {
		r.IdleTimeout = DefaultIdleTimeout
	}
	return r, nil
}

// Result is a session that came to its end.
type Result struct {
	// Text is all the session's prose in order, without what tools printed.
	Text      string
	SessionID string
	// Model is the one that answered, by the CLI's word.
	Model string
	Usage Usage
	// CostUSD is the CLI's own figure; zero when it knows none.
	CostUSD float64
	Turns   int
	Started time.Time
	// Duration runs from the start of the process until all of it is gone.
	Duration time.Duration
	// FirstByte runs from the start of the process to its first output; zero if there was none.
	FirstByte time.Duration
}

// Usage counts the tokens of one session.
type Usage struct {
	Input, CacheWrite, CacheRead, Output int64
}

// Progress is something that happened in a session. Text comes from the model
// or its tools: it is one line of printable characters, at most 200 of them,
// and otherwise not to be trusted.
type Progress struct {
	Kind ProgressKind
	Text string
	// Elapsed is the session's age.
	Elapsed time.Duration
	// Silence is the time since the last byte, for Heartbeat.
	Silence time.Duration
}

// ProgressKind says what a Progress reports.
type ProgressKind string

const (
	// ProgressDimension: the session began a review dimension, named in Text.
	ProgressDimension ProgressKind = "dimension"
	// ProgressText: the model wrote prose.
	ProgressText ProgressKind = "text"
	// ProgressTool: the model calls a tool, named in Text with its target.
	ProgressTool ProgressKind = "tool"
	// ProgressRetry: the provider refused and the CLI is about to ask again.
	ProgressRetry ProgressKind = "retry"
	// ProgressHeartbeat: nothing has been heard for Silence, a multiple of 30 seconds.
	ProgressHeartbeat ProgressKind = "heartbeat"
	// ProgressRaw: a line of output that this engine does not know.
	ProgressRaw ProgressKind = "raw"
)
