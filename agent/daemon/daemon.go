// Package daemon owns the loop on one machine. It takes events from the relay as hints, keeps one worker per
// pull request, and each worker looks at GitHub, decides and acts until there is nothing left to do. A sweep
// at the start and every few minutes makes up for lost hints. The daemon stores nothing but the journal.
package daemon

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"touchstone/agent/activity"
	"touchstone/agent/config"
	"touchstone/agent/forge"
	"touchstone/agent/worker"
	"touchstone/relay/event"
	"touchstone/verdict"
	"touchstone/verdict/decide"
	"touchstone/worktree/pause"
)

// Follower follows the relay. It calls hint for each event until the context ends, and reconnects by itself.
type Follower interface {
	Follow(ctx context.Context, hint func(Hint)) error
}

// Hint says that something happened: to one pull request; with number 0, to any pull request of a repository;
// as the zero value, to any at all.
type Hint struct {
	Repo   forge.Repo
	Number int
}

// Daemon keeps an agent working.
type Daemon struct {
	Agent *worker.Agent
	// Settings are the agent's settings. Reload, if set, reads them again when their file has changed.
	Settings *config.Live
	Reload   func() (config.Config, error)
	Follow   Follower
	Repos    []forge.Repo
	// Only, if set, is the only pull request to look after. Ends makes Run end with an *Ended as soon as only
	// people are awaited.
	Only forge.Ref
	Ends bool
	// Sweep is the interval between two looks at everything that is open.
	Sweep time.Duration
	// Concurrency bounds the acts that run concurrently.
	Concurrency int
	// Self is what Announce is told about the agent, at each change and every half minute, without the
	// present activity, which is added. If Announce is nil, nothing is announced.
	Self     event.Beacon
	Announce func(ctx context.Context, b event.Beacon) error
	// Stepped, if set, is called after each act, with its error.
	Stepped func(worker.Step, error)

	// Activity is what the agent does at the moment.
	Activity activity.Tracker
	still    standstill
	stop     context.CancelCauseFunc
	mu       sync.Mutex
	// workers has one channel for each pull request that a worker looks after. A channel holds at most one hint:
	// any number of hints ask for one more look.
	workers map[forge.Ref]chan struct{}
	wg      sync.WaitGroup
	slots   chan struct{}
	// all holds at most one request to look at everything. spare holds at most one request to prepare a
	// worktree for the next new pull request.
	all, spare chan struct{}
}

// clearing is the interval between two checks of how much space the worktrees use.
const clearing = 6 * time.Hour

// maxEndings bounds how often an agent tries to finish with a closed pull request: for some fifty minutes.
const maxEndings = 15

// Ended says why a daemon that looks after one pull request has ended.
type Ended struct {
	// Done says that the pull request is merged or closed, or is none of this agent's business; otherwise it
	// needs a person.
	Done   bool
	Reason string
}

// Error is the reason.
func (e *Ended) Error() string { return e.Reason }

// Run works until the context ends and every worker has stopped. It only returns an error when it is useless
// to go on: GitHub or the relay rejects the token.
func (d *Daemon) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	d.stop = cancel
	d.workers = map[forge.Ref]chan struct{}{}
	d.slots = make(chan struct{}, max(1, d.Concurrency))
	d.all, d.spare = make(chan struct{}, 1), make(chan struct{}, 1)
	d.wg.Go(func() { d.sweep(ctx) })
	d.wg.Go(func() { d.prepare(ctx) })
	d.wg.Go(func() {
		for pause.For(ctx, clearing) {
			d.Agent.Clear(ctx)
		}
	})
	d.wg.Go(func() { d.announce(ctx) })
	if d.Reload != nil {
		d.wg.Go(func() { d.Settings.Follow(ctx, d.Reload) })
	}
	if d.Follow != nil {
		d.wg.Go(func() {
			if err := d.Follow.Follow(ctx, func(h Hint) { d.hint(ctx, h) }); err != nil && ctx.Err() == nil {
				cancel(fmt.Errorf("follow the relay: %w", err))
			}
		})
	}
	<-ctx.Done()
	d.wg.Wait()
	err := context.Cause(ctx)
	switch {
	case errors.Is(err, context.Canceled):
		return nil
	case !errors.As(err, new(*Ended)):
		d.ringEnd(ctx, err)
	}
	return err
}

// hint wakes the worker of a pull request, or the workers of a whole repository.
func (d *Daemon) hint(ctx context.Context, h Hint) {
	if h == (Hint{}) {
		poke(d.all)
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if h.Number != 0 {
		d.wakeLocked(ctx, forge.Ref{Repo: h.Repo, Number: h.Number})
		return
	}
	for ref := range d.workers {
		if ref.Repo == h.Repo {
			d.wakeLocked(ctx, ref)
		}
	}
}

func (d *Daemon) wakeLocked(ctx context.Context, ref forge.Ref) {
	if ctx.Err() != nil || d.Only != (forge.Ref{}) && ref != d.Only {
		return
	}
	wake := d.workers[ref]
	if wake == nil {
		wake = make(chan struct{}, 1)
		d.workers[ref] = wake
		d.wg.Go(func() { d.work(ctx, ref, wake) })
	}
	poke(wake)
}

// poke sends a signal unless one is pending.
func poke(signal chan<- struct{}) {
	select {
	case signal <- struct{}{}:
	default:
	}
}

// retire ends a worker unless a hint arrived meanwhile.
func (d *Daemon) retire(ref forge.Ref, wake chan struct{}) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(wake) > 0 {
		return false
	}
	delete(d.workers, ref)
	return true
}

// sweep looks at every listed pull request, and at those that are no longer listed but have a worker: at the start, at
// intervals, and when hints may have been lost.
func (d *Daemon) sweep(ctx context.Context) {
	listing := trouble{what: "cannot list the open pull requests"}
	for {
		listed, failed := d.list(ctx)
		if failed == nil {
			listed = append(listed, d.unlisted(listed)...)
		}
		for _, ref := range listed {
			d.hint(ctx, Hint{Repo: ref.Repo, Number: ref.Number})
		}
		poke(d.spare)
		if failed != nil {
			if !d.waitOut(ctx, &listing, failed, d.all) {
				return
			}
			continue
		}
		listing.over(ctx)
		if !sleep(ctx, d.Sweep, d.all) {
			return
		}
	}
}

// unlisted returns the pull requests that have a worker and are not listed: they were closed, and no hint may have come.
func (d *Daemon) unlisted(listed []forge.Ref) []forge.Ref {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.DeleteFunc(slices.Collect(maps.Keys(d.workers)), func(ref forge.Ref) bool { return slices.Contains(listed, ref) })
}

// list returns the pull requests to look at, and the error that may have hidden some.
func (d *Daemon) list(ctx context.Context) (all []forge.Ref, failed error) {
	if d.Only != (forge.Ref{}) {
		return []forge.Ref{d.Only}, nil
	}
	for _, repo := range d.Repos {
		numbers, err := d.Agent.List(ctx, repo)
		if err != nil {
			failed = err
			continue
		}
		for _, number := range numbers {
			all = append(all, forge.Ref{Repo: repo, Number: number})
		}
	}
	return all, failed
}

// waitOut waits after an error that is not about one pull request. It returns false if the daemon ends, as it
// does when GitHub rejects the token. A hint ends the wait early, except a wait that GitHub asked for.
func (d *Daemon) waitOut(ctx context.Context, t *trouble, err error, wake <-chan struct{}) bool {
	switch {
	case errors.Is(err, forge.ErrUnauthorized):
		d.stop(err)
		return false
	case errors.Is(err, forge.ErrRateLimited):
		wake = nil
	}
	return sleep(ctx, t.met(ctx, err), wake)
}

// prepare keeps a worktree ready for each repository's next new pull request. That only saves time, so errors
// are logged at debug level: they occur again where they matter.
func (d *Daemon) prepare(ctx context.Context) {
	for sleep(ctx, 0, d.spare) {
		for _, repo := range d.Repos {
			if err := d.Agent.Prepare(ctx, repo); err != nil {
				zerolog.Ctx(ctx).Debug().Err(err).Stringer("repo", repo).Msg("cannot prepare a worktree for the next pull request")
			}
		}
	}
}

// work looks at one pull request and does what it needs, again and again, until there is nothing left to do
// for this agent.
func (d *Daemon) work(ctx context.Context, ref forge.Ref, wake chan struct{}) {
	log := zerolog.Ctx(ctx).With().Stringer("pr", ref).Logger()
	ctx = log.WithContext(ctx)
	reading, acting := trouble{what: "cannot read the pull request"}, trouble{what: "cannot continue with the pull request"}
	held, ending := trouble{what: "this machine is at a standstill", held: true}, trouble{what: "cannot finish with the pull request"}
	var said [3]string // kind, head and reason of the last log line
	waits := ""        // the head on which a wait is noted
	for {
		select {
		case <-wake:
		default:
		}
		pr, action, err := d.Agent.Look(ctx, ref)
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, forge.ErrNotFound):
			log.Debug().Err(err).Msg("the pull request cannot be seen; ignoring it")
			action, said = decide.Action{Kind: decide.Skip}, [3]string{}
		case err != nil && action.Kind == "":
			if !d.waitOut(ctx, &reading, err, wake) {
				return
			}
			continue
		default:
			reading.over(ctx)
			if announced := [...]string{string(action.Kind), action.SHA, action.Reason}; announced != said {
				log.Info().Str("sha", verdict.Short(action.SHA)).Str("action", string(action.Kind)).Msg(action.Reason)
				said = announced
				if action.Noted {
					waits = action.SHA
					d.Agent.Note(ctx, ref, waits, action)
				}
			}
		}
		if waits != "" && !action.Noted {
			d.Agent.Note(ctx, ref, waits, action)
			waits = ""
		}
		d.Agent.Show(ctx, pr, action)
		if over := ended(d.Agent.Role, pr, action); d.Ends && over != nil {
			d.stop(over)
			return
		}
		switch action.Kind {
		case decide.Skip, decide.Done:
			d.goesOn(ctx, ref)
			if action.Kind == decide.Done {
				if err := d.Agent.GiveUp(ctx, pr); err != nil && ending.n < maxEndings {
					if !d.waitOut(ctx, &ending, err, wake) {
						return
					}
					continue
				}
			}
			if d.retire(ref, wake) {
				return
			}
		case decide.Wait:
			d.goesOn(ctx, ref)
			if !sleep(ctx, action.Recheck, wake) {
				return
			}
		default:
			err := d.act(ctx, pr, action, wake)
			goOn := true
			switch {
			case err == nil:
				acting.over(ctx)
				held.over(ctx)
			case worker.Hindrance(err) != "":
				goOn = d.standStill(ctx, &held, ref, err, wake)
			default:
				goOn = d.waitOut(ctx, &acting, err, wake)
			}
			if !goOn {
				return
			}
		}
	}
}

// ended is non-nil if there is nothing left to do about a pull request except for people.
func ended(role decide.Role, pr forge.PullRequest, action decide.Action) error {
	switch {
	case action.Kind == decide.Done && pr.Merged:
		return &Ended{Done: true, Reason: "merged as " + verdict.Short(pr.MergeSHA)}
	case action.Kind == decide.Skip, action.Kind == decide.Done:
		return &Ended{Done: true, Reason: action.Reason}
	case action.Kind == decide.Wait && (action.Turn == verdict.TurnPerson ||
		role == decide.Author && action.Turn == verdict.TurnAuthor && action.Recheck == 0):
		// What the author's agent waits for without a time limit is up to its author.
		return &Ended{Reason: action.Reason}
	}
	return nil
}

// act carries out an action while it listens for hints: a hint that shows that the action has become useless
// cancels it. It only returns errors that are not about the pull request. The journal has all others, and the
// next look decides about them.
func (d *Daemon) act(ctx context.Context, pr forge.PullRequest, action decide.Action, wake chan struct{}) error {
	log := zerolog.Ctx(ctx).With().Str("sha", verdict.Short(action.SHA)).Str("action", string(action.Kind)).Logger()
	if !d.slot(ctx, wake) {
		return nil
	}
	defer func() { <-d.slots }()
	ctx, end := d.Activity.Begin(ctx, pr.Ref.String(), string(action.Kind))
	defer end()
	acting, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var watching sync.WaitGroup
	watching.Go(func() { d.watch(acting, pr, action.Kind, wake, cancel) })
	step, err := d.Agent.Act(acting, pr, action)
	moved := context.Cause(acting)
	cancel(nil)
	watching.Wait()
	poke(d.spare)
	if d.Stepped != nil {
		d.Stepped(step, err)
	}
	if ctx.Err() == nil && worker.Hindrance(err) == "" {
		d.goesOn(ctx, pr.Ref)
	}
	switch {
	case err == nil:
		step.Log(log.Info()).Msg("done")
	case ctx.Err() != nil:
	case worker.Overtaken(moved):
		log.Info().AnErr("why", moved).Msg("given up")
	case worker.Overtaken(err):
		log.Info().AnErr("why", err).Msg("given up")
	case worker.CountsAsAttempt(err, step):
		log.Warn().Err(err).Msg("the attempt failed")
	default:
		return err
	}
	return nil
}

// slot takes one of the slots for acts. It returns false if a hint or the context's end came first.
func (d *Daemon) slot(ctx context.Context, wake chan struct{}) bool {
	select {
	case d.slots <- struct{}{}:
		return true
	default:
	}
	defer d.Activity.Queue()()
	select {
	case d.slots <- struct{}{}:
		return true
	case <-wake:
	case <-ctx.Done():
	}
	return false
}

// watch cancels an act when a hint turns out to mean that the head has moved or, for an act with a session,
// that it is no longer wanted. Anything else that a hint may mean is found at the next look.
func (d *Daemon) watch(ctx context.Context, pr forge.PullRequest, kind decide.Kind, wake chan struct{}, cancel context.CancelCauseFunc) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-wake:
		}
		// On a read error the act goes on: it checks again before it pushes or posts anything.
		if why, err := d.Agent.Overtaken(ctx, pr, kind); err == nil && why != "" {
			cancel(fmt.Errorf("%w: %s", worker.ErrMovedOn, why))
			return
		}
	}
}

// sleep waits for d (forever if d is 0), a wake-up or the end of the context. It returns false only for the
// latter.
func sleep(ctx context.Context, d time.Duration, wake <-chan struct{}) bool {
	var timeout <-chan time.Time
	if d > 0 {
		timeout = time.After(d)
	}
	select {
	case <-ctx.Done():
		return false
	case <-timeout:
	case <-wake:
	}
	return true
}
