// Package hub takes events in and lets readers follow them. It persists first and fans out afterwards. It
// owns the group commit (one goroutine writes all queued events as one durable append), the retention of old
// events, a bounded cache of the newest events, the settings for all agents, and the wake-up of readers. A
// reader is a position in the log. The hub keeps no queue for it, so a slow reader costs the others nothing,
// and an event costs nothing to the readers whose filters leave it out. The stored data belongs to the Store.
package hub

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"touchstone/relay/event"
	"touchstone/relay/internal/faults"
)

// Bounds of one group commit and of the queue in front of it.
const (
	maxCommitEvents = 512
	maxCommitBytes  = 8 << 20
	queueLength     = 4096
)

// ErrOverloaded is returned when the queue of events that wait to be stored is full. The event was not
// stored.
var ErrOverloaded = errors.New("too many events are waiting to be stored")

// errStopped is returned by calls that come after Run has ended.
var errStopped = errors.New("the relay is shutting down")

// Hub connects the writers and the readers of one log.
type Hub struct {
	store     Store
	retention time.Duration
	queue     chan *pending
	stopped   chan struct{}

	// publishing is held while events from the store are made visible to the readers.
	publishing sync.Mutex
	// keeping is held while the settings are written into their note.
	keeping sync.Mutex

	mu       sync.Mutex
	tail     tail
	readers  readers
	held     held
	settings settings

	past    past
	damages damages
	faults  faults.Log

	failing  atomic.Int64 // the size of the last append if it failed, otherwise zero
	failures atomic.Int64 // how many appends have failed
	probes   probes
}

// pending is an event on its way into the store.
type pending struct {
	event  event.Event
	state  atomic.Int32
	result Appended
	err    error
	done   chan struct{}
}

// States of a pending event. The goroutine that moves the event out of queued decides whether it is stored,
// so a caller that abandons it can be sure that it will never be stored.
const (
	queued int32 = iota
	taken
	abandoned
)

// New creates a hub over a store. Events older than retention are removed; zero keeps all events. Append
// returns only while Run is running.
func New(ctx context.Context, store Store, retention time.Duration) (*Hub, error) {
	bounds, err := store.Bounds(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the log's bounds: %w", err)
	}
	h := &Hub{
		store:     store,
		retention: retention,
		queue:     make(chan *pending, queueLength),
		stopped:   make(chan struct{}),
		tail:      tail{bounds: bounds},
		readers:   readers{},
		past:      past{store: store, pieces: map[int64]piece{}},
	}
	if err := h.recallSettings(ctx); err != nil {
		return nil, err
	}
	return h, nil
}

// Run stores the events that Append queues and removes old ones, until ctx ends. It finishes the commit under
// way; events that still wait then are not stored.
func (h *Hub) Run(ctx context.Context) error {
	defer close(h.stopped)
	var group errgroup.Group
	group.Go(func() error { h.commitLoop(ctx); return nil })
	group.Go(func() error { h.followLoop(ctx); return nil })
	group.Go(func() error { h.trimLoop(ctx); return nil })
	return group.Wait()
}

// appended records whether the store took an append, and logs when it works again after a failure.
func (h *Hub) appended(ctx context.Context, events []event.Event, err error) {
	size := int64(0)
	if err != nil {
		size = 1
		for _, e := range events {
			size += int64(len(e.Payload))
		}
		h.failures.Add(1)
	}
	if failed := h.failing.Swap(size); failed != 0 && err == nil {
		zerolog.Ctx(ctx).Info().Msg("writing to the store works again")
	}
}

// Bounds returns the log's bounds as the hub knows them, without asking the store.
func (h *Hub) Bounds() Bounds {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.tail.bounds
}

// Append stores an event and returns its cursor once the event is durable. For a duplicate it returns the
// cursor of the stored event and says what makes it a duplicate. If ctx ends while the event still waits in
// the queue, the event is not stored; once the store has it, Append waits for the outcome. After an error no
// reader sees the event, and the caller should send it again.
func (h *Hub) Append(ctx context.Context, e event.Event) (event.Cursor, Appended, error) {
	p := &pending{event: e, done: make(chan struct{})}
	select {
	case h.queue <- p:
	default:
		return event.Cursor{}, Appended{}, ErrOverloaded
	}
	var over error
	select {
	case <-p.done:
	case <-ctx.Done():
		over = context.Cause(ctx)
	case <-h.stopped:
		over = errStopped
	}
	if over != nil && p.state.CompareAndSwap(queued, abandoned) {
		return event.Cursor{}, Appended{}, over
	}
	<-p.done
	if p.err != nil {
		return event.Cursor{}, Appended{}, p.err
	}
	return event.Cursor{Log: h.Bounds().Log, Seq: p.result.Seq}, p.result, nil
}

func (h *Hub) commitLoop(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case p := <-h.queue:
			h.commit(context.WithoutCancel(ctx), h.gather(p))
		}
	}
}

// gather takes first and the events queued behind it, as many as fit one commit. Waiting for more would only
// add delay: the next events queue up while this commit runs. But goroutines that are ready run first:
// writers that were just answered are often about to append again, and would miss this commit.
func (h *Hub) gather(first *pending) []*pending {
	var batch []*pending
	size := 0
	for p := first; ; {
		if p.state.CompareAndSwap(queued, taken) {
			batch = append(batch, p)
			size += len(p.event.Payload)
		}
		if len(batch) == maxCommitEvents || size >= maxCommitBytes {
			return batch
		}
		if len(h.queue) == 0 {
			runtime.Gosched()
		}
		select {
		case p = <-h.queue:
		default:
			return batch
		}
	}
}

// commit stores the batch, makes it visible to readers, and only then answers the writers.
func (h *Hub) commit(ctx context.Context, batch []*pending) {
	if len(batch) == 0 {
		return
	}
	events := make([]event.Event, len(batch))
	for i, p := range batch {
		events[i] = p.event
	}
	results, err := h.store.Append(ctx, events)
	h.appended(ctx, events, err)
	if err == nil {
		h.publish(ctx, events, results)
	}
	for i, p := range batch {
		if err != nil {
			p.err = fmt.Errorf("store event: %w", err)
		} else {
			p.result = results[i]
		}
		close(p.done)
	}
}

// publish makes the appended events visible, after the events that other relays appended before them.
func (h *Hub) publish(ctx context.Context, events []event.Event, results []Appended) {
	h.publishing.Lock()
	defer h.publishing.Unlock()
	log := h.Bounds().Log
	var fresh []event.Event
	for i, result := range results {
		if !result.Duplicate {
			events[i].ID = event.Cursor{Log: log, Seq: result.Seq}
			fresh = append(fresh, events[i])
		}
	}
	if len(fresh) == 0 {
		return
	}
	if err := h.fill(ctx, fresh[0].ID.Seq-1); err != nil {
		// Readers will find those events in the store.
		h.faults.Write(ctx, zerolog.WarnLevel, err, "cannot read ahead what other relays stored")
	}
	h.reveal(fresh)
}

// show makes an event visible and returns the readers to wake. If the event does not follow the head
// directly, the events between them are only in the store, or gone.
func (h *Hub) show(entry *Entry) []*Reader {
	var wake []*Reader
	if next := h.tail.bounds.Head + 1; entry.ID.Seq != next {
		wake = h.readers.noticeUnknown(next)
		h.settings.unsure = true
	}
	if entry.IsSettings() {
		newest, err := entry.Settings()
		h.settings = settings{newest: newest, noted: h.settings.noted, unsure: err != nil} // the next call of Settings sees the error
	}
	h.tail.push(entry)
	return append(wake, h.readers.notice(entry.Event)...)
}

// trimLoop removes old events at the start and then often enough that no event outlives the retention by more
// than a minute.
func (h *Hub) trimLoop(ctx context.Context) {
	if h.retention <= 0 {
		return
	}
	ticker := time.NewTicker(min(h.retention/10+time.Millisecond, time.Minute))
	defer ticker.Stop()
	for {
		if err := h.trim(ctx); err != nil && ctx.Err() == nil {
			h.faults.Write(ctx, zerolog.ErrorLevel, err, "cannot remove old events; trying again")
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

func (h *Hub) trim(ctx context.Context) error {
	for {
		if err := h.keepOldSettings(ctx); err != nil {
			return err
		}
		removed, err := h.store.Trim(ctx, time.Now().Add(-h.retention))
		if err != nil {
			return fmt.Errorf("trim the log: %w", err)
		}
		// Ask for the floor: other relays trim the log too.
		bounds, err := h.store.Bounds(ctx)
		if err != nil {
			return fmt.Errorf("read the log's bounds: %w", err)
		}
		h.mu.Lock()
		h.tail.dropThrough(bounds.Floor)
		h.mu.Unlock()
		h.damages.dropThrough(bounds.Floor)
		if removed == 0 {
			return nil
		}
	}
}
