package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"touchstone/relay/event"
)

// schemaVersion is stored in the file's user_version.
const schemaVersion = 3

const schema1 = `
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

// schema2 leaves the events of older relays without a checksum, because it is unknown whether they are still
// unchanged.
const schema2 = `
ALTER TABLE events ADD COLUMN signature TEXT NOT NULL DEFAULT '';
ALTER TABLE events ADD COLUMN content INTEGER;  -- of a signature that comes once, its hash
ALTER TABLE events ADD COLUMN checksum INTEGER; -- of all the other columns and the log's id`

// schema3 adds a list of the signatures, see signed, in place of the index of relays of version 2.
const schema3 = `
CREATE TABLE signed (
	first    INTEGER PRIMARY KEY, -- the number of the first of the events that were appended together
	hashes   BLOB NOT NULL,       -- of each of them its content in 8 bytes, the least first; 0 for none
	checksum INTEGER NOT NULL     -- of the other columns
) STRICT;
ALTER TABLE events ADD COLUMN json INTEGER NOT NULL DEFAULT 0; -- 1: the payload was seen to be JSON`

// The reasons why a file without a log is not opened.
var (
	errNoLog = errors.New("the file has no log in it; that of a running relay may still be in relay.db-wal: copy it with " +
		"sqlite3 relay.db '.backup copy.db'")
	errForeign = errors.New("the file has tables, but is not marked as the log of a relay; choose another file, or restore a copy of the log")
)

// migrate creates the tables of a new file, unless it may not, updates those of an older touchstone-relay, and
// refuses the file of a newer one or of another program.
func migrate(ctx context.Context, db *sql.DB, create bool) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	var version int
	if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	if version == schemaVersion {
		return nil
	}
	var tables int
	if err := tx.QueryRowContext(ctx, "SELECT COUNT(*) FROM sqlite_schema").Scan(&tables); err != nil {
		return err
	}
	switch {
	case version == 0 && tables > 0:
		return errForeign
	case version == 0 && !create:
		return errNoLog
	}
	if version > schemaVersion {
		return fmt.Errorf("the file has schema version %d, but this relay supports %d; run the relay that wrote it, or choose another file",
			version, schemaVersion)
	}
	for _, step := range []func(context.Context, *sql.Tx) error{makeLog, addChecksums, addSigned}[version:] {
		if err := step(ctx, tx); err != nil {
			return err
		}
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", schemaVersion)); err != nil {
		return err
	}
	return tx.Commit()
}

func makeLog(ctx context.Context, tx *sql.Tx) error {
	if _, err := tx.ExecContext(ctx, schema1); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, "INSERT INTO meta (name, value) VALUES ('log', ?), ('floor', 0)", event.NewLogID())
	return err
}

func addChecksums(ctx context.Context, tx *sql.Tx) error {
	if _, err := tx.ExecContext(ctx, schema2); err != nil {
		return err
	}
	var log string
	var floor int64
	if err := tx.QueryRowContext(ctx, "SELECT log.value, floor.value FROM meta AS log, meta AS floor WHERE log.name = 'log' "+
		"AND floor.name = 'floor'").Scan(&log, &floor); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, "INSERT INTO meta (name, value) VALUES ('checksum', ?)", boundsSum(log, floor))
	return err
}

func addSigned(ctx context.Context, tx *sql.Tx) error {
	if _, err := tx.ExecContext(ctx, schema3); err != nil {
		return err
	}
	log, err := scanBounds(tx.QueryRowContext(ctx, selectBounds))
	if err != nil {
		return err
	}
	if err := listSigned(ctx, tx, log); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "DROP INDEX IF EXISTS events_by_content")
	return err
}
