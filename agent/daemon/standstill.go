package daemon

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"touchstone/agent/engine"
	"touchstone/agent/engine/fallback"
	"touchstone/agent/forge"
	"touchstone/agent/journal"
	"touchstone/worktree"
)

const (
	// notifyAfter is how long a standstill lasts before its owner is told.
	notifyAfter = 3 * time.Hour
	// settingsEvery is the time between two looks at whether the settings have changed, that
	// a standstill may have come of.
	settingsEvery = 2 * time.Second
	// maxListed is how many pull requests the notification names.
	maxListed = 5
)

// onDisk is the hindrance of a disk that takes nothing, switchedOff that of a session whose
// model was switched off while it was at work.
const onDisk, switchedOff = "disk", "off"

// elsewhere are the classes of failures that lie with this machine, the account or the
// provider, and say nothing about a pull request.
var elsewhere = []engine.Class{
	engine.Missing, engine.Invalid, engine.Auth, engine.Billing, engine.UnknownModel,
	engine.RateLimited, engine.Overloaded, engine.Server, engine.Network,
}

// hindrance names what an act failed of, if that lies neither with the pull request nor with
// GitHub: the disk, or the class of an engine's failure; else it is empty.
func hindrance(err error) string {
	if errors.Is(err, journal.ErrUnwritten) || worktree.DiskFault(err) {
		return onDisk
	}
	var stopped *engine.Error
	if errors.As(err, &stopped) && slices.Contains(elsewhere, stopped.Class) {
		return string(stopped.Class)
	}
	if errors.Is(err, fallback.ErrResting) {
		return switchedOff
	}
	return ""
}

// standstill is what keeps the acts of this machine from being done, from the first pull
// request that it holds up to when the last one goes on. It is told once for each hindrance,
// and not for each pull request. Its zero value is none.
type standstill struct {
	mu    sync.Mutex
	since time.Time
	why   string
	// held are the workers that wait for its end.
	held map[forge.Ref]*worker
	// told are the hindrances that the log has told of; notified says that the owner was told.
	told     map[string]bool
	notified bool
}

// holdUp takes note that a pull request is held up, and tells of it as far as that is new.
// notify says that the owner is to be notified now.
func (s *standstill) holdUp(ctx context.Context, ref forge.Ref, err error, w *worker) (now journal.Standstill, notify bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.held) == 0 {
		s.since, s.held, s.told, s.notified = time.Now(), map[forge.Ref]*worker{}, map[string]bool{}, false
	}
	s.why, s.held[ref] = err.Error(), w
	if kind := hindrance(err); !s.told[kind] && ctx.Err() == nil {
		s.told[kind] = true
		zerolog.Ctx(ctx).Warn().Err(err).Msg("this machine is at a standstill, which is no fault of the pull requests: they wait, and go on " +
			"by themselves once that is over")
	}
	notify = !s.notified && time.Since(s.since) >= notifyAfter
	s.notified = s.notified || notify
	return s.now(), notify
}

// goesOn takes note that a pull request is held up no more, and gives the workers of those
// that still are. Held is false if it was not.
func (s *standstill) goesOn(ctx context.Context, ref forge.Ref) (waiting []*worker, held bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held[ref] == nil {
		return nil, false
	}
	delete(s.held, ref)
	if len(s.held) == 0 {
		zerolog.Ctx(ctx).Info().Stringer("after", time.Since(s.since).Round(time.Second)).Msg("the standstill is over")
	}
	return slices.Collect(maps.Values(s.held)), true
}

// now is the standstill as others see it. The caller holds the lock.
func (s *standstill) now() journal.Standstill {
	if len(s.held) == 0 {
		return journal.Standstill{}
	}
	refs := make([]string, 0, len(s.held))
	for ref := range s.held {
		refs = append(refs, ref.String())
	}
	slices.Sort(refs)
	return journal.Standstill{Since: s.since.UTC().Round(0), Why: s.why, Refs: refs}
}

// standStill waits out what keeps this machine from acting on a pull request; false means that
// the daemon ends. A hint ends the wait, other settings do, and the first pull request that
// goes on again.
func (d *Daemon) standStill(ctx context.Context, t *trouble, ref forge.Ref, err error, w *worker) bool {
	before := d.Agent.Config().Engine
	now, notify := d.still.holdUp(ctx, ref, err, w)
	d.show(ctx)
	if notify {
		d.notify(ctx, now)
	}
	until := time.Now().Add(t.met(ctx, err))
	for reflect.DeepEqual(d.Agent.Config().Engine, before) {
		left := time.Until(until)
		if left <= 0 {
			break
		}
		select {
		case <-ctx.Done():
			return false
		case <-w.wake:
			return true
		case <-time.After(min(left, settingsEvery)):
		}
	}
	return ctx.Err() == nil
}

// goesOn takes note that nothing holds a pull request up, and has some that something still
// does try at once.
func (d *Daemon) goesOn(ctx context.Context, ref forge.Ref) {
	waiting, held := d.still.goesOn(ctx, ref)
	if !held {
		return
	}
	d.show(ctx)
	for _, w := range waiting[:min(len(waiting), max(1, d.Concurrency))] {
		poke(w.wake)
	}
}

// show writes down what keeps the machine from going on, for `touchstone status`.
func (d *Daemon) show(ctx context.Context) {
	if d.Agent.Journal == nil {
		return
	}
	d.still.mu.Lock()
	defer d.still.mu.Unlock()
	// A disk that takes nothing takes this neither.
	if err := d.Agent.Journal.SetStandstill(d.still.now()); err != nil {
		zerolog.Ctx(ctx).Debug().Err(err).Msg("touchstone status will not tell of the standstill")
	}
}

// notify tells the owner of a standstill that lasts.
func (d *Daemon) notify(ctx context.Context, now journal.Standstill) {
	listed := strings.Join(now.Refs[:min(len(now.Refs), maxListed)], ", ")
	if more := len(now.Refs) - maxListed; more > 0 {
		listed += fmt.Sprintf(" and %d more", more)
	}
	message := fmt.Sprintf("The %s agent on %s is at a standstill since %s: %s\nIt goes on by itself once that is over. Waiting: %s.",
		d.Agent.Role, host(), now.Since.Local().Format(time.DateTime), now.Why, listed)
	log := zerolog.Ctx(ctx)
	err := notifier{url: string(d.Agent.Config().Notify.SlackWebhook)}.send(ctx, message)
	log.Warn().AnErr("notification", err).Str("why", now.Why).Stringer("for", time.Since(now.Since).Round(time.Minute)).Str("waiting", listed).
		Msg("this machine is still at a standstill")
}

// ringEnd notifies the owner that the agent has ended by itself, since it could not go on: on
// an unattended machine the owner would not notice.
func (d *Daemon) ringEnd(ctx context.Context, why error) {
	message := fmt.Sprintf("The %s agent on %s has ended, and has to be started again: %v", d.Agent.Role, host(), why)
	if err := (notifier{url: string(d.Agent.Config().Notify.SlackWebhook)}).send(context.WithoutCancel(ctx), message); err != nil {
		zerolog.Ctx(ctx).Warn().Err(err).Msg("nobody was notified that the agent has ended")
	}
}

func host() string {
	name, err := os.Hostname()
	if err != nil {
		return "a machine without a name"
	}
	return name
}
