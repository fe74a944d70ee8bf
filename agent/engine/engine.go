// Package engine defines what a model CLI is to this product: something that can be probed, and that can run
// sessions, in a directory and in a role. A session takes one prompt per turn until the turn is answered,
// fails with a class, or is stopped.
//
// The package owns the vocabulary (Engine, Session, Request, Result, Error and its classes) and stores
// nothing. Each CLI has a package of its own below this one; package process supervises the CLI's process.
package engine

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"touchstone/verdict"
)

// Engine drives one kind of model CLI. Its methods are safe for concurrent use; sessions are independent of
// each other.
type Engine interface {
	// Name is the engine's name in config and reviews, such as "claude".
	Name() string

	// Probe starts the CLI only to ask for its version. The error, an *Error, says what to install or how to
	// log in.
	Probe(ctx context.Context) (Version, error)

	// Open creates a session. No process runs before its first Ask. The error is an *Error.
	Open(ctx context.Context, req Request) (Session, error)
}

// Thinker is an engine whose models can be told how much to think.
type Thinker interface {
	// Efforts are the levels that it passes on, the lowest first.
	Efforts() []string
}

// Session is one conversation with one model, which remembers its earlier turns. Only one goroutine at a time
// may use it.
type Session interface {
	// Ask runs one turn and blocks until every process of the turn has ended. If the turn did not finish, the
	// error is an *Error, and the Result has what is known by then (time, tokens, cost), for accounting only:
	// its text is no answer. The conversation can continue after that: the model remembers what it read in
	// it, unless the next turn reports ProgressAnew.
	Ask(ctx context.Context, prompt string) (Result, error)

	// Close removes everything that the session stored. A closed session cannot be asked.
	Close() error
}

// Version describes an installed CLI.
type Version struct {
	// Engine is the name of the CLI's engine.
	Engine string
	// Path is the absolute path of the executable that answered.
	Path string
	// Number is the version as the CLI prints it, such as "2.1.329".
	Number string
	// Provider is the address to which its sessions send requests.
	Provider string
	// Direct says why its sessions send requests there directly and not through a gateway; empty if they use
	// a gateway.
	Direct string
	// Priced is the day on which its prices of models were looked up, such as 2026-01-31; empty if it has
	// none.
	Priced string
	// Lacks says what is missing on this machine and how to install it, as a sentence fragment; empty if
	// nothing is. The CLI can be used nevertheless.
	Lacks string
}

// Role decides what a session may do.
type Role string

const (
	// Reviewer reads files in the session's directories, with the CLI's tools for that, and cannot write
	// anywhere.
	Reviewer Role = "reviewer"
	// Author also edits files in the working directory, and runs the commands that it is allowed.
	Author Role = "author"
)

// The bounds of a session if its Request sets none.
const (
	DefaultTimeout     = 25 * time.Minute
	DefaultIdleTimeout = 60 * time.Second
	// DefaultToolTimeout is the longest time that claude lets a command run.
	DefaultToolTimeout = 10 * time.Minute
)

// MaxPrompt is the longest prompt, in bytes, for every CLI: claude rejects more on its standard input. A CLI or a model may
// accept less.
const MaxPrompt = 10 << 20

// Request describes one session.
type Request struct {
	Role Role
	// Dir is the session's working directory, normally a worktree.
	Dir string
	// ReadDirs are further directories that the session may read but not edit. A CLI may let an author delete
	// files there with rm.
	ReadDirs []string
	// Instructions are the fixed instructions of the role. The session sees no others, neither this user's
	// nor the checkout's.
	Instructions string
	// Model is the CLI's name of a model; empty leaves the choice to the CLI.
	Model string
	// Effort is how much the model should think: minimal, low, medium, high, xhigh or max. If it is empty, or
	// a level that the engine does not know (see Thinker), the CLI decides.
	Effort string
	// Allow lists the shell commands that an author may run, as patterns in which * matches anything, such as
	// "go test *". A reviewer may run none. A CLI without a tool to delete files may also run rm on what it
	// may edit. A CLI that runs each command in its own sandbox, where no file outside Dir can be written and
	// the network cannot be reached, may rely on that instead.
	Allow []string
	// Timeout bounds all the session's turns together; zero means DefaultTimeout.
	Timeout time.Duration
	// IdleTimeout bounds the time without a byte from the CLI or, if the engine can see it, from the
	// provider; zero means DefaultIdleTimeout.
	IdleTimeout time.Duration
	// ToolTimeout replaces IdleTimeout, if it is longer, while a tool of an author is running, such as a test
	// that prints nothing, or while the engine cannot know whether one is. A CLI may use it as the limit of
	// every command. Zero means DefaultToolTimeout.
	ToolTimeout time.Duration
	// Budget bounds the cost of all the session's turns, in US dollars; zero means no bound. The first
	// request to the provider after that is refused.
	Budget float64
	// Others, if set, returns what other sessions have cost so far of this one's Budget and Timeout. It is called at any
	// time during a turn, from any goroutine, and must not block.
	Others func() verdict.Cost
	// MaxTurns bounds the model's steps in all the session's turns. A step is one answer of the provider.
	// Zero means no bound.
	MaxTurns int
	// Asks, if set, is called before each request to the provider with the provider's own name of the model.
	// An error refuses the request and ends the turn with an *Error that wraps it. An engine that does not
	// see the requests calls it as soon as the CLI names the model, if it does. Asks must not block.
	Asks func(model string) error
	// Progress, if set, is called with the session's progress, from one goroutine at a time. It must not
	// block: the session waits for it.
	Progress func(Progress)
}

// Bounded returns the request with defaults filled in and absolute directories, or says why there can be no session for it.
func (r Request) Bounded() (Request, error) {
	switch {
	case r.Role != Reviewer && r.Role != Author:
		return r, fmt.Errorf("role %q is neither %s nor %s", r.Role, Reviewer, Author)
	case r.Role == Reviewer && len(r.Allow) > 0:
		return r, fmt.Errorf("a reviewer's session has no shell, so no commands can be allowed")
	case r.Dir == "":
		return r, fmt.Errorf("a session needs a directory to work in")
	case r.Timeout < 0 || r.IdleTimeout < 0 || r.ToolTimeout < 0 || r.Budget < 0 || r.MaxTurns < 0:
		return r, fmt.Errorf("a session's limits cannot be negative")
	}
	r.ReadDirs = slices.Clone(r.ReadDirs)
	for i := range r.ReadDirs {
		var err error
		if r.ReadDirs[i], err = filepath.Abs(r.ReadDirs[i]); err != nil {
			return r, fmt.Errorf("directory to read: %w", err)
		}
	}
	dir, err := filepath.Abs(r.Dir)
	if err != nil {
		return r, fmt.Errorf("find the working directory: %w", err)
	}
	r.Dir = dir
	r.Timeout = cmp.Or(r.Timeout, DefaultTimeout)
	r.IdleTimeout = cmp.Or(r.IdleTimeout, DefaultIdleTimeout)
	r.ToolTimeout = cmp.Or(r.ToolTimeout, DefaultToolTimeout)
	return r, nil
}

// Shared is what Others returns, or zero.
func (r Request) Shared() verdict.Cost {
	if r.Others == nil {
		return verdict.Cost{}
	}
	return r.Others()
}

// Result is one finished turn of a session. Its figures are of that turn alone.
type Result struct {
	// Text is the turn's whole prose in order, without the output of tools.
	Text string
	// SessionID is the CLI's id of the conversation, the same in each turn.
	SessionID string
	// Engine is the name of the engine that answered.
	Engine string
	// Model is the model that answered, as the CLI reports it.
	Model string
	// Switched is a sentence that says why another model or engine than the requested one answered; empty if
	// none did.
	Switched string
	Usage    verdict.Usage
	// CostUSD is the CLI's own figure, else the cost by the price table; zero if neither is known.
	CostUSD float64
	// Retries counts the requests that the provider refused and that were repeated.
	Retries int
	// Turns counts the model's steps, including tool calls, as the CLI reports them.
	Turns   int
	Started time.Time
	// Duration is from the start of the process until all its processes have ended.
	Duration time.Duration
	// FirstByte is from the start of the process to its first output; zero if there was none.
	FirstByte time.Duration
}

// Add adds the figures of another turn, during which this one did not run.
func (r *Result) Add(other Result) {
	r.Usage = r.Usage.Plus(other.Usage)
	r.CostUSD += other.CostUSD
	r.Retries += other.Retries
	r.Turns += other.Turns
	r.Duration += other.Duration
}

// Progress is an event in a session. Text comes from the model or its tools: it is one line of at most 200
// printable characters, and otherwise untrusted.
type Progress struct {
	Kind ProgressKind
	Text string
	// Target is, for ProgressTool, the arguments of the tool's call as the CLI prints them: also one line, of
	// up to 4,096 characters. Every call is reported.
	Target string
	// Used are the tokens that the session has used so far, as far as the gateway saw them or the CLI
	// reported them.
	Used verdict.Usage
	// CostUSD is their cost by the price table.
	CostUSD float64
	// Elapsed is the time since the turn began.
	Elapsed time.Duration
	// Silence is the time since the last byte, for ProgressHeartbeat.
	Silence time.Duration
}

// Waiting is the text of a heartbeat for people.
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
	// ProgressDimension: the session began one or several review dimensions, named in Text and separated by
	// commas.
	ProgressDimension ProgressKind = "dimension"
	// ProgressText: the model wrote prose.
	ProgressText ProgressKind = "text"
	// ProgressTool: the model calls a tool. Text has its name and target.
	ProgressTool ProgressKind = "tool"
	// ProgressFailed: a call that was reported with this Text and Target failed, so its tool showed the model nothing. A
	// shell's command can fail after it has shown files, so it is not reported.
	ProgressFailed ProgressKind = "failed"
	// ProgressAnew: the turn begins in a new session of the CLI. That is told what was said before, but not what tools showed.
	ProgressAnew ProgressKind = "anew"
	// ProgressSwitch: another model, named in Text, begins the turn anew. It knows nothing of what was reported before.
	ProgressSwitch ProgressKind = "switch"
	// ProgressRetry: the provider refused, and the CLI will retry.
	ProgressRetry ProgressKind = "retry"
	// ProgressHeartbeat: nothing was received for Silence, a multiple of 30 seconds. Text is the tool that is
	// known to be running, or empty.
	ProgressHeartbeat ProgressKind = "heartbeat"
	// ProgressRaw: a line of output that the engine does not know.
	ProgressRaw ProgressKind = "raw"
)
