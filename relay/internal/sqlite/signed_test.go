package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"touchstone/relay/event"
	"touchstone/relay/hub"
	"touchstone/relay/storetest"
)

// signedEvent returns an event with the n-th signature.
func signedEvent(delivery string, n int) event.Event {
	e := storetest.Event(delivery)
	e.Signature, e.SignedOnce = fmt.Sprintf("sha256=%d", n), true
	return e
}

// must ends the test unless err is nil.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func opened(t *testing.T, path string) *Store {
	t.Helper()
	store, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return store
}

// again appends the n-th signature under a new delivery id.
func again(t *testing.T, store *Store, n int) hub.Appended {
	t.Helper()
	results, err := store.Append(t.Context(), []event.Event{signedEvent(t.Name()+time.Now().String(), n)})
	if err != nil {
		t.Fatal(err)
	}
	return results[0]
}

// execute changes a log's file while no relay has it open.
func execute(t *testing.T, path, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Exec(statement)
	must(t, errors.Join(err, db.Close()))
}

// A damaged list of signatures is reported, and the next relay rebuilds it from the events.
func TestDamagedListOfSignaturesIsMadeAnew(t *testing.T) {
	for name, harm := range map[string]string{
		"a row is gone":     "DELETE FROM signed WHERE first = 2",
		"all are gone":      "DELETE FROM signed",
		"a hash is another": "UPDATE signed SET hashes = randomblob(8) WHERE first = 2",
		"one is cut":        "UPDATE signed SET hashes = x'00' WHERE first = 2",
		"one has moved":     "UPDATE signed SET first = 7 WHERE first = 2",
		"an index is no more": `PRAGMA user_version = 2; DROP TABLE signed; ALTER TABLE events DROP COLUMN json;
			CREATE UNIQUE INDEX events_by_content ON events (content) WHERE content IS NOT NULL`,
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "relay.db")
			store := opened(t, path)
			for n := range 3 {
				if _, err := store.Append(t.Context(), []event.Event{signedEvent(fmt.Sprint(n), n)}); err != nil {
					t.Fatal(err)
				}
			}
			if !strings.Contains(harm, "PRAGMA") {
				if _, err := store.db.Writer.Exec(harm); err != nil {
					t.Fatal(err)
				}
				var told []string
				if _, err := store.Inspect(t.Context(), func(problem string) { told = append(told, problem) }); err != nil || len(told) != 1 ||
					!strings.Contains(told[0], "list of signatures") {
					t.Errorf("it tells %q, %v", told, err)
				}
			}
			must(t, store.Close())
			if strings.Contains(harm, "PRAGMA") {
				execute(t, path, harm)
			}
			store = opened(t, path)
			if _, err := store.Inspect(t.Context(), func(problem string) { t.Error(problem) }); err != nil {
				t.Error(err)
			}
			for n := range 3 {
				if got, want := again(t, store, n), (hub.Appended{Seq: int64(n + 1), Duplicate: true, OtherDelivery: true}); got != want {
					t.Errorf("signature %d again: %+v, want %+v", n, got, want)
				}
			}
		})
	}
}

// Signatures that retention has removed are forgotten and the others are not, before a restart and after it.
func TestTrimmedSignaturesAreForgotten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "relay.db")
	store := opened(t, path)
	var events []event.Event
	for n := range 6 {
		e := signedEvent(fmt.Sprint(n), n)
		e.ReceivedAt = time.Now().Add(time.Duration(n-10) * time.Hour)
		events = append(events, e)
	}
	for _, some := range [][]event.Event{events[:1], events[1:4], events[4:]} { // the trim ends within one
		if _, err := store.Append(t.Context(), some); err != nil {
			t.Fatal(err)
		}
	}
	if removed, err := store.Trim(t.Context(), events[3].ReceivedAt); err != nil || removed != 3 {
		t.Fatalf("removed %d events, %v", removed, err)
	}
	var rows int
	if err := store.db.Reader.QueryRow("SELECT COUNT(*) FROM signed").Scan(&rows); err != nil || rows != 2 {
		t.Errorf("the list has %d rows, %v", rows, err)
	}
	check := func(n int, known bool) {
		t.Helper()
		if got := again(t, store, n); got.Duplicate != known {
			t.Errorf("signature %d: %+v", n, got)
		}
	}
	check(0, false)
	check(3, true)
	must(t, store.Close())
	store = opened(t, path)
	check(0, true) // as it was stored again
	check(1, false)
	check(3, true)
	check(5, true)
}

// An append that fails adds no signature to the index, and the next append learns what another has stored.
func TestSignaturesOfFailedAppendsAreNotKnown(t *testing.T) {
	store := opened(t, filepath.Join(t.TempDir(), "relay.db"))
	if _, err := store.db.Writer.Exec(`CREATE TRIGGER refuse BEFORE INSERT ON events WHEN NEW.delivery = 'refused'
		BEGIN SELECT RAISE(ABORT, 'no'); END`); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Append(t.Context(), []event.Event{signedEvent("taken", 1), signedEvent("refused", 2)}); err == nil {
		t.Fatal("it was not refused")
	}
	if got := again(t, store, 1); got != (hub.Appended{Seq: 1}) {
		t.Errorf("after a failure: %+v", got)
	}
	// A commit whose outcome stayed open: the log has what the store does not know of.
	known := store.signed
	store.signed = signed{seqs: map[int64]int64{}}
	if got := again(t, store, 1); !got.OtherDelivery {
		t.Errorf("after a commit of unknown outcome: %+v", got)
	}
	if len(store.signed.seqs) != len(known.seqs) {
		t.Errorf("it knows %d signatures, want %d", len(store.signed.seqs), len(known.seqs))
	}
}

// The signatures of a million events are learned in bounded time and memory.
func BenchmarkLearnSignatures(b *testing.B) {
	const count, together = 1_000_000, 10
	store, err := Open(b.Context(), filepath.Join(b.TempDir(), "relay.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	tx, err := store.db.Writer.BeginTx(b.Context(), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer tx.Rollback()
	for first := int64(1); first < count; first += together {
		var hashes []byte
		for i := range int64(together) {
			hash := signatureHash(signedEvent("", int(first+i)))
			for range hashSize {
				hashes, hash = append(hashes, byte(hash)), hash>>8
			}
		}
		if _, err := tx.ExecContext(b.Context(), insertSigned, first, hashes, signedSum(first, hashes)); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		var g signed
		if whole, err := g.learn(context.WithoutCancel(b.Context()), tx, hub.Bounds{Head: count}); err != nil || !whole || len(g.seqs) != count {
			b.Fatal(len(g.seqs), whole, err)
		}
	}
}
