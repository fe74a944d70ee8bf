// Package worker does what one pull request needs of an agent: it looks at GitHub, decides, and acts, one step at a
// time. It stores nothing but the journal, the worktrees, and whose words are trusted.
package worker

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"touchstone/agent/author"
	"touchstone/agent/config"
	"touchstone/agent/engine"
	"touchstone/agent/forge"
	"touchstone/agent/journal"
	"touchstone/agent/merger"
	"touchstone/agent/pull"
	"touchstone/agent/reviewer"
	"touchstone/agent/telemetry"
	"touchstone/agent/trust"
	"touchstone/verdict"
	"touchstone/verdict/decide"
	"touchstone/worktree"
	"touchstone/worktree/pause"
)

// Reader reads from GitHub.
type Reader interface {
	PullRequest(ctx context.Context, ref forge.Ref) (forge.PullRequest, error)
	HeadSHA(ctx context.Context, ref forge.Ref) (string, error)
	OpenPullRequests(ctx context.Context, repo forge.Repo) ([]forge.Listed, error)
	Orphans(ctx context.Context, repo forge.Repo) ([]int, error)
	pull.Source
}

// Agent takes one role in the loop and does what a pull request needs of it,
// one step at a time. Its methods may be called from several goroutines at
// once, but not for the same pull request.
type Agent struct {
	Role decide.Role
	// Login is the login that the agent acts as.
	Login string
	// Config returns the present settings.
	Config func() config.Config
	Read   Reader
	// Now returns the present time by GitHub's clock; nil means this machine's clock.
	Now func() time.Time
	// Journal is nil for a single command: its caller sees the result itself.
	Journal *journal.Journal
	// Charge, if set, charges the cost of a single command, in US dollars, to the daily budget of the agent
	// with the same role on this machine.
	Charge   func(usd float64) error
	Reviewer *reviewer.Reviewer
	Author   *author.Author
	Merger   *merger.Merger
	Caller   Caller
	Approve  Approver
	// Report writes commit statuses; nil writes none.
	Report    Reporter
	Worktrees *worktree.Store
	// Trust decides whose records are believed; nil believes everything that a reviewer's login posted. Key
	// signs the records of a reviewer's agent, if there is one.
	Trust *trust.Book
	Key   ed25519.PrivateKey
	// Remote returns the clone URL and the Authorization header for git.
	Remote pull.Remote
	// ByHand says that the author runs the merge by hand: reasons to leave the merge to the author do not
	// count.
	ByHand bool

	// onlooks says that the agent only watches: it gathers the facts for all conditions, up to the last.
	onlooks bool
	// blind holds the repositories for which the log already says that permissions cannot be seen there.
	blind sync.Map
	// made holds the result of the last comparison for each pull request.
	made         sync.Map
	heads        heads
	statuses     statuses
	reservations reservations
}

// Step is the result of one look at a pull request.
type Step struct {
	PR     forge.PullRequest
	Action decide.Action
	// Verdict is set after a finished review.
	Verdict verdict.Verdict
	// URL is where the step's result is on GitHub, if anywhere.
	URL string
	// Head is the new head after a fix, or the merge commit after a merge.
	Head string
	// Findings counts the findings of a finished review. Sum summarizes them and what else stands against an approval.
	Findings int
	Sum      string
	CostUSD  float64
	// Paid says that a model answered, even if the step failed.
	Paid bool
	// EngineStarted is when the model's process started. Ended is when the step was finished.
	EngineStarted, Ended time.Time
}

// Log adds the step's result to a log event.
func (s Step) Log(e *zerolog.Event) *zerolog.Event {
	if s.Verdict != "" {
		e.Str("verdict", string(s.Verdict)).Int("findings", s.Findings)
	}
	if s.Sum != "" {
		e.Str("sum", s.Sum)
	}
	if s.Head != "" {
		e.Str("head", verdict.Short(s.Head))
	}
	if s.CostUSD > 0 {
		e.Float64("cost_usd", s.CostUSD)
	}
	if s.URL != "" {
		e.Str("url", s.URL)
	}
	return e
}

// Look reads a pull request, decides what it needs from this agent, and notes since when that is so. With an
// error that is a forge.ErrUnreadable there is still a decision: to call a person and leave the pull request
// to people.
func (a *Agent) Look(ctx context.Context, ref forge.Ref) (forge.PullRequest, decide.Action, error) {
	pr, err := a.Read.PullRequest(ctx, ref)
	if err != nil && !errors.Is(err, forge.ErrUnreadable) {
		return pr, decide.Action{}, err
	}
	f, action, err := a.decide(ctx, knowledge{a.Read, a}, pr, err)
	if err := a.remember(ctx, pr, f); err != nil {
		return pr, decide.Action{}, err
	}
	if action.Kind != "" {
		a.heads.note(pr, f, action)
	}
	return pr, action, err
}

// soon is the longest interval between two polls for what GitHub computes in the background, while a decision
// waits for it.
const soon = 2 * time.Second

// Settled is Decide after waiting for what GitHub computes in the background.
func (a *Agent) Settled(ctx context.Context, pr forge.PullRequest) (decide.Action, error) {
	action, err := a.Decide(ctx, pr)
	for patience := 10; err == nil && action.Computing && patience > 0; patience-- {
		if !pause.For(ctx, min(action.Recheck, soon)) {
			return action, context.Cause(ctx)
		}
		_, action, err = a.Look(ctx, pr.Ref)
	}
	return action, err
}

// Decide is the decision on a pull request as it was read. It reads what else the decision needs; if that
// fails there is no decision, except as Look describes. It stores nothing.
func (a *Agent) Decide(ctx context.Context, pr forge.PullRequest) (decide.Action, error) {
	_, action, err := a.decide(ctx, knowledge{a.Read, a}, pr, nil)
	return action, err
}

// decide is Decide for a pull request that an error may have kept from being read completely. It also returns
// the facts behind the decision.
func (a *Agent) decide(ctx context.Context, read pull.Knowledge, pr forge.PullRequest, unread error) (pull.Facts, decide.Action, error) {
	f, err := a.gather(ctx, read, pr)
	if err != nil {
		return f, decide.Action{}, err
	}
	f.Unread = unread
	s := pull.StateOf(pr, a.Role, a.Config(), f)
	action := decide.Next(s)
	if action.Kind != decide.Review && action.Kind != decide.Fix {
		return f, action, unread
	}
	// Only acts that use a session need the commits.
	if f.Commits, err = read.Commits(ctx, pr.Ref); err != nil && !errors.Is(err, forge.ErrUnreadable) {
		return f, decide.Action{}, err
	}
	s.Commits, s.Unread = pull.CommitsOf(pr, f), pull.Unread(err)
	return f, decide.Next(s), err
}

// Act carries out what Look decided.
func (a *Agent) Act(ctx context.Context, pr forge.PullRequest, action decide.Action) (Step, error) {
	step := Step{PR: pr, Action: action}
	act := map[decide.Kind]func(context.Context, *Step) error{
		decide.Review: a.review, decide.Lift: a.lift, decide.Fix: a.fix, decide.Apply: a.apply, decide.Merge: a.merge,
		decide.Tell: a.postNotice, decide.Escalate: a.escalate, decide.Release: a.release, decide.Reply: a.reply,
		decide.Dequeue: a.dequeue,
	}[action.Kind]
	if act == nil {
		return step, nil
	}
	ctx, measured := telemetry.Begin(ctx, string(action.Kind), pr.Ref.String(), pr.Head.SHA)
	if a.Journal == nil {
		err := act(ctx, &step)
		measured.End(err)
		step.Paid = measured.Paid()
		if usd := measured.Account().CostUSD; usd > 0 && a.Charge != nil {
			if err := a.Charge(usd); err != nil {
				zerolog.Ctx(ctx).Warn().Err(err).Msg("cannot add this cost to the day's budget of the agent on this machine")
			}
		}
		return step, err
	}
	paid := (action.Kind == decide.Review || action.Kind == decide.Fix) && !action.Allowance.NoModel
	if day := a.Config().Budgets.Day; paid && day > 0 {
		over, ok := a.reservations.promise(action.Allowance.USD, day-a.today())
		if !ok {
			return step, fmt.Errorf("%w: the rest of the day's budget is reserved for another session", ErrMovedOn)
		}
		defer over()
	}
	if paid {
		release, err := a.claim(ctx, pr, action)
		if err != nil {
			return step, err
		}
		defer release()
	}
	// The intent is durable before anything happens that others can see. After a crash, GitHub shows whether
	// it happened.
	id, err := a.Journal.Begin(journal.Entry{Ref: pr.Ref.String(), SHA: pr.Head.SHA, Act: string(action.Kind), Paid: paid})
	if err != nil {
		return step, fmt.Errorf("record what is about to be done: %w", err)
	}
	booked := a.book(ctx, id, measured)
	err = act(ctx, &step)
	booked()
	measured.End(err)
	step.Ended, step.Paid = time.Now(), measured.Paid()
	outcome := journal.Outcome{OK: err == nil,
		Counts:  ctx.Err() == nil && (CountsAsAttempt(err, step) || Overtaken(err) && a.heads.gaveUp(pr, action.Kind)),
		Account: measured.Account()}
	if err != nil {
		outcome.Detail, outcome.Permanent = err.Error(), permanent(err, step)
		if stopped := (*engine.Error)(nil); errors.As(err, &stopped) {
			outcome.RetryAfter = stopped.RetryAfter
		}
	}
	return step, errors.Join(err, a.Journal.End(id, outcome))
}

// booking is the interval at which the spending of a running act is stored.
const booking = 10 * time.Second

// book stores the spending of an act while it runs, so that a crash does not lose it. The returned function
// stops that.
func (a *Agent) book(ctx context.Context, id journal.ID, act *telemetry.Act) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	var writing sync.WaitGroup
	writing.Go(func() {
		written := journal.Account{}
		for pause.For(ctx, booking) {
			now := act.Account()
			if now == written {
				continue
			}
			if err := a.Journal.Update(id, now); err != nil {
				zerolog.Ctx(ctx).Warn().Err(err).Msg("cannot record yet what the session has cost")
			}
			written = now
		}
	})
	return func() { cancel(); writing.Wait() }
}
