package event

import (
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// LogIDLength is the number of characters in a log's id.
const LogIDLength = 8

// Cursor is a position in one relay's log: the event numbered Seq or, if Seq is zero, the place before the
// first event. On the wire and in Last-Event-ID it is written "<log>-<seq>", for example "q7m2x4ka-1042". The
// zero Cursor is no position.
type Cursor struct {
	// Log is the id of the log, LogIDLength characters of a–z and 0–9. It is made with the store, so that a
	// cursor of one log is never valid in another.
	Log string
	// Seq counts the log's events from 1 without gaps.
	Seq int64
}

// errCursor tells people what a cursor looks like. It leaves out what they sent, which can be of any length
// and hold anything.
var errCursor = errors.New(`a cursor looks like "q7m2x4ka-1042": the log's 8 characters, a hyphen, and the event's number`)

// ParseCursor reads a cursor in the form that String writes, and in no other.
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

// NewLogID returns a random id for a log.
func NewLogID() string { return strings.ToLower(rand.Text()[:LogIDLength]) }

// ValidLogID reports whether id has the form of a log's id.
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

// String returns the cursor as it is written on the wire; the zero Cursor is empty.
func (c Cursor) String() string {
	if c.IsZero() {
		return ""
	}
	return c.Log + "-" + strconv.FormatInt(c.Seq, 10)
}

// IsZero reports whether c is the zero Cursor, which is no position.
func (c Cursor) IsZero() bool { return c == Cursor{} }

// MarshalText returns what String does.
func (c Cursor) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads the output of MarshalText; empty text is the zero Cursor.
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
