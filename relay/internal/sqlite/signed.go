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
	"touchstone/relay/internal/sqlitefile"
)

// hashSize is the size of one event in the list of signatures, in bytes.
const hashSize = 8

// signed is an index of the log's SignedOnce events by signature, in memory: about 30 bytes for each event.
// An index in the file would cost a sixth of all that appends write, because every entry goes to another
// page. Instead the file has a list of the signatures, one row for each append, which is read once when the
// store is opened.
type signed struct {
	seqs        map[int64]int64 // event numbers by the hashes of their signatures
	floor, head int64           // the part of the log that is indexed
}

// learn brings the index up to the log that the transaction sees: after opening the store, after a commit of
// unknown outcome, and after a trim. It reports whether the list was complete; missing parts stay unindexed.
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

// recallSigned fills the index before the first append has to wait for it. It rebuilds a damaged list if the
// events can be read.
func (s *Store) recallSigned(ctx context.Context) error {
	tx, err := s.db.Writer.BeginTx(ctx, nil)
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
			return nil // followers learn of damaged events, and Inspect reports the list
		}
		return err
	}
	s.signed = signed{}
	if _, err := s.signed.learn(ctx, tx, log); err != nil {
		return err
	}
	return tx.Commit()
}

// add indexes events from the one numbered first on.
func (g *signed) add(first int64, hashes []byte) {
	for i := 0; i+hashSize <= len(hashes); i += hashSize {
		hash, seq := int64(binary.LittleEndian.Uint64(hashes[i:])), first+int64(i/hashSize)
		if hash != 0 && seq > g.head {
			g.seqs[hash] = seq
		}
	}
	g.head = max(g.head, first+int64(len(hashes)/hashSize)-1)
}

// insertSigned inserts the row of one append.
const insertSigned = "INSERT INTO signed (first, hashes, checksum) VALUES (?, ?, ?)"

// readSigned passes the list's rows about events after a number to add. It returns the number up to which the
// list is complete. After a missing or damaged row it still passes on the others.
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

// listSigned rebuilds the list from the events.
func listSigned(ctx context.Context, tx *sql.Tx, log hub.Bounds) error {
	const known = "SELECT seq, content FROM events WHERE content IS NOT NULL AND seq > ? AND seq <= ?"
	rows, err := tx.QueryContext(ctx, known, log.Floor, log.Head)
	hashes := make([]byte, hashSize*(log.Head-log.Floor))
	var seq, hash int64
	err = sqlitefile.Scan(rows, err, []any{&seq, &hash}, func() error {
		binary.LittleEndian.PutUint64(hashes[hashSize*(seq-log.Floor-1):], uint64(hash))
		return nil
	})
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "DELETE FROM signed"); err != nil || len(hashes) == 0 {
		return err
	}
	_, err = tx.ExecContext(ctx, insertSigned, log.Floor+1, hashes, signedSum(log.Floor+1, hashes))
	return err
}

// signatureHash stands for the signature of a SignedOnce event. As hashes can collide, a match has to be
// confirmed by the signature itself. It is 0 for other events.
func signatureHash(e event.Event) int64 {
	if !e.SignedOnce {
		return 0
	}
	sum := sha256.Sum256([]byte(e.Source + "\x00" + e.Signature))
	return int64(binary.BigEndian.Uint64(sum[:]))
}
