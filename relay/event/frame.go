package event

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// MaxFrameBytes bounds one frame: the largest webhook the relay takes, 26 MiB, as
// base64, with its envelope. A reader's buffer has to hold this much.
const MaxFrameBytes = 40 << 20

// Names of control frames, as ControlName is. No webhook's event can bear them: "relay" is
// no source's name.
const (
	// GapName marks a Gap.
	GapName = "relay.gap"
	// ResetName marks a Reset.
	ResetName = "relay.reset"
)

// Gap tells a subscriber that events it asked for are gone. What follows it is the
// oldest event that is left.
type Gap struct {
	// From and To are the first and the last event that are gone.
	From Cursor `json:"from"`
	To   Cursor `json:"to"`
	// Reason is GapRetention or GapDamaged.
	Reason string `json:"reason"`
}

// Reasons of a Gap.
const (
	// GapRetention says that the events were older than the relay keeps them.
	GapRetention = "retention"
	// GapDamaged says that the events in the relay's store are no longer what was stored.
	GapDamaged = "damaged"
)

// Reset tells a subscriber that its cursor means nothing to this relay. What follows
// it is the oldest event of the relay's log.
type Reset struct {
	// Log is the id of the log that follows.
	Log string `json:"log"`
	// Reason is "unknown log" or "beyond head".
	Reason string `json:"reason"`
}

// Message is what one frame says: at most one of Event, Gap, Reset and Control is set;
// with none of them the frame only moves the cursor past events that the filter left out.
type Message struct {
	// Cursor is where the subscriber stands once the message is dealt with; zero
	// when the frame left that as it was.
	Cursor  Cursor
	Event   *Event
	Gap     *Gap
	Reset   *Reset
	Control *Control
}

// AppendFrame appends the event's frame to dst.
func (e Event) AppendFrame(dst []byte) ([]byte, error) {
	if e.IsControl() {
		control, err := e.Control()
		if err != nil {
			return dst, err
		}
		return control.AppendFrame(dst, e.ID)
	}
	data, err := e.AppendJSON(nil)
	if err != nil {
		return dst, err
	}
	return appendFrame(dst, e.Name(), data, e.ID), nil
}

// AppendFrame appends the gap's frame to dst; it moves the cursor to the last event that is gone.
func (g Gap) AppendFrame(dst []byte) ([]byte, error) {
	data, err := json.Marshal(g)
	if err != nil {
		return dst, fmt.Errorf("encode gap: %w", err)
	}
	return appendFrame(dst, GapName, data, g.To), nil
}

// AppendFrame appends the reset's frame to dst; it moves the cursor to at, the place
// before the oldest event.
func (r Reset) AppendFrame(dst []byte, at Cursor) ([]byte, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return dst, fmt.Errorf("encode reset: %w", err)
	}
	return appendFrame(dst, ResetName, data, at), nil
}

// AppendMove appends a frame of nothing but an id, which moves the cursor.
func AppendMove(dst []byte, to Cursor) []byte {
	return fmt.Appendf(dst, "id: %s\n\n", to)
}

// appendFrame writes the id as the last line, so that a reader which loses the
// connection in the middle of a frame has not learned the id of what it did not get.
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

// Decode reads a frame that an SSE reader has taken apart: its event name, its data
// lines joined by line feeds, and its id, each empty when absent. Frames of a kind
// that this version does not know move the cursor and say nothing else.
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
	case name == ControlName:
		// Without any settings named, it would take back those there are.
		if err = json.Unmarshal(data, &m.Control); err == nil && m.Control != nil && m.Control.Settings == nil {
			err = errors.New("a control names its settings")
		}
	case bytes.HasPrefix([]byte(name), []byte("relay.")):
		return m, nil
	default:
		if err = json.Unmarshal(data, &m.Event); err == nil && (m.Event == nil || m.Event.ID != m.Cursor) {
			err = fmt.Errorf("the event and its frame disagree about the id")
		}
	}
	if err != nil {
		return Message{}, fmt.Errorf("decode frame %q: %w", name, err)
	}
	return m, nil
}
