package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// trimLimit is how many events one Trim removes at most, so that appends never wait long for it.
const trimLimit = 1000

// selectOld finds the last event to remove: the one before the first that is not old, and no further than the limit
// allows. It passes over events of the future. Their time says nothing, and they are older than those behind them.
const selectOld = `WITH oldest AS (SELECT seq, received_at FROM events WHERE received_at <= ? ORDER BY seq LIMIT ?)
	SELECT MIN(MAX(seq), (SELECT MIN(seq) FROM events) + ? - 1) FROM oldest
	WHERE seq < COALESCE((SELECT MIN(seq) FROM oldest WHERE received_at >= ?), seq + 1)`

// Trim implements hub.Store.
func (s *Store) Trim(ctx context.Context, before time.Time) (int, error) {
	old, future, err := s.honest(ctx, before)
	if err != nil {
		return 0, fmt.Errorf("read the clock: %w", err)
	}
	// Appends need not wait for the search, which may be long.
	var last sql.NullInt64
	if err := s.db.Reader.QueryRowContext(ctx, selectOld, future.UnixMilli(), trimLimit, trimLimit, old.UnixMilli()).Scan(&last); err != nil {
		return 0, fmt.Errorf("find old events: %w", err)
	}
	if !last.Valid {
		return 0, nil
	}
	tx, err := s.db.Writer.BeginTx(ctx, nil)
	if err != nil {
		return 0, fmt.Errorf("begin trim: %w", err)
	}
	defer tx.Rollback()
	bounds, err := scanBounds(tx.QueryRowContext(ctx, selectBounds))
	if err != nil {
		return 0, fmt.Errorf("find the floor: %w", err)
	}
	if last.Int64 <= bounds.Floor {
		return 0, nil // another call was faster
	}
	result, err := tx.ExecContext(ctx, "DELETE FROM events WHERE seq <= ?", last.Int64)
	if err != nil {
		return 0, fmt.Errorf("remove old events: %w", err)
	}
	const forget = "DELETE FROM signed WHERE first < (SELECT MAX(first) FROM signed WHERE first <= ?)"
	if _, err := tx.ExecContext(ctx, forget, last.Int64+1); err != nil {
		return 0, fmt.Errorf("remove old signatures: %w", err)
	}
	if _, err := tx.ExecContext(ctx, "UPDATE meta SET value = CASE name WHEN 'floor' THEN ? ELSE ? END WHERE name IN ('floor', 'checksum')",
		last.Int64, boundsSum(s.log, last.Int64)); err != nil {
		return 0, fmt.Errorf("record the floor: %w", err)
	}
	if err := tx.Commit(); err != nil {
		return 0, fmt.Errorf("commit trim: %w", err)
	}
	removed, err := result.RowsAffected()
	return int(removed), err
}
