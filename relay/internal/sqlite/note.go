package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"touchstone/relay/internal/sqlitefile"
)

// Stored implements hub.Store.
func (s *Store) Stored(ctx context.Context, source string, deliveries []string) (map[string]bool, error) {
	asked, err := json.Marshal(deliveries)
	if err != nil {
		return nil, fmt.Errorf("look up deliveries: %w", err)
	}
	rows, err := s.db.Reader.QueryContext(ctx, `SELECT delivery FROM events
		WHERE source = ? AND delivery IN (SELECT value FROM json_each(?))`, source, string(asked))
	stored := map[string]bool{}
	var delivery string
	err = sqlitefile.Scan(rows, err, []any{&delivery}, func() error {
		stored[delivery] = true
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look up deliveries: %w", err)
	}
	return stored, nil
}

// notePrefix keeps notes apart from the store's own rows in the table meta.
const notePrefix = "note:"

// Note implements hub.Store.
func (s *Store) Note(ctx context.Context, name string) (string, error) {
	var text string
	err := s.db.Reader.QueryRowContext(ctx, "SELECT value FROM meta WHERE name = ?", notePrefix+name).Scan(&text)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("read the note %q: %w", name, err)
	}
	return text, nil
}

// SetNote implements hub.Store.
func (s *Store) SetNote(ctx context.Context, name, text string) error {
	err := s.write(ctx, `INSERT INTO meta (name, value) VALUES (?, ?)
		ON CONFLICT (name) DO UPDATE SET value = excluded.value`, notePrefix+name, text)
	if err != nil {
		return fmt.Errorf("store the note %q: %w", name, err)
	}
	if err := s.files.check(); err != nil {
		return fmt.Errorf("store the note %q: %w", name, err)
	}
	s.checkpoints.wrote(len(text))
	return nil
}

// write executes a statement that waits no longer than half of the time that ctx has left.
func (s *Store) write(ctx context.Context, statement string, args ...any) error {
	wait := lockTimeout
	if deadline, ok := ctx.Deadline(); ok {
		wait = min(wait, time.Until(deadline)/2)
	}
	conn, release, err := s.reserve(ctx, wait)
	if err != nil {
		return err
	}
	defer release()
	_, err = conn.ExecContext(ctx, statement, args...)
	return err
}
