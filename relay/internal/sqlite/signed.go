package sqlite

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"maps"

	"touchstone/relay/event"
	"touchstone/relay/hub"
)

// hashSize is what the list of signatures takes for an event, in bytes.
const hashSize = 8

// signed knows which event came with which signature, of all that the log holds and whose source
// never signs the same bytes for two webhooks: about 30 bytes of memory for each. An index in the
// file would cost a sixth of all that appends write, since every entry comes into another page.
// The file has a list of them instead, a row for each append, which a store that opens reads once.
type signed struct {
	seqs        map[int64]int64 // the numbers of events by the hashes of their signatures
	floor, head int64           // the part of the log that it knows
}

// learn makes it know the log as the transaction sees it: after the store was opened, a commit of
// unknown outcome, and a trim. It reports whether the list was whole; what it lacks stays unknown.
func (g *signed) learn(ctx context.Context, tx *sql.Tx, log hub.Bounds) (whole bool, err error) {
	if g.seqs == nil || g.head > log.Head {
		*g = signed{seqs: map[int64]int64{}, floor: log.Floor, head: log.Floor}
	}
	whole = true
	if g.head < log.Head {
		to, err := readSigned(ctx, tx, g.head, g.add)
		if err != nil {
			return false, err
		}
		whole, g.head = to == log.Head, log.Head
	}
	if g.floor < log.Floor {
		maps.DeleteFunc(g.seqs, func(_, seq int64) bool { return seq <= log.Floor })
		g.floor = log.Floor
	}
	return whole, nil
}

// recallSigned learns before the first append has to wait for it. A list that is damaged is made
// anew, if the events can be read.
func (s *Store) recallSigned(ctx context.Context) error {
	tx, err := s.writer.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	log, err := scanBounds(tx.QueryRowContext(ctx, selectBounds))
	if err != nil {
		return err
	}
	whole, err := s.signed.learn(ctx, tx, log)
	if err != nil || whole {
		return err
	}
	if err := listSigned(ctx, tx, log); err != nil {
		if isDamage(err) {
			return nil // followers are told of damaged events, Inspect tells of the list
		}
		return err
	}
	s.signed = signed{}
	if _, err := s.signed.learn(ctx, tx, log); err != nil {
		return err
	}
	return tx.Commit()
}

// add makes it know the events that begin with the one numbered first.
func (g *signed) add(first int64, hashes []byte) {
	for i := 0; i+hashSize <= len(hashes); i += hashSize {
		hash, seq := int64(binary.LittleEndian.Uint64(hashes[i:])), first+int64(i/hashSize)
		if hash != 0 && seq > g.head {
			g.seqs[hash] = seq
		}
	}
	g.head = max(g.head, first+int64(len(hashes)/hashSize)-1)
}

// insertSigned is the row of one append.
const insertSigned = "INSERT INTO signed (first, hashes, checksum) VALUES (?, ?, ?)"

// readSigned hands over the list's rows that tell of events behind a number. It returns the number up
// to which the list is whole: where a row is missing or damaged, the others are handed over still.
func readSigned(ctx context.Context, tx *sql.Tx, after int64, add func(first int64, hashes []byte)) (whole int64, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT first, hashes, checksum FROM signed
		WHERE first >= COALESCE((SELECT MAX(first) FROM signed WHERE first <= ?), 0) ORDER BY first`, after+1)
	if err != nil {
		return after, fmt.Errorf("read the list of signatures: %w", err)
	}
	defer rows.Close()
	for whole = after; rows.Next(); {
		var first, sum int64
		var hashes []byte
		if err := rows.Scan(&first, &hashes, &sum); err != nil || signedSum(first, hashes) != sum {
			continue
		}
		add(first, hashes)
		if first <= whole+1 {
			whole = first + int64(len(hashes)/hashSize) - 1
		}
	}
	if err := rows.Err(); err != nil {
		return after, fmt.Errorf("read the list of signatures: %w", err)
	}
	return whole, nil
}

func signedSum(first int64, hashes []byte) int64 {
	return int64(crc32.Update(crc32.Checksum(binary.AppendVarint(nil, first), castagnoli), castagnoli, hashes))
}

// listSigned makes the list anew from the events.
func listSigned(ctx context.Context, tx *sql.Tx, log hub.Bounds) error {
	const known = "SELECT seq, content FROM events WHERE content IS NOT NULL AND seq > ? AND seq <= ?"
	rows, err := tx.QueryContext(ctx, known, log.Floor, log.Head)
	if err != nil {
		return err
	}
	defer rows.Close()
	hashes := make([]byte, hashSize*(log.Head-log.Floor))
	for rows.Next() {
		var seq, hash int64
		if err := rows.Scan(&seq, &hash); err != nil {
			return err
		}
		binary.LittleEndian.PutUint64(hashes[hashSize*(seq-log.Floor-1):], uint64(hash))
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "DELETE FROM signed"); err != nil || len(hashes) == 0 {
		return err
	}
	_, err = tx.ExecContext(ctx, insertSigned, log.Floor+1, hashes, signedSum(log.Floor+1, hashes))
	return err
}

// signatureHash stands for the signature of an event that is SignedOnce; who finds it looks at the
// signature itself. It is 0 for other events.
func signatureHash(e event.Event) int64 {
	if !e.SignedOnce {
		return 0
	}
	sum := sha256.Sum256([]byte(e.Source + "\x00" + e.Signature))
	return int64(binary.BigEndian.Uint64(sum[:]))
}
