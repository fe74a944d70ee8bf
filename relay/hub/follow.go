package hub

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"touchstone/relay/event"
	"touchstone/worktree/pause"
)

// followPause is the time between two attempts to follow the store.
const followPause = time.Second

// followLoop makes the events of other relays visible until ctx ends.
func (h *Hub) followLoop(ctx context.Context) {
	for {
		err := h.store.Follow(ctx, h.catchUp)
		if ctx.Err() != nil {
			return
		}
		h.faults.Write(ctx, zerolog.ErrorLevel, err, "cannot follow what other relays store; trying again")
		if !pause.For(ctx, followPause) {
			return
		}
	}
}

// Refresh asks the store for the log's bounds and catches up with its head. Another relay may have sent a
// subscriber events that this relay does not know yet.
func (h *Hub) Refresh(ctx context.Context) (Bounds, error) {
	bounds, err := h.store.Bounds(ctx)
	if err != nil {
		return Bounds{}, err
	}
	if err := h.catchUp(ctx, bounds.Head); err != nil {
		return Bounds{}, err
	}
	return h.Bounds(), nil
}

// catchUp makes the stored events after the head visible, up to the event numbered head.
func (h *Hub) catchUp(ctx context.Context, head int64) error {
	h.publishing.Lock()
	defer h.publishing.Unlock()
	return h.fill(ctx, head)
}

// fill is catchUp for a caller that holds publishing.
func (h *Hub) fill(ctx context.Context, head int64) error {
	for {
		at := h.Bounds().Head
		if at >= head {
			return nil
		}
		events, err := h.store.Read(ctx, at, maxBatchEvents, maxBatchBytes)
		if damage := (*Damage)(nil); errors.As(err, &damage) {
			h.damages.meet(ctx, damage)
			h.pass(min(damage.Last, head))
			continue
		}
		if err != nil || len(events) == 0 {
			return err
		}
		h.reveal(events)
	}
}

// pass moves the head past damaged events. Readers learn of the damage when they read there.
func (h *Hub) pass(last int64) {
	h.mu.Lock()
	wake := h.readers.noticeUnknown(h.tail.bounds.Head + 1)
	h.settings.unsure = true
	h.tail.pass(last)
	h.mu.Unlock()
	wakeAll(wake)
}

// reveal makes stored events visible, all at once, and wakes the readers that want one of them. It ignores
// events up to the head, which are visible already. The caller holds publishing.
func (h *Hub) reveal(events []event.Event) {
	h.mu.Lock()
	var wake []*Reader
	var wanted []*Entry
	for _, e := range events {
		if e.ID.Seq > h.tail.bounds.Head {
			entry := &Entry{Event: e}
			woken := h.show(entry)
			wake = append(wake, woken...)
			if slices.ContainsFunc(woken, func(r *Reader) bool { return !r.Unsent }) {
				wanted = append(wanted, entry)
			}
		}
	}
	h.mu.Unlock()
	for _, entry := range wanted {
		// Encode the frame now: otherwise all readers would wait for the first of them to encode it. The
		// reader that sends the entry sees the error.
		_, _ = entry.Frame()
	}
	wakeAll(wake)
}

func wakeAll(readers []*Reader) {
	for _, reader := range readers {
		select {
		case reader.wake <- struct{}{}:
		default: // it is awake already
		}
	}
}
