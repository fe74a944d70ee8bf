package server

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"touchstone/relay/event"
	"touchstone/relay/hub"
	"touchstone/relay/storetest"
)

// written is a connection that keeps what is written to it.
type written struct{ text strings.Builder }

func (w *written) write(_ context.Context, pieces [][]byte) error {
	for _, piece := range pieces {
		w.text.Write(piece)
	}
	return nil
}

func (w *written) end() {}
func (w *written) cut() {}

// A subscriber that is behind and is sent a newer event again never stands behind events that it was not sent: if the
// connection is lost then, it resumes after the last id.
func TestAnEventIsSentAgainInItsPlace(t *testing.T) {
	t.Parallel()
	store, err := OpenStore(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "relay.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if _, err := store.Append(t.Context(), []event.Event{storetest.Event("1"), storetest.Event("2"), storetest.Event("3")}); err != nil {
		t.Fatal(err)
	}
	events, err := store.Read(t.Context(), 0, 3, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	all, err := hub.New(t.Context(), store, 0)
	if err != nil {
		t.Fatal(err)
	}
	reader := all.NewReader(0)
	defer reader.Close()
	begin := event.Cursor{Log: events[0].ID.Log}
	to := &written{}
	s := &stream{reader: reader, at: begin, told: begin, connection: to}
	if err := s.repeat(t.Context(), events[2].ID.Seq); err != nil {
		t.Fatal(err)
	}
	reached := int64(0)
	for line := range strings.Lines(to.text.String()) {
		id, ok := strings.CutPrefix(strings.TrimSpace(line), "id: ")
		if !ok {
			continue
		}
		at, err := event.ParseCursor(id)
		if err != nil || at.Seq > reached+1 {
			t.Fatalf("after event %d came the id %s, %v", reached, id, err)
		}
		reached = max(reached, at.Seq)
	}
	if n := strings.Count(to.text.String(), `data: {"id":"`+events[2].ID.String()); n != 2 {
		t.Errorf("the event was sent %d times, want once in its turn and once again", n)
	}
}
