package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"touchstone/relay/event"
)

// Renew gives the log at path a new id, and returns it. Use it on a copy that takes the place of its log: a
// subscriber may have read further than the copy goes, and under the old id its cursor would come to name another
// event. It fails if a relay has the file open. Damaged events stay damaged.
func Renew(ctx context.Context, path string) (log string, err error) {
	s, err := OpenExisting(ctx, path)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	tx, err := s.db.Writer.BeginTx(ctx, nil)
	if err != nil {
		return "", fmt.Errorf("begin to renew the log's id: %w", err)
	}
	defer tx.Rollback()
	if log, err = renew(ctx, tx); err != nil {
		return "", fmt.Errorf("renew the log's id: %w", err)
	}
	if err := tx.Commit(); err != nil {
		return "", fmt.Errorf("commit the log's new id: %w", err)
	}
	return log, nil
}

func renew(ctx context.Context, tx *sql.Tx) (log string, err error) {
	old, err := scanBounds(tx.QueryRowContext(ctx, selectBounds))
	if err != nil {
		return "", err
	}
	log = event.NewLogID()
	sums, err := sumsUnder(ctx, tx, old.Log, log)
	if err != nil {
		return "", err
	}
	update, err := tx.PrepareContext(ctx, "UPDATE events SET checksum = ? WHERE seq = ?")
	if err != nil {
		return "", err
	}
	defer update.Close()
	for _, sum := range sums {
		if _, err := update.ExecContext(ctx, sum.checksum, sum.seq); err != nil {
			return "", err
		}
	}
	if _, err := tx.ExecContext(ctx, "UPDATE meta SET value = CASE name WHEN 'log' THEN ? ELSE ? END WHERE name IN ('log', 'checksum')",
		log, boundsSum(log, old.Floor)); err != nil {
		return "", err
	}
	// Notes name events by their cursors.
	_, err = tx.ExecContext(ctx, "UPDATE meta SET value = replace(value, ? || '-', ? || '-') WHERE name LIKE 'note:%'", old.Log, log)
	return log, err
}

// eventSum is the checksum of the event numbered seq.
type eventSum struct{ seq, checksum int64 }

// sumsUnder returns the checksums that the events of the log old have under its new id, without those that are
// damaged or have none.
func sumsUnder(ctx context.Context, tx *sql.Tx, old, log string) ([]eventSum, error) {
	rows, err := tx.QueryContext(ctx, selectAfter, 0, -1)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var sums []eventSum
	var sum summer
	for rows.Next() {
		stored, err := scanRow(rows, old)
		if err != nil || !stored.checksum.Valid || stored.changed(&sum) {
			continue
		}
		stored.ID.Log = log
		sums = append(sums, eventSum{stored.ID.Seq, sum.event(stored.Event, stored.headers, stored.content)})
	}
	return sums, rows.Err()
}
