package projection

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"touchstone/relay/internal/sqlitefile"
)

// format is the version of the tables and their contents. A file of another version is rebuilt from the log.
const format = "17"

const schema = `
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE places ( -- where events come from; without a repository where they are about none
	id     INTEGER PRIMARY KEY,
	source TEXT NOT NULL,
	repo   TEXT NOT NULL COLLATE NOCASE,
	events INTEGER NOT NULL DEFAULT 0,
	last   INTEGER NOT NULL DEFAULT 0, -- when the last event came, and the last ping
	ping   INTEGER NOT NULL DEFAULT 0,
	UNIQUE (source, repo)
) STRICT;
CREATE TABLE events (
	seq    INTEGER PRIMARY KEY,
	place  INTEGER NOT NULL,
	number INTEGER NOT NULL,
	type   TEXT NOT NULL,
	action TEXT NOT NULL,
	sender TEXT NOT NULL,
	at     INTEGER NOT NULL, -- times are milliseconds since 1970, UTC; 0 is none
	text   TEXT NOT NULL
) STRICT;
-- It holds all that the timeline of a pull request shows: its events lie far apart in the table.
CREATE INDEX events_by_number ON events (number, place, seq, type, action, sender, at, text) WHERE number > 0;
CREATE INDEX events_by_type ON events (type, seq);
CREATE TABLE pulls (
	id           INTEGER PRIMARY KEY,
	place        INTEGER NOT NULL,
	number       INTEGER NOT NULL,
	identity     INTEGER NOT NULL, -- GitHub's number, which a repository's new name leaves as it is
	turn         TEXT NOT NULL,
	author       TEXT NOT NULL COLLATE NOCASE,
	waiting      TEXT NOT NULL COLLATE NOCASE, -- logins, each between commas
	updated      INTEGER NOT NULL,
	rank         INTEGER NOT NULL, -- and sorted: the order in which lists show them
	sorted       INTEGER NOT NULL,
	summary      TEXT NOT NULL,    -- JSON
	share        TEXT NOT NULL,    -- JSON of its share in the figures of days
	doc          TEXT NOT NULL,    -- JSON of all that the log told; empty once the log has it no more
	UNIQUE (place, number)
) STRICT;
-- It holds all that a list is chosen by: rows are long.
CREATE INDEX pulls_in_order ON pulls (rank, sorted, id, place, turn, author, waiting);
CREATE INDEX pulls_by_identity ON pulls (identity) WHERE identity > 0;
CREATE TABLE moments ( -- the days on which something happened to a pull request
	moment TEXT NOT NULL,
	day    INTEGER NOT NULL, -- since 1970, UTC
	pull   INTEGER NOT NULL,
	PRIMARY KEY (moment, day, pull)
) STRICT, WITHOUT ROWID;
CREATE TABLE heads (
	place INTEGER NOT NULL,
	sha   TEXT NOT NULL,
	pull  INTEGER NOT NULL,
	PRIMARY KEY (place, sha, pull)
) STRICT, WITHOUT ROWID;
CREATE TABLE commits (
	place INTEGER NOT NULL,
	sha   TEXT NOT NULL,
	seq   INTEGER NOT NULL, -- no event behind it is about the commit
	doc   TEXT NOT NULL,    -- JSON
	PRIMARY KEY (place, sha)
) STRICT, WITHOUT ROWID;
CREATE TABLE kinds ( -- of findings
	id         INTEGER PRIMARY KEY,
	place      INTEGER NOT NULL,
	rule       TEXT NOT NULL,
	dimension  TEXT NOT NULL,
	severity   TEXT NOT NULL,
	status     TEXT NOT NULL,
	model      TEXT NOT NULL,
	guidelines TEXT NOT NULL,
	UNIQUE (rule, place, dimension, severity, status, model, guidelines)
) STRICT;
CREATE TABLE findings (
	pull   INTEGER NOT NULL,
	id     TEXT NOT NULL,
	kind   INTEGER NOT NULL,
	at     INTEGER NOT NULL, -- of the round that found it first
	before INTEGER NOT NULL, -- when the one before it of the same rule and pull request was found
	PRIMARY KEY (pull, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX findings_by_kind ON findings (kind, at, before, pull);
CREATE TABLE days ( -- the figures of each place, as JSON; empty where nothing is known
	day   INTEGER PRIMARY KEY, -- since 1970, UTC
	live  TEXT NOT NULL,       -- by the pull requests that the file knows
	noted TEXT NOT NULL,       -- as they are noted with the log
	fired TEXT NOT NULL        -- what fired, as it is noted with the log
) STRICT;`

// document is a value that a column holds as JSON. The JSON null leaves a struct as it is.
type document struct{ value any }

// Value implements driver.Valuer.
func (d document) Value() (driver.Value, error) {
	text, err := json.Marshal(d.value)
	return string(text), err
}

// Scan implements sql.Scanner. Only the first row of a query is read into one, because what a later one leaves out would stay.
func (d document) Scan(column any) error {
	if text, ok := column.(string); !ok || json.Unmarshal([]byte(text), d.value) != nil {
		return errDamaged
	}
	return nil
}

// docOrNull is the doc of a pull request as JSON, also once the log has it no more.
const docOrNull = "IIF(doc = '', 'null', doc)"

// openFile opens the file, checks its pages, and lets first use it. What a power failure removes from it is read again from the
// log, so no write waits for the disk.
func openFile(ctx context.Context, path string, first func(*sqlitefile.File) error) (*sqlitefile.File, error) {
	if err := makePrivate(path); err != nil {
		return nil, err
	}
	f, err := sqlitefile.Open(path, "busy_timeout(5000)", "synchronous(NORMAL)", "cache_size(-32000)", "temp_store(MEMORY)")
	if err != nil {
		return nil, err
	}
	var answer string
	if err = f.Writer.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&answer); err == nil && answer != "ok" {
		err = errDamaged
	}
	if err == nil {
		err = first(f)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// errDamaged says that the file is damaged, or belongs to something else.
var errDamaged = errors.New("the projection's file is damaged")

// isDamage reports whether an error means that the file is damaged.
func isDamage(err error) bool {
	return errors.Is(err, errDamaged) || sqlitefile.Damaged(err)
}

func create(ctx context.Context, f *sqlitefile.File, identity map[string]string) error {
	if _, err := f.Writer.ExecContext(ctx, schema); err != nil {
		return fmt.Errorf("create the projection's tables: %w", err)
	}
	for name, value := range identity {
		if _, err := f.Writer.ExecContext(ctx, "INSERT INTO meta (name, value) VALUES (?, ?)", name, value); err != nil {
			return fmt.Errorf("create the projection's tables: %w", err)
		}
	}
	return nil
}

// makePrivate makes the file, if there is none, and lets only its owner read it, like the log. Otherwise SQLite would let the
// umask decide, also about the files that it keeps beside this one.
func makePrivate(path string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	// The files may be from a relay that did not do this. One that was killed has left those beside the file, too.
	errs := []error{file.Close()}
	for _, end := range sqlitefile.Ends {
		if err := os.Chmod(path+end, 0o600); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// remove deletes the file and the files that SQLite keeps beside it.
func remove(path string) error {
	var errs []error
	for _, end := range sqlitefile.Ends {
		if err := os.Remove(path + end); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, fmt.Errorf("delete the old projection: %w", err))
		}
	}
	return errors.Join(errs...)
}
