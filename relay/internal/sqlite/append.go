package sqlite

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"touchstone/relay/event"
	"touchstone/relay/hub"
)

const insertEvent = `INSERT INTO events
	(seq, source, delivery, type, action, repo, number, sender, received_at, headers, payload, signature, content, checksum)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`

// Append implements hub.Store.
func (s *Store) Append(ctx context.Context, events []event.Event) ([]hub.Appended, error) {
	tx, err := s.writer.BeginTx(ctx, nil)
	if err != nil {
		return nil, fmt.Errorf("begin append: %w", err)
	}
	defer tx.Rollback()
	bounds, err := scanBounds(tx.StmtContext(ctx, s.head).QueryRowContext(ctx))
	if err != nil {
		return nil, fmt.Errorf("find the head: %w", err)
	}
	a := appender{tx: tx, insert: tx.StmtContext(ctx, s.insert), log: s.log, head: bounds.Head}
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
	// Last: it is the file at the path that has to have the events.
	if err := s.files.check(); err != nil {
		return nil, fmt.Errorf("append: %w", err)
	}
	s.checkpoints.wrote(size)
	return results, nil
}

// appender is one append's transaction. The head is read within it, so that even a
// commit of unknown outcome leaves nothing to repair.
type appender struct {
	tx     *sql.Tx
	insert *sql.Stmt
	log    string
	head   int64
	sum    summer
}

func (a *appender) append(ctx context.Context, e event.Event) (hub.Appended, error) {
	headers, err := json.Marshal(e.Headers)
	if err != nil {
		return hub.Appended{}, err
	}
	content := sql.NullInt64{Int64: contentHash(e), Valid: e.SignedOnce}
	for {
		stored, err := a.try(ctx, e, string(headers), content)
		if stored {
			a.head++
			return hub.Appended{Seq: a.head}, err
		}
		if err != nil {
			return hub.Appended{}, err
		}
		duplicate, err := a.duplicate(ctx, e, content)
		if !errors.Is(err, sql.ErrNoRows) || !content.Valid {
			return duplicate, err
		}
		content.Valid = false // it is another signature's, by an accident of the hash
	}
}

// try stores the event behind the head, unless something there keeps it away.
func (a *appender) try(ctx context.Context, e event.Event, headers string, content sql.NullInt64) (stored bool, err error) {
	payload := e.Payload
	if payload == nil {
		payload = []byte{} // nil would be NULL
	}
	e.ID = event.Cursor{Log: a.log, Seq: a.head + 1}
	result, err := a.insert.ExecContext(ctx, e.ID.Seq, e.Source, e.Delivery, e.Type, e.Action, e.Repo,
		e.Number, e.Sender, e.ReceivedAt.UnixMilli(), headers, payload, e.Signature, content, a.sum.event(e, headers, content))
	if err != nil {
		return false, err
	}
	rows, err := result.RowsAffected()
	return rows == 1, err
}

// duplicate finds what keeps the event away.
func (a *appender) duplicate(ctx context.Context, e event.Event, content sql.NullInt64) (hub.Appended, error) {
	found := hub.Appended{Duplicate: true}
	err := a.tx.QueryRowContext(ctx, "SELECT seq FROM events WHERE source = ? AND delivery = ?", e.Source, e.Delivery).Scan(&found.Seq)
	if errors.Is(err, sql.ErrNoRows) {
		found.OtherDelivery = true
		err = a.tx.QueryRowContext(ctx, "SELECT seq FROM events WHERE content = ? AND source = ? AND signature = ?",
			content, e.Source, e.Signature).Scan(&found.Seq)
	}
	return found, err
}

// contentHash stands for a source's signature in the index, which has room for no more:
// who finds it there looks at the signature itself.
func contentHash(e event.Event) int64 {
	if !e.SignedOnce {
		return 0
	}
	sum := sha256.Sum256([]byte(e.Source + "\x00" + e.Signature))
	return int64(binary.BigEndian.Uint64(sum[:]))
}
