package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"time"

	"github.com/rs/zerolog"

	"touchstone/relay/event"
)

// controlNote is the note that holds the newest control: retention takes the event from
// the log, and what it set still holds.
const controlNote = "control"

// maxControlTries is how often a change is tried while others make theirs.
const maxControlTries = 10

// errControlBusy is for a change that others always came before.
var errControlBusy = errors.New("others change the settings all the time")

// control is the newest one in the log, as far as it is shown to readers.
type control struct {
	newest event.Control // the zero Control while there is none
	noted  int64         // the number of one that is surely noted beside the log
	unsure bool          // events were left out that may hold a newer one
}

// successor is the delivery of the control that follows the one numbered seq. When several
// requests change the same settings at once, on one relay or on several, the store keeps one
// event: the others have the same delivery and are duplicates.
func successor(seq int64) string { return "after-" + strconv.FormatInt(seq, 10) }

// Control returns the settings that hold now, the same for all relays of the log. They
// are empty, and not nil, while nothing is set, and shared: do not change them.
func (h *Hub) Control(ctx context.Context) (event.Control, error) {
	h.mu.Lock()
	known := h.control
	h.mu.Unlock()
	if known.unsure {
		// While nothing new is shown, the head stands still.
		h.publishing.Lock()
		defer h.publishing.Unlock()
		if err := h.learnControl(ctx); err != nil {
			return event.Control{}, err
		}
		known = h.control
	}
	if known.newest.ID.IsZero() {
		return event.Control{Settings: map[string]string{}}, nil
	}
	return known.newest, nil
}

// SetControl has change rewrite the settings, appends the outcome to the log, where every
// reader gets it, and returns it. Nothing is appended when nothing changes. With an error
// the change may have been made all the same, and making it again is right.
func (h *Hub) SetControl(ctx context.Context, by string, change func(settings map[string]string)) (event.Control, error) {
	for range maxControlTries {
		present, err := h.Control(ctx)
		if err != nil {
			return event.Control{}, err
		}
		next := event.Control{Settings: maps.Clone(present.Settings), By: by, At: time.Now().UTC().Truncate(time.Millisecond)}
		change(next.Settings)
		if maps.Equal(next.Settings, present.Settings) {
			return present, nil
		}
		e, err := next.Event()
		if err != nil {
			return event.Control{}, err
		}
		e.Delivery = successor(present.ID.Seq)
		id, appended, err := h.Append(ctx, e)
		if err != nil {
			return event.Control{}, err
		}
		if !appended.Duplicate {
			next.ID = id
			if err := h.keepControl(ctx); err != nil {
				// The log has it, and this is tried again before the log loses it.
				zerolog.Ctx(ctx).Warn().Err(err).Msg("the settings are in the log, but not noted beside it")
			}
			return next, nil
		}
		if _, err := h.Refresh(ctx); err != nil {
			return event.Control{}, err
		}
	}
	return event.Control{}, errControlBusy
}

// recallControl finds the newest control when the hub is built.
func (h *Hub) recallControl(ctx context.Context) error {
	text, err := h.store.Note(ctx, controlNote)
	if err != nil {
		return fmt.Errorf("read the agents' settings: %w", err)
	}
	if text != "" {
		var noted event.Control
		err := json.Unmarshal([]byte(text), &noted)
		if err != nil || noted.Settings == nil || noted.ID.Log != h.tail.bounds.Log {
			return fmt.Errorf("the note %q, which holds the agents' settings, is damaged; restore the store from a backup", controlNote)
		}
		h.control = control{newest: noted, noted: noted.ID.Seq}
	}
	return h.learnControl(ctx)
}

// learnControl looks for a control behind the known one: it may have been left out, or a
// relay died before it noted it. Most often one question tells that there is none, since
// each names the one that it follows. The caller keeps the head where it is.
func (h *Hub) learnControl(ctx context.Context) error {
	head := h.Bounds().Head
	newest := h.control.newest
	for {
		at := newest.ID.Seq
		stored, err := h.store.Stored(ctx, event.ControlSource, []string{successor(at)})
		if err != nil {
			return fmt.Errorf("look for the agents' settings: %w", err)
		}
		if len(stored) == 0 {
			break
		}
		next, err := h.controlBehind(ctx, at, head)
		if err != nil {
			return fmt.Errorf("look for the agents' settings: %w", err)
		}
		if next.ID.IsZero() {
			break // it lies beyond the head
		}
		newest = next
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.control = control{newest: newest, noted: h.control.noted}
	return nil
}

// errControlDamaged keeps the relay from telling agents settings that hold no more: what was
// switched off would be on again.
var errControlDamaged = errors.New("the event with the newest settings may be among the damaged ones; restore the store from a backup")

// controlBehind returns the newest control behind at, up to head; the zero Control if there
// is none.
func (h *Hub) controlBehind(ctx context.Context, at, head int64) (newest event.Control, err error) {
	var damage *Damage
	for at < head {
		events, err := h.store.Read(ctx, at, maxBatchEvents, maxBatchBytes)
		if errors.As(err, &damage) {
			h.damages.meet(ctx, damage)
			at = damage.Last
			continue
		}
		if err != nil {
			return event.Control{}, err
		}
		if len(events) == 0 {
			break
		}
		for _, e := range events {
			if at = e.ID.Seq; e.IsControl() && at <= head {
				if newest, err = e.Control(); err != nil {
					return event.Control{}, err
				}
			}
		}
	}
	if newest.ID.IsZero() && damage != nil {
		return event.Control{}, errControlDamaged
	}
	return newest, nil
}

// keepControl notes the newest control.
func (h *Hub) keepControl(ctx context.Context) error {
	h.keeping.Lock()
	defer h.keeping.Unlock()
	h.mu.Lock()
	newest := h.control.newest
	h.mu.Unlock()
	text, err := json.Marshal(newest)
	if err == nil {
		err = h.store.SetNote(ctx, controlNote, string(text))
	}
	if err != nil {
		return fmt.Errorf("note the agents' settings: %w", err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.control.noted = max(h.control.noted, newest.ID.Seq)
	return nil
}

// keepOldControl notes the newest control while the log still has it and may be about to
// lose it. Any relay may have set it, and that relay may not have noted it.
func (h *Hub) keepOldControl(ctx context.Context) error {
	if _, err := h.Control(ctx); err != nil {
		return err
	}
	h.mu.Lock()
	newest, noted, floor := h.control.newest.ID.Seq, h.control.noted, h.tail.bounds.Floor
	h.mu.Unlock()
	if newest <= max(noted, floor) {
		return nil
	}
	return h.keepControl(ctx)
}
