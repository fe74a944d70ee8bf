package event

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// LogIDLength is the number of characters in a log's id.
const LogIDLength = 8

// Cursor is a position in one relay's log: the event numbered Seq, or, with Seq
// zero, the place before the first event. On the wire and in Last-Event-ID it is
// written "<log>-<seq>", for example "q7m2x4ka-1042". The zero Cursor is no position.
type Cursor struct {
	// Log is the id of the log, LogIDLength characters of a–z and 0–9. It is made
	// with the store, so that a cursor can never be taken for one of another log.
	Log string
	// Seq counts the log's events from 1 without gaps.
	Seq int64
}

// errCursor tells people how a cursor looks. What they sent is left out of it:
// it can be of any length and hold anything.
var errCursor = errors.New(`a cursor looks like "q7m2x4ka-1042": the log's 8 characters, a hyphen, and the event's number`)

// ParseCursor reads a cursor in the form that String writes, and only in that form.
func ParseCursor(s string) (Cursor, error) {
	log, number, found := strings.Cut(s, "-")
	if !found || !ValidLogID(log) {
		return Cursor{}, errCursor
	}
	seq, err := strconv.ParseInt(number, 10, 64)
	if err != nil || strconv.FormatInt(seq, 10) != number || seq < 0 {
		return Cursor{}, errCursor
	}
	return Cursor{Log: log, Seq: seq}, nil
}

// ValidLogID reports whether id has the shape of a log's id.
func ValidLogID(id string) bool {
	if len(id) != LogIDLength {
		return false
	}
	for _, c := range []byte(id) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// String writes the cursor as it stands on the wire; the zero Cursor is empty.
func (c Cursor) String() string {
	if c.IsZero() {
		return ""
	}
	return c.Log + "-" + strconv.FormatInt(c.Seq, 10)
}

// IsZero reports whether c is no position at all.
func (c Cursor) IsZero() bool { return c == Cursor{} }

// MarshalText writes the cursor as String does.
func (c Cursor) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads what MarshalText wrote; empty text is the zero Cursor.
func (c *Cursor) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*c = Cursor{}
		return nil
	}
	parsed, err := ParseCursor(string(text))
	if err != nil {
		return fmt.Errorf("read cursor: %w", err)
	}
	*c = parsed
	return nil
}
