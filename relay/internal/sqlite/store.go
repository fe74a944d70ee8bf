// Package sqlite keeps the relay's log in one SQLite file, which an operator can open with the usual tools.
// It owns the schema, a checksum of each event, and the locks that keep a second relay away. Every append is
// one transaction that is on disk when Append returns: write-ahead log with synchronous=FULL
// (https://www.sqlite.org/pragma.html#pragma_synchronous).
package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync"
	"time"

	"touchstone/relay/event"
	"touchstone/relay/hub"
	"touchstone/relay/internal/sqlitefile"
)

// Store is a log in a SQLite file. It implements hub.Store.
type Store struct {
	db                 *sqlitefile.File
	head, insert, list *sql.Stmt  // of the writer
	after              *sql.Stmt  // of the reader
	log                string     // the log's id
	appending          sync.Mutex // held during an append; it guards signed too
	signed             signed
	doubts             chan struct{} // holds one signal while the log may hold events that no append returned
	files              files
	lock               *lock
	checkpoints        checkpoints
	clock              clock
	// now returns the machine's time and how long this store has been open.
	now func() (time.Time, time.Duration)
}

// Open opens the log at path, and creates it if there is none; the folder has to exist. It fails if another
// process has the file open as its log.
func Open(ctx context.Context, path string) (*Store, error) { return openAt(ctx, path, true) }

// OpenExisting is Open for a file that has to hold a log already.
func OpenExisting(ctx context.Context, path string) (*Store, error) { return openAt(ctx, path, false) }

func openAt(ctx context.Context, path string, create bool) (*Store, error) {
	path, err := Resolve(path)
	if err != nil {
		return nil, err
	}
	held, err := acquire(path)
	if err != nil {
		return nil, err
	}
	opened := time.Now()
	s := &Store{lock: held, doubts: make(chan struct{}, 1), now: func() (time.Time, time.Duration) { return time.Now(), time.Since(opened) }}
	if err := s.open(ctx, path, create); err != nil {
		if sqlitefile.NoDatabase(err) {
			err = fmt.Errorf("not the log of a relay: %w; choose another file, or restore a copy of the log", err)
		}
		return nil, errors.Join(fmt.Errorf("open store %s: %w", path, err), s.Close())
	}
	return s, nil
}

func (s *Store) open(ctx context.Context, path string, create bool) error {
	var err error
	if s.db, err = sqlitefile.Open(path, fmt.Sprintf("busy_timeout(%d)", lockTimeout.Milliseconds()), "synchronous(FULL)",
		fmt.Sprintf("wal_autocheckpoint(%d)", maxLogPages)); err != nil {
		return err
	}
	if err := migrate(ctx, s.db.Writer, create); err != nil {
		return err
	}
	if s.head, err = s.db.Writer.PrepareContext(ctx, selectBounds); err != nil {
		return err
	}
	if s.insert, err = s.db.Writer.PrepareContext(ctx, insertEvent); err != nil {
		return err
	}
	if s.list, err = s.db.Writer.PrepareContext(ctx, insertSigned); err != nil {
		return err
	}
	if s.after, err = s.db.Reader.PrepareContext(ctx, selectAfter); err != nil {
		return err
	}
	bounds, err := s.bounds(ctx, s.db.Reader)
	if err != nil {
		return err
	}
	s.log = bounds.Log
	if s.files, err = filesAt(path); err != nil {
		return err
	}
	if err := s.recallClock(ctx); err != nil {
		return err
	}
	if err := s.recallSigned(ctx); err != nil {
		return err
	}
	s.checkpoints.start(ctx, s)
	return nil
}

// lockTimeout is how long a write waits for a file that another process has locked. A webhook waits at most 8 s for the
// store. So a locked store has to fail sooner, twice: for the append that waits for it, and for the append that waits for
// that one.
const lockTimeout = 3500 * time.Millisecond

// reserve returns the writer's connection, until release is called, for a write that waits as long as told: first for
// other writes, such as a trim that itself waits for a locked file, and for what is left of that time for the locked file.
// SQLite does not notice that a context ends meanwhile, and the error of a context does not say that the file is locked.
func (s *Store) reserve(ctx context.Context, wait time.Duration) (conn *sql.Conn, release func(), err error) {
	latest := time.Now().Add(wait)
	limited, cancel := context.WithDeadlineCause(ctx, latest, errors.New("other writes have not ended"))
	defer cancel()
	if conn, err = s.db.Writer.Conn(limited); err != nil {
		return nil, nil, cmp.Or(context.Cause(limited), err)
	}
	left := time.Until(latest).Round(100 * time.Millisecond)
	if left == lockTimeout { // as each connection waits
		return conn, func() { _ = conn.Close() }, nil
	}
	set := func(ctx context.Context, d time.Duration) error {
		_, err := conn.ExecContext(ctx, fmt.Sprintf("PRAGMA busy_timeout(%d)", d.Milliseconds()))
		return err
	}
	release = func() {
		if set(context.WithoutCancel(ctx), lockTimeout) != nil {
			_ = conn.Raw(func(any) error { return driver.ErrBadConn }) // a new connection takes its place
		}
		_ = conn.Close()
	}
	if err := set(ctx, left); err != nil {
		release() // also if this is said to fail: ctx may end just after SQLite has done it
		return nil, nil, err
	}
	return conn, release, nil
}

// Close closes the file, so that another relay can open it.
func (s *Store) Close() error {
	s.checkpoints.stop()
	var err error
	if s.db != nil {
		err = s.db.Close()
	}
	return errors.Join(err, s.lock.release())
}

const selectBounds = `SELECT log.value, floor.value, sum.value, COALESCE((SELECT MAX(seq) FROM events), floor.value)
	FROM meta AS log, meta AS floor, meta AS sum WHERE log.name = 'log' AND floor.name = 'floor' AND sum.name = 'checksum'`

// Bounds implements hub.Store.
func (s *Store) Bounds(ctx context.Context) (hub.Bounds, error) {
	b, err := s.bounds(ctx, s.db.Reader)
	if err != nil {
		return hub.Bounds{}, err
	}
	if b.Log != s.log {
		return hub.Bounds{}, errors.New("read bounds: the file's log id has changed")
	}
	return b, s.files.check()
}

func (s *Store) bounds(ctx context.Context, db *sql.DB) (hub.Bounds, error) {
	return scanBounds(db.QueryRowContext(ctx, selectBounds))
}

func scanBounds(row *sql.Row) (hub.Bounds, error) {
	var b hub.Bounds
	var sum int64
	if err := row.Scan(&b.Log, &b.Floor, &sum, &b.Head); err != nil {
		return hub.Bounds{}, fmt.Errorf("read bounds: %w", err)
	}
	if !event.ValidLogID(b.Log) || boundsSum(b.Log, b.Floor) != sum {
		return hub.Bounds{}, errors.New("read bounds: the file's log id or its floor is damaged; restore the store from a backup")
	}
	return b, nil
}
