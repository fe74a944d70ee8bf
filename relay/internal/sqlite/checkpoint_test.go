package sqlite

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"touchstone/relay/event"
	"touchstone/relay/storetest"
)

// Appended events are copied from the write-ahead log into the file long before SQLite would make an append
// do so.
func TestAppendsAreCopiedIntoTheFileEarly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "relay.db")
	store, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	large := storetest.Event("large")
	large.Payload = make([]byte, checkpointBytes)
	if _, err := store.Append(t.Context(), []event.Event{large}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		file, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if file.Size() > checkpointBytes {
			return
		}
		if ctx.Err() != nil {
			t.Fatalf("the file still has %d bytes", file.Size())
		}
		runtime.Gosched()
	}
}
