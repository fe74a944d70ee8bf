package daemon

import (
	"context"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"touchstone/agent/forge"
	"touchstone/agent/journal"
	"touchstone/agent/notify"
	"touchstone/agent/worker"
)

const (
	// notifyAfter is how long a standstill lasts before the owner is notified.
	notifyAfter = 3 * time.Hour
	// settingsEvery is the interval between two checks whether the settings that may have caused a standstill
	// have changed.
	settingsEvery = 2 * time.Second
	// maxListed is how many pull requests the notification names.
	maxListed = 5
)

// standstill is a period in which this machine cannot act, from the first pull request that is held up until
// the last one goes on. It is logged once for each hindrance, not for each pull request. The zero value is no
// standstill.
type standstill struct {
	mu    sync.Mutex
	since time.Time
	why   string
	// held has the channels of the workers that wait for its end.
	held map[forge.Ref]chan struct{}
	// told are the hindrances that are logged already. notified says that the owner was notified.
	told     map[string]bool
	notified bool
}

// holdUp records that a pull request is held up, and logs what is new. Result notify says that the owner must
// be notified now.
func (s *standstill) holdUp(ctx context.Context, ref forge.Ref, err error, wake chan struct{}) (now journal.Standstill, notify bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.held) == 0 {
		s.since, s.held, s.told, s.notified = time.Now(), map[forge.Ref]chan struct{}{}, map[string]bool{}, false
	}
	s.why, s.held[ref] = err.Error(), wake
	if kind := worker.Hindrance(err); !s.told[kind] && ctx.Err() == nil {
		s.told[kind] = true
		zerolog.Ctx(ctx).Warn().Err(err).Msg("this machine is at a standstill; the pull requests are not the cause: they wait, and continue " +
			"by themselves once the cause is gone")
	}
	notify = !s.notified && time.Since(s.since) >= notifyAfter
	s.notified = s.notified || notify
	return s.now(), notify
}

// goesOn records that a pull request is no longer held up, and returns the channels of those that still are.
// Result held is false if it was not held up.
func (s *standstill) goesOn(ctx context.Context, ref forge.Ref) (waiting []chan struct{}, held bool) {
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

// standStill waits out a hindrance. It returns false if the daemon ends. The wait ends early on a hint, a
// change of the settings, or when the first pull request goes on again.
func (d *Daemon) standStill(ctx context.Context, t *trouble, ref forge.Ref, err error, wake chan struct{}) bool {
	before := d.Agent.Config().Engine
	now, notify := d.still.holdUp(ctx, ref, err, wake)
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
		case <-wake:
			return true
		case <-time.After(min(left, settingsEvery)):
		}
	}
	return ctx.Err() == nil
}

// goesOn records that nothing holds a pull request up, and lets some of those that are still held up retry at
// once.
func (d *Daemon) goesOn(ctx context.Context, ref forge.Ref) {
	waiting, held := d.still.goesOn(ctx, ref)
	if !held {
		return
	}
	d.show(ctx)
	for _, wake := range waiting[:min(len(waiting), max(1, d.Concurrency))] {
		poke(wake)
	}
}

// show stores the standstill for `touchstone status`.
func (d *Daemon) show(ctx context.Context) {
	if d.Agent.Journal == nil {
		return
	}
	d.still.mu.Lock()
	defer d.still.mu.Unlock()
	// A disk that rejects writes rejects this one, too.
	if err := d.Agent.Journal.SetStandstill(d.still.now()); err != nil {
		zerolog.Ctx(ctx).Debug().Err(err).Msg("cannot record the standstill, so touchstone status does not show it")
	}
}

// notify notifies the owner of a long standstill.
func (d *Daemon) notify(ctx context.Context, now journal.Standstill) {
	listed := strings.Join(now.Refs[:min(len(now.Refs), maxListed)], ", ")
	if more := len(now.Refs) - maxListed; more > 0 {
		listed += fmt.Sprintf(" and %d more", more)
	}
	message := fmt.Sprintf("The %s agent on %s is at a standstill since %s: %s\nIt continues by itself once that is over. Waiting: %s.",
		d.Agent.Role, host(), now.Since.Local().Format(time.DateTime), now.Why, listed)
	log := zerolog.Ctx(ctx)
	err := notify.Send(ctx, d.Agent.Config().Notify.SlackWebhook, message)
	log.Warn().AnErr("notification", err).Str("why", now.Why).Stringer("for", time.Since(now.Since).Round(time.Minute)).Str("waiting", listed).
		Msg("this machine is still at a standstill")
}

// ringEnd notifies the owner that the agent has ended by itself because it could not go on: nobody would
// notice on an unattended machine.
func (d *Daemon) ringEnd(ctx context.Context, why error) {
	message := fmt.Sprintf("The %s agent on %s has ended; start it again: %v", d.Agent.Role, host(), why)
	if err := notify.Send(context.WithoutCancel(ctx), d.Agent.Config().Notify.SlackWebhook, message); err != nil {
		zerolog.Ctx(ctx).Warn().Err(err).Msg("cannot notify anyone that the agent has ended")
	}
}

func host() string {
	name, err := os.Hostname()
	if err != nil {
		return "a machine without a name"
	}
	return name
}
