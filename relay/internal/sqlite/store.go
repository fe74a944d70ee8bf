// Package sqlite keeps the relay's log in one SQLite file, which any operator can
// open with the usual tools. It owns the schema, and the lock that keeps a second
// relay away. Every append is one transaction that is on the disk when it returns:
// write-ahead log with synchronous=FULL (https://www.sqlite.org/pragma.html#pragma_synchronous).
package sqlite

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"modernc.org/sqlite" // the database/sql driver "sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"touchstone/relay/event"
	"touchstone/relay/hub"
)

// schemaVersion is kept in the file's user_version.
const schemaVersion = 1

const schema = `
CREATE TABLE meta (
	name  TEXT PRIMARY KEY,
	value ANY NOT NULL
) STRICT;
CREATE TABLE events (
	seq         INTEGER PRIMARY KEY,
	source      TEXT NOT NULL,
	delivery    TEXT NOT NULL,
	type        TEXT NOT NULL,
	action      TEXT NOT NULL,
	repo        TEXT NOT NULL,
	number      INTEGER NOT NULL,
	sender      TEXT NOT NULL,
	received_at INTEGER NOT NULL, -- milliseconds since 1970, UTC
	headers     TEXT NOT NULL,    -- a JSON object
	payload     BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX events_by_delivery ON events (source, delivery);`

// trimLimit is how many events one Trim removes at most, so that appends never wait
// long for it.
const trimLimit = 1000

// Store is a log in a SQLite file. It implements hub.Store.
type Store struct {
	// writer has one connection, which makes appends and trims take turns.
	writer       *sql.DB
	head, insert *sql.Stmt // of the writer
	reader       *sql.DB
	lock         *lock
	checkpoints  checkpoints
}

// Open opens the log at path and makes it if there is none; the folder has to exist.
// It fails if another process has the file open as its log.
func Open(ctx context.Context, path string) (*Store, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("find the store: %w", err)
	}
	held, err := acquire(path)
	if err != nil {
		return nil, err
	}
	s := &Store{lock: held}
	if err := s.open(ctx, path); err != nil {
		if code := new(sqlite.Error); errors.As(err, &code) && code.Code() == sqlite3.SQLITE_NOTADB {
			err = fmt.Errorf("it is no log of a relay: %w; name another file, or put a copy of the log in its place", err)
		}
		return nil, errors.Join(fmt.Errorf("open store %s: %w", path, err), s.Close())
	}
	return s, nil
}

func (s *Store) open(ctx context.Context, path string) error {
	// What the log holds is private; SQLite would let the umask decide, and gives the
	// files beside this one the same permissions.
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	if s.writer, err = sql.Open("sqlite", dsn(path, "immediate")); err != nil {
		return err
	}
	s.writer.SetMaxOpenConns(1)
	if err := migrate(ctx, s.writer); err != nil {
		return err
	}
	if s.head, err = s.writer.PrepareContext(ctx, selectBounds); err != nil {
		return err
	}
	if s.insert, err = s.writer.PrepareContext(ctx, insertEvent); err != nil {
		return err
	}
	if s.reader, err = sql.Open("sqlite", dsn(path, "deferred")); err != nil {
		return err
	}
	s.reader.SetMaxOpenConns(4)
	if _, err = s.Bounds(ctx); err != nil {
		return err
	}
	s.checkpoints.start(ctx, s)
	return nil
}

// dsn names the file as a URI, in which a path may hold any character
// (https://www.sqlite.org/uri.html).
func dsn(path, txlock string) string {
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed
	}
	// A webhook waits at most 8 s for the store, so a locked one has to say so sooner,
	// twice: to the append that waits for it, and to the one that waits for that.
	query := url.Values{
		"_pragma": {
			"busy_timeout(3500)", "journal_mode(WAL)", "synchronous(FULL)",
			fmt.Sprintf("wal_autocheckpoint(%d)", maxLogPages),
		},
		"_txlock": {txlock},
	}
	return (&url.URL{Scheme: "file", Path: slashed, RawQuery: query.Encode()}).String()
}

// migrate makes the tables of a new file and refuses the file of a newer relay.
func migrate(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	var version int
	if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	switch version {
	case schemaVersion:
		return nil
	case 0:
	default:
		return fmt.Errorf("the file has schema version %d and this relay knows %d: run the relay that wrote it, or name another file", version, schemaVersion)
	}
	if _, err := tx.ExecContext(ctx, schema); err != nil {
		return err
	}
	logID := strings.ToLower(rand.Text()[:event.LogIDLength])
	if _, err := tx.ExecContext(ctx, "INSERT INTO meta (name, value) VALUES ('log', ?), ('floor', 0)", logID); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", schemaVersion)); err != nil {
		return err
	}
	return tx.Commit()
}

// Close closes the file and lets another relay have it.
func (s *Store) Close() error {
	s.checkpoints.stop()
	var errs []error
	for _, statement := range []*sql.Stmt{s.head, s.insert} {
		if statement != nil {
			errs = append(errs, statement.Close())
		}
	}
	for _, db := range []*sql.DB{s.reader, s.writer} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(append(errs, s.lock.release())...)
}

const selectBounds = `SELECT log.value, floor.value, COALESCE((SELECT MAX(seq) FROM events), floor.value)
	FROM meta AS log, meta AS floor WHERE log.name = 'log' AND floor.name = 'floor'`

// Bounds implements hub.Store.
func (s *Store) Bounds(ctx context.Context) (hub.Bounds, error) {
	var b hub.Bounds
	if err := s.reader.QueryRowContext(ctx, selectBounds).Scan(&b.Log, &b.Floor, &b.Head); err != nil {
		return hub.Bounds{}, fmt.Errorf("read bounds: %w", err)
	}
	if !event.ValidLogID(b.Log) {
		return hub.Bounds{}, errors.New("read bounds: the file's log id is damaged")
	}
	return b, nil
}

const insertEvent = `INSERT INTO events
	(seq, source, delivery, type, action, repo, number, sender, received_at, headers, payload)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (source, delivery) DO NOTHING`

// Append implements hub.Store.
func (s *Store) Append(ctx context.Context, events []event.Event) ([]hub.Appended, error) {
	tx, err := s.writer.BeginTx(ctx, nil)
	if err != nil {
		return nil, fmt.Errorf("begin append: %w", err)
	}
	defer tx.Rollback()
	a := appender{tx: tx, insert: tx.StmtContext(ctx, s.insert)}
	var b hub.Bounds
	if err := tx.StmtContext(ctx, s.head).QueryRowContext(ctx).Scan(&b.Log, &b.Floor, &a.head); err != nil {
		return nil, fmt.Errorf("find the head: %w", err)
	}
	results := make([]hub.Appended, len(events))
	size := 0
	for i, e := range events {
		size += len(e.Payload)
		if results[i], err = a.append(ctx, e); err != nil {
			return nil, fmt.Errorf("append: %w", err)
		}
	}
	if err := tx.Commit(); err != nil {
		return nil, fmt.Errorf("commit append: %w", err)
	}
	s.checkpoints.wrote(size)
	return results, nil
}

// appender is one append's transaction. The head is read within it, so that even a
// commit of unknown outcome leaves nothing to repair.
type appender struct {
	tx     *sql.Tx
	insert *sql.Stmt
	head   int64
}

func (a *appender) append(ctx context.Context, e event.Event) (hub.Appended, error) {
	headers, err := json.Marshal(e.Headers)
	if err != nil {
		return hub.Appended{}, err
	}
	payload := e.Payload
	if payload == nil {
		payload = []byte{} // nil would be NULL
	}
	result, err := a.insert.ExecContext(ctx, a.head+1, e.Source, e.Delivery, e.Type, e.Action, e.Repo,
		e.Number, e.Sender, e.ReceivedAt.UnixMilli(), string(headers), payload)
	if err != nil {
		return hub.Appended{}, err
	}
	if stored, err := result.RowsAffected(); err != nil || stored == 1 {
		a.head++
		return hub.Appended{Seq: a.head}, err
	}
	duplicate := hub.Appended{Duplicate: true}
	err = a.tx.QueryRowContext(ctx, "SELECT seq FROM events WHERE source = ? AND delivery = ?",
		e.Source, e.Delivery).Scan(&duplicate.Seq)
	return duplicate, err
}

// Read implements hub.Store.
func (s *Store) Read(ctx context.Context, after int64, limit, maxBytes int) ([]event.Event, error) {
	rows, err := s.reader.QueryContext(ctx, `SELECT (SELECT value FROM meta WHERE name = 'log'),
		seq, source, delivery, type, action, repo, number, sender, received_at, headers, payload
		FROM events WHERE seq > ? ORDER BY seq LIMIT ?`, after, limit)
	if err != nil {
		return nil, fmt.Errorf("read events: %w", err)
	}
	defer rows.Close()
	var events []event.Event
	for size := 0; size < maxBytes && rows.Next(); {
		var e event.Event
		var received int64
		var headers []byte
		if err := rows.Scan(&e.ID.Log, &e.ID.Seq, &e.Source, &e.Delivery, &e.Type, &e.Action, &e.Repo,
			&e.Number, &e.Sender, &received, &headers, &e.Payload); err != nil {
			return nil, fmt.Errorf("read events: %w", err)
		}
		if err := json.Unmarshal(headers, &e.Headers); err != nil {
			return nil, fmt.Errorf("read headers of event %s: %w", e.ID, err)
		}
		e.ReceivedAt = time.UnixMilli(received).UTC()
		size += len(e.Payload)
		events = append(events, e)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read events: %w", err)
	}
	return events, nil
}

// Trim implements hub.Store.
func (s *Store) Trim(ctx context.Context, before time.Time) (int, error) {
	tx, err := s.writer.BeginTx(ctx, nil)
	if err != nil {
		return 0, fmt.Errorf("begin trim: %w", err)
	}
	defer tx.Rollback()
	var last sql.NullInt64
	err = tx.QueryRowContext(ctx, `WITH oldest AS (SELECT seq, received_at FROM events ORDER BY seq LIMIT ?)
		SELECT MAX(seq) FROM oldest
		WHERE seq < COALESCE((SELECT MIN(seq) FROM oldest WHERE received_at >= ?), seq + 1)`,
		trimLimit, before.UnixMilli()).Scan(&last)
	if err != nil {
		return 0, fmt.Errorf("find old events: %w", err)
	}
	if !last.Valid {
		return 0, nil
	}
	result, err := tx.ExecContext(ctx, "DELETE FROM events WHERE seq <= ?", last.Int64)
	if err != nil {
		return 0, fmt.Errorf("remove old events: %w", err)
	}
	if _, err := tx.ExecContext(ctx, "UPDATE meta SET value = ? WHERE name = 'floor'", last.Int64); err != nil {
		return 0, fmt.Errorf("record the floor: %w", err)
	}
	if err := tx.Commit(); err != nil {
		return 0, fmt.Errorf("commit trim: %w", err)
	}
	removed, err := result.RowsAffected()
	return int(removed), err
}
