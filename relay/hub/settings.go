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

// settingsNote names the note with the newest settings, which stay in force after retention removed their event.
const settingsNote = "control"

// maxSettingsTries is how often ChangeSettings tries a change while others change the settings too.
const maxSettingsTries = 10

// errSettingsBusy is returned when other changes came first at every try.
var errSettingsBusy = errors.New("other requests keep changing the settings")

// settings are the newest in the part of the log that readers can see.
type settings struct {
	newest event.Settings // zero while there are none
	noted  int64          // the number of the settings that are known to be in the note
	unsure bool           // events were skipped that may hold newer ones
}

// successor returns the delivery id of the settings that follow those numbered seq. Requests that
// change the same settings at the same time, on any relays, share it: the store keeps one event, and the
// others are duplicates.
func successor(seq int64) string { return "after-" + strconv.FormatInt(seq, 10) }

// Settings returns the settings in force. They are the same for all relays of the log. Values is empty, not nil,
// while nothing is set. It is shared: do not change it.
func (h *Hub) Settings(ctx context.Context) (event.Settings, error) {
	known := h.known()
	if known.unsure {
		// The head does not move while publishing is held.
		h.publishing.Lock()
		defer h.publishing.Unlock()
		if err := h.learnSettings(ctx); err != nil {
			return event.Settings{}, err
		}
		known = h.known()
	}
	if known.newest.ID.IsZero() {
		return event.Settings{Values: map[string]string{}}, nil
	}
	return known.newest, nil
}

// known returns the settings as the hub knows them, without asking the store.
func (h *Hub) known() settings {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.settings
}

// ChangeSettings lets change rewrite a copy of the settings, appends the result to the log, where every reader
// gets it, and returns it. It appends nothing if change changes nothing. After an error the change may have
// been stored all the same; making it again is safe.
func (h *Hub) ChangeSettings(ctx context.Context, by string, change func(settings map[string]string)) (event.Settings, error) {
	for range maxSettingsTries {
		present, err := h.Settings(ctx)
		if err != nil {
			return event.Settings{}, err
		}
		next := event.Settings{Values: maps.Clone(present.Values), By: by, At: time.Now().UTC().Truncate(time.Millisecond)}
		change(next.Values)
		if maps.Equal(next.Values, present.Values) {
			return present, nil
		}
		e, err := next.Event()
		if err != nil {
			return event.Settings{}, err
		}
		e.Delivery = successor(present.ID.Seq)
		id, appended, err := h.Append(ctx, e)
		if err != nil {
			return event.Settings{}, err
		}
		if !appended.Duplicate {
			next.ID = id
			if err := h.keepSettings(ctx); err != nil {
				// The settings are in the log, and keepOldSettings tries again before retention removes them.
				zerolog.Ctx(ctx).Warn().Err(err).Msg("the settings are in the log, but could not be stored beside it")
			}
			return next, nil
		}
		if _, err := h.Refresh(ctx); err != nil {
			return event.Settings{}, err
		}
	}
	return event.Settings{}, errSettingsBusy
}

// recallSettings finds the newest settings when the hub is created.
func (h *Hub) recallSettings(ctx context.Context) error {
	text, err := h.store.Note(ctx, settingsNote)
	if err != nil {
		return fmt.Errorf("read the agents' settings: %w", err)
	}
	if text != "" {
		var noted event.Settings
		err := json.Unmarshal([]byte(text), &noted)
		if err != nil || noted.Values == nil || noted.ID.Log != h.tail.bounds.Log {
			return fmt.Errorf("the note %q, which stores the agents' settings, is damaged; restore the store from a backup", settingsNote)
		}
		h.settings = settings{newest: noted, noted: noted.ID.Seq}
	}
	return h.learnSettings(ctx)
}

// learnSettings looks for settings that are newer than the known ones: the hub may have skipped them, or a relay
// died before it wrote the note. One query usually shows that there are none, because the delivery of settings names
// their predecessors. The caller holds publishing, so the head does not move.
func (h *Hub) learnSettings(ctx context.Context) error {
	head := h.Bounds().Head
	newest := h.settings.newest
	for {
		at := newest.ID.Seq
		stored, err := h.store.Stored(ctx, event.SettingsSource, []string{successor(at)})
		if err != nil {
			return fmt.Errorf("find the agents' settings: %w", err)
		}
		if len(stored) == 0 {
			break
		}
		next, err := h.settingsBehind(ctx, at, head)
		if err != nil {
			return fmt.Errorf("find the agents' settings: %w", err)
		}
		if next.ID.IsZero() {
			break // they lie beyond the head
		}
		newest = next
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.settings = settings{newest: newest, noted: h.settings.noted}
	return nil
}

// errSettingsDamaged is returned instead of outdated settings, which could switch on again what is off.
var errSettingsDamaged = errors.New("the event with the newest settings may be one of the damaged events; restore the store from a backup")

// settingsBehind returns the newest settings after at, up to head, or zero if there are none.
func (h *Hub) settingsBehind(ctx context.Context, at, head int64) (newest event.Settings, err error) {
	var damage *Damage
	for at < head {
		events, err := h.store.Read(ctx, at, maxBatchEvents, maxBatchBytes)
		if errors.As(err, &damage) {
			h.damages.meet(ctx, damage)
			at = damage.Last
			continue
		}
		if err != nil {
			return event.Settings{}, err
		}
		if len(events) == 0 {
			break
		}
		for _, e := range events {
			if at = e.ID.Seq; e.IsSettings() && at <= head {
				if newest, err = e.Settings(); err != nil {
					return event.Settings{}, err
				}
			}
		}
	}
	if newest.ID.IsZero() && damage != nil {
		return event.Settings{}, errSettingsDamaged
	}
	return newest, nil
}

// keepSettings writes the newest settings into the note.
func (h *Hub) keepSettings(ctx context.Context) error {
	h.keeping.Lock()
	defer h.keeping.Unlock()
	newest := h.known().newest
	text, err := json.Marshal(newest)
	if err == nil {
		err = h.store.SetNote(ctx, settingsNote, string(text))
	}
	if err != nil {
		return fmt.Errorf("store the agents' settings: %w", err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.settings.noted = max(h.settings.noted, newest.ID.Seq)
	return nil
}

// keepOldSettings writes the newest settings into the note before retention may remove them from the log. Any
// relay may have set them and then failed to write the note.
func (h *Hub) keepOldSettings(ctx context.Context) error {
	if _, err := h.Settings(ctx); err != nil {
		return err
	}
	if known := h.known(); known.newest.ID.Seq <= max(known.noted, h.Bounds().Floor) {
		return nil
	}
	return h.keepSettings(ctx)
}
