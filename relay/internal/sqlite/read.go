package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"touchstone/relay/event"
	"touchstone/relay/hub"
	"touchstone/relay/internal/sqlitefile"
)

const selectAfter = `SELECT (SELECT value FROM meta WHERE name = 'floor'),
	seq, source, delivery, type, action, repo, number, sender, received_at, headers, payload, signature, content, checksum, json
	FROM events WHERE seq > ? ORDER BY seq LIMIT ?`

// Read implements hub.Store.
func (s *Store) Read(ctx context.Context, after int64, limit, maxBytes int) ([]event.Event, error) {
	r := reading{at: after}
	err := s.scan(ctx, &r, limit, maxBytes)
	switch {
	case err == nil || len(r.events) > 0 && isDamage(err):
		return r.events, nil // the next Read returns what ended them
	case isDamage(err):
		return nil, s.extent(ctx, r.at, err)
	}
	return nil, fmt.Errorf("read events: %w", err)
}

// reading is the state of one Read.
type reading struct {
	events []event.Event
	at     int64 // the number of the last event that was read
	sum    summer
}

// errMissing and errChanged describe events that are damaged although SQLite can read the file.
var (
	errMissing = errors.New("it is missing")
	errChanged = errors.New("its checksum does not match")
)

// isDamage reports whether an error is about the content of the file, rather than about reading it.
func isDamage(err error) bool {
	return errors.Is(err, errMissing) || errors.Is(err, errChanged) || sqlitefile.Damaged(err)
}

func (s *Store) scan(ctx context.Context, r *reading, limit, maxBytes int) error {
	rows, err := s.after.QueryContext(ctx, r.at, limit)
	if err != nil {
		return err
	}
	defer rows.Close()
	for size := 0; size < maxBytes && rows.Next(); {
		e, err := s.event(rows, r)
		if err != nil {
			return err
		}
		size += len(e.Payload)
		r.events, r.at = append(r.events, e), e.ID.Seq
	}
	return rows.Err()
}

// event reads one row. It has to be the next event, and unchanged.
func (s *Store) event(rows *sql.Rows, r *reading) (event.Event, error) {
	stored, err := scanRow(rows, s.log)
	if err != nil {
		return event.Event{}, fmt.Errorf("%w (%w)", errChanged, err)
	}
	e := stored.Event
	r.at = max(r.at, stored.floor)
	if e.ID.Seq != r.at+1 {
		return event.Event{}, errMissing
	}
	if stored.changed(&r.sum) {
		return event.Event{}, errChanged
	}
	if err := json.Unmarshal([]byte(stored.headers), &e.Headers); err != nil {
		return event.Event{}, fmt.Errorf("%w (its headers are not JSON)", errChanged)
	}
	if !stored.checksum.Valid {
		e.SplitSignature()
	}
	return e, nil
}

// row is a row of selectAfter: an event without its headers, and what is stored with it.
type row struct {
	event.Event
	floor             int64
	headers           string
	content, checksum sql.NullInt64
}

// scanRow reads a row of the log with this id.
func scanRow(rows *sql.Rows, log string) (row, error) {
	r := row{Event: event.Event{ID: event.Cursor{Log: log}}}
	var received int64
	err := rows.Scan(&r.floor, &r.ID.Seq, &r.Source, &r.Delivery, &r.Type, &r.Action, &r.Repo,
		&r.Number, &r.Sender, &received, &r.headers, &r.Payload, &r.Signature, &r.content, &r.checksum, &r.JSON)
	r.ReceivedAt = time.UnixMilli(received).UTC()
	return r, err
}

// changed reports whether the row is not what was stored, by its checksum if it has one.
func (r *row) changed(sum *summer) bool {
	return r.checksum.Valid && sum.event(r.Event, r.headers, r.content) != r.checksum.Int64
}

// maxLookedFor is how many events extent looks for one by one after a damaged event. After that it skips
// ahead, so readable events may count as damaged too.
const maxLookedFor = 10_000

// extent finds the range of unreadable events after the one numbered after: up to the next event that is
// there.
func (s *Store) extent(ctx context.Context, after int64, cause error) error {
	bounds, err := s.bounds(ctx, s.db.Reader)
	if err != nil {
		return err
	}
	damage := &hub.Damage{First: after + 1, Last: bounds.Head, Cause: cause}
	step := int64(1)
	for n := after + 1; n <= bounds.Head; n += step {
		var seq int64
		err := s.db.Reader.QueryRowContext(ctx, "SELECT seq FROM events WHERE seq = ?", n).Scan(&seq)
		switch {
		case err == nil:
			damage.Last = max(n-1, after+1)
			return damage
		case !errors.Is(err, sql.ErrNoRows) && !isDamage(err):
			return fmt.Errorf("read events: %w", err)
		}
		if n-after > maxLookedFor {
			step *= 2
		}
	}
	return damage
}
