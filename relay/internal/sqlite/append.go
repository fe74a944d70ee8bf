package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"touchstone/relay/event"
	"touchstone/relay/hub"
)

const insertEvent = `INSERT INTO events
	(seq, source, delivery, type, action, repo, number, sender, received_at, headers, payload, signature, content, checksum, json)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`

// Append implements hub.Store.
func (s *Store) Append(ctx context.Context, events []event.Event) ([]hub.Appended, error) {
	s.appending.Lock()
	defer s.appending.Unlock()
	conn, release, err := s.reserve(ctx, lockTimeout)
	if err != nil {
		return nil, fmt.Errorf("begin append: %w", err)
	}
	defer release()
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return nil, fmt.Errorf("begin append: %w", err)
	}
	defer tx.Rollback()
	bounds, err := scanBounds(tx.StmtContext(ctx, s.head).QueryRowContext(ctx))
	if err != nil {
		return nil, fmt.Errorf("find the head: %w", err)
	}
	if _, err := s.signed.learn(ctx, tx, bounds); err != nil {
		return nil, fmt.Errorf("append: %w", err)
	}
	a := appender{tx: tx, insert: tx.StmtContext(ctx, s.insert), log: s.log, head: bounds.Head, signed: &s.signed, fresh: map[int64]int64{}}
	results := make([]hub.Appended, len(events))
	size := 0
	for i, e := range events {
		size += len(e.Payload)
		if results[i], err = a.append(ctx, e); err != nil {
			return nil, fmt.Errorf("append: %w", err)
		}
	}
	if len(a.hashes) > 0 {
		if _, err := tx.StmtContext(ctx, s.list).ExecContext(ctx, bounds.Head+1, a.hashes, signedSum(bounds.Head+1, a.hashes)); err != nil {
			return nil, fmt.Errorf("append to the list of signatures: %w", err)
		}
	}
	if err := tx.Commit(); err != nil {
		s.doubt()
		return nil, fmt.Errorf("commit append: %w", err)
	}
	s.signed.add(bounds.Head+1, a.hashes)
	// Check last: the events have to be in the file that is at the path now.
	if err := s.files.check(); err != nil {
		s.doubt()
		return nil, fmt.Errorf("append: %w", err)
	}
	s.checkpoints.wrote(size)
	return results, nil
}

// appender is the transaction of one append. It reads the head within the transaction, so that even a commit
// of unknown outcome leaves nothing to repair.
type appender struct {
	tx     *sql.Tx
	insert *sql.Stmt
	log    string
	head   int64
	sum    summer
	signed *signed         // of events before this append
	fresh  map[int64]int64 // of events of this append
	hashes []byte
}

func (a *appender) append(ctx context.Context, e event.Event) (hub.Appended, error) {
	headers, err := json.Marshal(e.Headers)
	if err != nil {
		return hub.Appended{}, err
	}
	hash := signatureHash(e)
	if seq := cmp.Or(a.signed.seqs[hash], a.fresh[hash]); hash != 0 && seq != 0 {
		duplicate, err := a.duplicate(ctx, e, seq)
		if !errors.Is(err, sql.ErrNoRows) {
			return duplicate, err
		}
		hash = 0 // a hash collision with another signature
	}
	stored, err := a.try(ctx, e, string(headers), sql.NullInt64{Int64: hash, Valid: hash != 0})
	if err != nil {
		return hub.Appended{}, err
	}
	if !stored {
		return a.duplicate(ctx, e, 0)
	}
	a.head++
	a.hashes = binary.LittleEndian.AppendUint64(a.hashes, uint64(hash))
	if hash != 0 {
		a.fresh[hash] = a.head
	}
	return hub.Appended{Seq: a.head}, nil
}

// try stores the event after the head, unless it conflicts with a stored event.
func (a *appender) try(ctx context.Context, e event.Event, headers string, content sql.NullInt64) (stored bool, err error) {
	payload := e.Payload
	if payload == nil {
		payload = []byte{} // nil would be NULL
	}
	e.ID = event.Cursor{Log: a.log, Seq: a.head + 1}
	result, err := a.insert.ExecContext(ctx, e.ID.Seq, e.Source, e.Delivery, e.Type, e.Action, e.Repo,
		e.Number, e.Sender, e.ReceivedAt.UnixMilli(), headers, payload, e.Signature, content, a.sum.event(e, headers, content), e.JSON)
	if err != nil {
		return false, err
	}
	rows, err := result.RowsAffected()
	return rows == 1, err
}

// duplicate finds the stored event that e conflicts with: the event with the same delivery, or else the event
// numbered seq if it has the same signature.
func (a *appender) duplicate(ctx context.Context, e event.Event, seq int64) (hub.Appended, error) {
	found := hub.Appended{Duplicate: true}
	err := a.tx.QueryRowContext(ctx, "SELECT seq FROM events WHERE source = ? AND delivery = ?", e.Source, e.Delivery).Scan(&found.Seq)
	if errors.Is(err, sql.ErrNoRows) {
		found.OtherDelivery = true
		err = a.tx.QueryRowContext(ctx, "SELECT seq FROM events WHERE seq = ? AND source = ? AND signature = ?",
			seq, e.Source, e.Signature).Scan(&found.Seq)
	}
	return found, err
}
