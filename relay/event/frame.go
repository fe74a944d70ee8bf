package event

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// MaxFrameBytes bounds one frame: the largest webhook the relay accepts, 26 MiB, as base64, with its
// envelope. A reader's buffer has to be this large.
const MaxFrameBytes = 40 << 20

// Names of control frames, which are the relay's own; SettingsName is another. No webhook's event can have such a
// name, because no source is called "relay".
const (
	// GapName is the name of a Gap's frame.
	GapName = "relay.gap"
	// ResetName is the name of a Reset's frame.
	ResetName = "relay.reset"
)

// Gap tells a subscriber that events it asked for are gone. The oldest remaining event follows.
type Gap struct {
	// From and To are the first and the last event that are gone.
	From Cursor `json:"from"`
	To   Cursor `json:"to"`
	// Reason is GapRetention or GapDamaged.
	Reason string `json:"reason"`
}

// The reasons of a Gap.
const (
	// GapRetention says that the events were older than the relay's retention.
	GapRetention = "retention"
	// GapDamaged says that the events in the relay's store are damaged.
	GapDamaged = "damaged"
)

// Reset tells a subscriber that this relay cannot use its cursor. The oldest event of the relay's log
// follows.
type Reset struct {
	// Log is the id of the relay's log.
	Log string `json:"log"`
	// Reason is "unknown log" or "beyond head".
	Reason string `json:"reason"`
}

// Message is the content of one frame. At most one of Event, Gap, Reset and Settings is set. If none is, the
// frame only moves the cursor past events that the filter left out.
type Message struct {
	// Cursor is the subscriber's position once it has processed the message; zero if the frame does not move
	// it.
	Cursor   Cursor
	Event    *Event
	Gap      *Gap
	Reset    *Reset
	Settings *Settings
}

// AppendFrame appends the event's frame to dst.
func (e Event) AppendFrame(dst []byte) ([]byte, error) {
	if e.IsSettings() {
		settings, err := e.Settings()
		if err != nil {
			return dst, err
		}
		return settings.AppendFrame(dst, e.ID)
	}
	data, err := e.AppendJSON(nil)
	if err != nil {
		return dst, err
	}
	return appendFrame(dst, e.Name(), data, e.ID), nil
}

// AppendFrame appends the gap's frame to dst; it moves the cursor to the last event that is gone.
func (g Gap) AppendFrame(dst []byte) ([]byte, error) { return appendControl(dst, GapName, g, g.To) }

// AppendFrame appends the reset's frame to dst; it moves the cursor to at, the place before the oldest event.
func (r Reset) AppendFrame(dst []byte, at Cursor) ([]byte, error) {
	return appendControl(dst, ResetName, r, at)
}

// appendControl appends a frame of the relay's own.
func appendControl(dst []byte, name string, content any, id Cursor) ([]byte, error) {
	data, err := json.Marshal(content)
	if err != nil {
		return dst, fmt.Errorf("encode %s: %w", name, err)
	}
	return appendFrame(dst, name, data, id), nil
}

// AppendMove appends a frame with only an id, which moves the cursor.
func AppendMove(dst []byte, to Cursor) []byte {
	return fmt.Appendf(dst, "id: %s\n\n", to)
}

// appendFrame writes the id as the last line, so that a reader that loses the connection in the middle of a
// frame has not yet learned the id of the event it did not get.
func appendFrame(dst []byte, name string, data []byte, id Cursor) []byte {
	dst = slices.Grow(dst, len(data)+len(name)+100)
	dst = fmt.Appendf(dst, "event: %s\ndata: ", name)
	for line := range bytes.Lines(data) {
		dst = append(dst, line...)
		if line[len(line)-1] == '\n' {
			dst = append(dst, "data: "...)
		}
	}
	dst = append(dst, '\n')
	return AppendMove(dst, id)
}

// Decode decodes a frame that an SSE reader has split into its event name, its data lines joined by line
// feeds, and its id; each is empty if absent. A frame of an unknown kind only moves the cursor.
func Decode(name string, data []byte, id string) (Message, error) {
	var m Message
	if id != "" {
		cursor, err := ParseCursor(id)
		if err != nil {
			return Message{}, fmt.Errorf("decode frame's id: %w", err)
		}
		m.Cursor = cursor
	}
	if len(data) == 0 {
		return m, nil
	}
	var err error
	switch {
	case name == GapName:
		err = json.Unmarshal(data, &m.Gap)
	case name == ResetName:
		err = json.Unmarshal(data, &m.Reset)
	case name == SettingsName:
		// A frame without settings would unset all of them.
		if err = json.Unmarshal(data, &m.Settings); err == nil && m.Settings != nil && m.Settings.Values == nil {
			err = errors.New("a control frame must contain its settings")
		}
	case bytes.HasPrefix([]byte(name), []byte("relay.")):
		return m, nil
	default:
		if err = json.Unmarshal(data, &m.Event); err == nil && (m.Event == nil || m.Event.ID != m.Cursor) {
			err = fmt.Errorf("the event's id differs from its frame's id")
		}
	}
	if err != nil {
		return Message{}, fmt.Errorf("decode frame %q: %w", name, err)
	}
	return m, nil
}
