package sqlite

import (
	"context"
	"fmt"
)

// maxFindings bounds what SQLite tells of one file.
const maxFindings = 20

// Inspect implements hub.Store: SQLite compares its pages and indexes with each other.
func (s *Store) Inspect(ctx context.Context, tell func(problem string)) (unchecked int64, err error) {
	rows, err := s.reader.QueryContext(ctx, fmt.Sprintf("PRAGMA integrity_check(%d)", maxFindings))
	if isDamage(err) {
		tell("the file is damaged: " + err.Error())
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("inspect the file: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var finding string
		if err := rows.Scan(&finding); err != nil {
			return 0, fmt.Errorf("inspect the file: %w", err)
		}
		if finding != "ok" {
			tell("the file is damaged: " + finding)
		}
	}
	err = rows.Err()
	if err == nil {
		err = s.reader.QueryRowContext(ctx, "SELECT COUNT(*) FROM events WHERE checksum IS NULL").Scan(&unchecked)
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
