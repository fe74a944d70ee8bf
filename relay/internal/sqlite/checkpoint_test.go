package sqlite

import (
	"os"
	"path/filepath"
	"testing"

	"touchstone/relay/event"
	"touchstone/relay/storetest"
	"touchstone/worktree/await"
)

// Appended events are copied from the write-ahead log into the file long before SQLite would make an append
// do so.
func TestAppendsAreCopiedIntoTheFileEarly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "relay.db")
	store := opened(t, path)
	large := storetest.Event("large")
	large.Payload = make([]byte, checkpointBytes)
	if _, err := store.Append(t.Context(), []event.Event{large}); err != nil {
		t.Fatal(err)
	}
	await.Until(t, "the file to hold the event", func() bool {
		file, err := os.Stat(path)
		return err == nil && file.Size() > checkpointBytes
	})
}
