package sqlite

import (
	"database/sql"
	"errors"
	"reflect"
	"strings"
	"testing"

	"touchstone/relay/hub"
)

func TestRenewedLogHasTheSameEventsUnderANewID(t *testing.T) {
	const count, damaged = 20, 7
	path, events := written(t, count)
	old := events[0].ID.Log
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	_, damage := db.Exec("UPDATE events SET payload = x'7b7d' WHERE seq = ?", damaged)
	_, err = db.Exec("INSERT INTO meta (name, value) VALUES ('note:control', ?)", `{"id":"`+old+`-3"}`)
	if err := errors.Join(damage, err, db.Close()); err != nil {
		t.Fatal(err)
	}

	log, err := Renew(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}

	store, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	bounds, err := store.Bounds(t.Context())
	if want := (hub.Bounds{Log: log, Head: count}); err != nil || bounds != want || log == old {
		t.Errorf("bounds %+v, %v; want %+v, and an id that is not %s", bounds, err, want, old)
	}
	got, lost := readAll(t, store, count)
	want := append(events[:damaged-1:damaged-1], events[damaged:]...)
	for i := range want {
		want[i].ID.Log = log
	}
	if !reflect.DeepEqual(got, want) || lost != 1 {
		t.Errorf("read %d events and lost %d, want the %d sound ones unchanged and the damaged one lost", len(got), lost, len(want))
	}
	if note, err := store.Note(t.Context(), "control"); err != nil || !strings.Contains(note, log+"-3") {
		t.Errorf("the note names %q, %v; want the event under the new id", note, err)
	}
}
