package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// trimLimit is how many events one Trim removes at most, so that appends never wait long for it.
const trimLimit = 1000

// Trim implements hub.Store.
func (s *Store) Trim(ctx context.Context, before time.Time) (int, error) {
	before, err := s.honest(ctx, before)
	if err != nil {
		return 0, fmt.Errorf("read the clock: %w", err)
	}
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
