// Package engine says what a model CLI is to this product: something that can
// be probed, and with which a session can be held, in a directory, in a role:
// turn by turn a prompt goes in, until it is answered, fails in a way that has a
// name, or is stopped.
//
// It owns the vocabulary (Engine, Session, Request, Result, Error and its
// classes) and stores nothing. Each CLI has a package of its own below this one; the process
// package supervises the CLI's process.
package engine

import (
	"context"
	"fmt"
	"strings"
	"time"

	"touchstone/verdict"
)

// Engine drives one kind of model CLI. Its methods may be called from several
// goroutines at once; each session is apart from all others.
type Engine interface {
	// Name is the engine's name in config and reviews, such as "claude".
	Name() string

	// Probe starts the CLI only to ask for its version. The error, an *Error,
	// says what to install or how to log in.
	Probe(ctx context.Context) (Version, error)

	// Open begins a session; nothing runs before its first Ask. The error is an
	// *Error.
	Open(ctx context.Context, req Request) (Session, error)
}

// Thinker is an engine that can be told how much its models are to think.
type Thinker interface {
	// Efforts are the levels that it passes on, the least first.
	Efforts() []string
}

// Session is one conversation with one model, which remembers its earlier
// turns. One goroutine at a time may use it.
type Session interface {
	// Ask holds one turn and blocks until every process of it is gone. When the
	// turn did not finish, the error is an *Error and the Result holds what was
	// learnt until then (time, tokens, cost), for the books only: its text is no
	// answer. The conversation can go on after that: what the model had read of
	// it until then, it remembers.
	Ask(ctx context.Context, prompt string) (Result, error)

	// Close removes all that the session kept. A closed session cannot be asked.
	Close() error
}

// Version is what a CLI says it is.
type Version struct {
	// Engine is the name of the engine that the CLI is of.
	Engine string
	// Path is the executable that answered, absolute.
	Path string
	// Number is the version as the CLI prints it, such as "2.1.329".
	Number string
	// Provider is the address where its sessions ask for answers.
	Provider string
	// Direct says why its sessions ask there themselves and not through a gateway;
	// empty if they do not.
	Direct string
	// Priced is the day on which the prices were looked up that it knows of its models, as in
	// 2026-01-31; empty if it knows none.
	Priced string
	// Lacks says what it misses on this machine and how to put it there, as a sentence part;
	// empty if it has all it needs. It can be used nevertheless.
	Lacks string
}

// Role decides what a session may do.
type Role string

const (
	// Reviewer reads files in its directories, with the CLI's tools for that, and can write
	// nowhere.
	Reviewer Role = "reviewer"
	// Author also edits files in its working directory, and runs the commands allowed to it.
	Author Role = "author"
)

// The bounds of a session whose Request sets none.
const (
	DefaultTimeout     = 25 * time.Minute
	DefaultIdleTimeout = 60 * time.Second
	// DefaultToolTimeout is as long as claude lets a command run at the most.
	DefaultToolTimeout = 10 * time.Minute
)

// MaxPrompt is the longest prompt in bytes; claude refuses more on its standard input.
const MaxPrompt = 10 << 20

// Request is one session to hold.
type Request struct {
	Role Role
	// Dir is the session's working directory, normally a worktree.
	Dir string
	// ReadDirs are more directories that it may read, and not edit. A CLI may let an author delete
	// files there with rm.
	ReadDirs []string
	// Instructions are the standing orders of the role; the session sees no
	// others, neither this user's own nor the checkout's.
	Instructions string
	// Model is the CLI's name of a model; empty leaves the choice to the CLI.
	Model string
	// Effort is how much the model is to think: minimal, low, medium, high, xhigh or max; empty
	// leaves it to the CLI, and so does a level that the engine does not know: see Thinker.
	Effort string
	// Allow lists the shell commands an author may run, as patterns in which
	// * stands for anything, such as "go test *". A reviewer may run none. A CLI may also run
	// rm on what it may edit, where it has no tool to delete a file. One that
	// runs each command in a sandbox of its own, where neither a file outside Dir can
	// be written nor the network be reached, may hold itself to that instead.
	Allow []string
	// Timeout bounds what the session's turns take together; zero is DefaultTimeout.
	Timeout time.Duration
	// IdleTimeout bounds the time without a byte from the CLI or, where an engine
	// can see it, from the provider; zero is DefaultIdleTimeout.
	IdleTimeout time.Duration
	// ToolTimeout bounds that time instead, where it is the longer one, while an author's tool is at
	// work, such as a test that prints nothing, or while an engine cannot tell whether one is; a
	// CLI may let no command run for longer. Zero is DefaultToolTimeout.
	ToolTimeout time.Duration
	// Budget bounds what the session's turns cost together, in US dollars; zero sets
	// no bound. The request to the provider that would come after it is refused.
	Budget float64
	// MaxTurns bounds the model's steps of all the session's turns, one step being one
	// answer of the provider; zero sets no bound.
	MaxTurns int
	// Asks, if set, is told of each request to the provider which model it is for, by the
	// provider's own name, before the request is made. An error refuses it, and ends the turn
	// with an *Error that wraps it. Where an engine does not see the requests, it is told as
	// soon as the CLI says which model that is, if it does. It must not block.
	Asks func(model string) error
	// Progress, if set, is told of the session as it goes, from one goroutine at
	// a time. It must not block: the session waits for it.
	Progress func(Progress)
}

// Bounded returns the request with its defaults in place, or says why no
// session can be held for it.
func (r Request) Bounded() (Request, error) {
	switch {
	case r.Role != Reviewer && r.Role != Author:
		return r, fmt.Errorf("role %q is neither %s nor %s", r.Role, Reviewer, Author)
	case r.Role == Reviewer && len(r.Allow) > 0:
		return r, fmt.Errorf("a reviewer has no shell to allow commands in")
	case r.Dir == "":
		return r, fmt.Errorf("a session needs a directory to work in")
	case r.Timeout < 0 || r.IdleTimeout < 0 || r.ToolTimeout < 0 || r.Budget < 0 || r.MaxTurns < 0:
		return r, fmt.Errorf("a session's bounds cannot be negative")
	}
	if r.Timeout == 0 {
		r.Timeout = DefaultTimeout
	}
	if r.IdleTimeout == 0 {
		r.IdleTimeout = DefaultIdleTimeout
	}
	if r.ToolTimeout == 0 {
		r.ToolTimeout = DefaultToolTimeout
	}
	return r, nil
}

// CheckPrompt says why a prompt cannot be asked.
func CheckPrompt(prompt string) error {
	switch {
	case strings.TrimSpace(prompt) == "":
		return fmt.Errorf("a turn needs a prompt")
	case len(prompt) > MaxPrompt:
		return fmt.Errorf("the prompt is %d bytes long; the model takes %d", len(prompt), MaxPrompt)
	}
	return nil
}

// Result is one turn of a session that came to its end; its figures are of that
// turn alone.
type Result struct {
	// Text is all the turn's prose in order, without what tools printed.
	Text string
	// SessionID is the CLI's name for the conversation, the same in each turn.
	SessionID string
	// Engine is the name of the engine that answered.
	Engine string
	// Model is the one that answered, by the CLI's word.
	Model string
	// Switched is a sentence that says why another model or engine than the one asked
	// for has answered; empty if none has.
	Switched string
	Usage    verdict.Usage
	// CostUSD is the CLI's own figure, else one by the table of prices; zero when
	// neither knows.
	CostUSD float64
	// Retries counts the requests that the provider refused and that were made again.
	Retries int
	// Turns counts the model's steps, tool calls included, by the CLI's word.
	Turns   int
	Started time.Time
	// Duration runs from the start of the process until all of it is gone.
	Duration time.Duration
	// FirstByte runs from the start of the process to its first output; zero if there was none.
	FirstByte time.Duration
}

// Progress is something that happened in a session. Text comes from the model
// or its tools: it is one line of printable characters, at most 200 of them,
// and otherwise not to be trusted.
type Progress struct {
	Kind ProgressKind
	Text string
	// Target are the arguments that a tool is called with, as the CLI prints them, for
	// ProgressTool: one line too, of up to 4,096 characters. Every call is reported.
	Target string
	// Used are the tokens that the session has used until now, as far as that is known: what
	// the gateway has seen, or the CLI told.
	Used verdict.Usage
	// CostUSD is what they cost by the table of prices.
	CostUSD float64
	// Elapsed is the turn's age.
	Elapsed time.Duration
	// Silence is the time since the last byte, for Heartbeat.
	Silence time.Duration
}

// Waiting is what a heartbeat says, for people.
func (p Progress) Waiting() string {
	silence := p.Silence.Round(time.Second)
	if p.Text != "" {
		return fmt.Sprintf("running %s, %s without output", p.Text, silence)
	}
	return fmt.Sprintf("the model is thinking, %s since its last output", silence)
}

// ProgressKind says what a Progress reports.
type ProgressKind string

const (
	// ProgressDimension: the session began a review dimension, or several at once, named in Text
	// with commas between them.
	ProgressDimension ProgressKind = "dimension"
	// ProgressText: the model wrote prose.
	ProgressText ProgressKind = "text"
	// ProgressTool: the model calls a tool, named in Text with its target.
	ProgressTool ProgressKind = "tool"
	// ProgressRetry: the provider refused and the CLI is about to ask again.
	ProgressRetry ProgressKind = "retry"
	// ProgressHeartbeat: nothing has come for Silence, a multiple of 30 seconds. Text is the
	// tool that is known to run meanwhile, or empty.
	ProgressHeartbeat ProgressKind = "heartbeat"
	// ProgressRaw: a line of output that this engine does not know.
	ProgressRaw ProgressKind = "raw"
)
