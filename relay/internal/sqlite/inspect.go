package sqlite

import (
	"context"
	"fmt"

	"touchstone/relay/internal/sqlitefile"
)

// maxFindings bounds how many problems SQLite reports about one file.
const maxFindings = 20

// Inspect implements hub.Store. It has SQLite compare its pages and indexes with each other.
func (s *Store) Inspect(ctx context.Context, tell func(problem string)) (unchecked int64, err error) {
	rows, err := s.db.Reader.QueryContext(ctx, fmt.Sprintf("PRAGMA integrity_check(%d)", maxFindings))
	var finding string
	err = sqlitefile.Scan(rows, err, []any{&finding}, func() error {
		if finding != "ok" {
			tell("the file is damaged: " + finding)
		}
		return nil
	})
	if err == nil {
		err = s.db.Reader.QueryRowContext(ctx, "SELECT COUNT(*) FROM events WHERE checksum IS NULL").Scan(&unchecked)
	}
	if err == nil {
		err = s.inspectSigned(ctx, tell)
	}
	if isDamage(err) {
		tell("the file is damaged: " + err.Error())
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("inspect the file: %w", err)
	}
	return unchecked, nil
}

// inspectSigned reports if the list of signatures does not cover the whole log.
func (s *Store) inspectSigned(ctx context.Context, tell func(problem string)) error {
	tx, err := s.db.Reader.BeginTx(ctx, nil) // so that no trim comes between
	if err != nil {
		return err
	}
	defer tx.Rollback()
	log, err := scanBounds(tx.QueryRowContext(ctx, selectBounds))
	if err != nil {
		return err
	}
	whole, err := readSigned(ctx, tx, log.Floor, func(int64, []byte) {})
	if err != nil || whole >= log.Head {
		return err
	}
	tell(fmt.Sprintf("the list of signatures is damaged after event %d, so a webhook sent again under another id may be "+
		"stored twice; restart the relay, which rebuilds the list", whole))
	return nil
}
