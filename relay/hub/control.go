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

// controlNote names the note with the newest control, whose settings stay in force after retention removed
// its event.
const controlNote = "control"

// maxControlTries is how often SetControl tries a change while others change the settings too.
const maxControlTries = 10

// errControlBusy is returned when other changes came first at every try.
var errControlBusy = errors.New("other requests keep changing the settings")

// control is the newest control in the part of the log that readers can see.
type control struct {
	newest event.Control // the zero Control while there is none
	noted  int64         // the number of a control that is known to be in the note
	unsure bool          // events were skipped that may hold a newer control
}

// successor returns the delivery id of the control that follows the control numbered seq. Requests that
// change the same settings at the same time, on any relays, share it: the store keeps one event, and the
// others are duplicates.
func successor(seq int64) string { return "after-" + strconv.FormatInt(seq, 10) }

// Control returns the settings in force. They are the same for all relays of the log. Settings is empty, not
// nil, while nothing is set. It is shared: do not change it.
func (h *Hub) Control(ctx context.Context) (event.Control, error) {
	h.mu.Lock()
	known := h.control
	h.mu.Unlock()
	if known.unsure {
		// The head does not move while publishing is held.
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

// SetControl lets change rewrite a copy of the settings, appends the result to the log, where every reader
// gets it, and returns it. It appends nothing if change changes nothing. After an error the change may have
// been stored all the same; making it again is safe.
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
				// The settings are in the log, and keepOldControl tries again before retention removes them.
				zerolog.Ctx(ctx).Warn().Err(err).Msg("the settings are in the log, but could not be stored beside it")
			}
			return next, nil
		}
		if _, err := h.Refresh(ctx); err != nil {
			return event.Control{}, err
		}
	}
	return event.Control{}, errControlBusy
}

// recallControl finds the newest control when the hub is created.
func (h *Hub) recallControl(ctx context.Context) error {
	text, err := h.store.Note(ctx, controlNote)
	if err != nil {
		return fmt.Errorf("read the agents' settings: %w", err)
	}
	if text != "" {
		var noted event.Control
		err := json.Unmarshal([]byte(text), &noted)
		if err != nil || noted.Settings == nil || noted.ID.Log != h.tail.bounds.Log {
			return fmt.Errorf("the note %q, which stores the agents' settings, is damaged; restore the store from a backup", controlNote)
		}
		h.control = control{newest: noted, noted: noted.ID.Seq}
	}
	return h.learnControl(ctx)
}

// learnControl looks for a control that is newer than the known one: the hub may have skipped it, or a relay
// died before it wrote the note. One query usually shows that there is none, because each control's delivery
// names its predecessor. The caller holds publishing, so the head does not move.
func (h *Hub) learnControl(ctx context.Context) error {
	head := h.Bounds().Head
	newest := h.control.newest
	for {
		at := newest.ID.Seq
		stored, err := h.store.Stored(ctx, event.ControlSource, []string{successor(at)})
		if err != nil {
			return fmt.Errorf("find the agents' settings: %w", err)
		}
		if len(stored) == 0 {
			break
		}
		next, err := h.controlBehind(ctx, at, head)
		if err != nil {
			return fmt.Errorf("find the agents' settings: %w", err)
		}
		if next.ID.IsZero() {
			break // that control lies beyond the head
		}
		newest = next
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.control = control{newest: newest, noted: h.control.noted}
	return nil
}

// errControlDamaged is returned instead of outdated settings, which could switch on again what is off.
var errControlDamaged = errors.New("the event with the newest settings may be one of the damaged events; restore the store from a backup")

// controlBehind returns the newest control after at, up to head, or the zero Control if there is none.
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

// keepControl writes the newest control into the note.
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
		return fmt.Errorf("store the agents' settings: %w", err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.control.noted = max(h.control.noted, newest.ID.Seq)
	return nil
}

// keepOldControl writes the newest control into the note before retention may remove it from the log. Any
// relay may have set that control and then failed to write the note.
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
