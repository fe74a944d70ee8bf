package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"touchstone/relay/event"
	"touchstone/relay/hub"
	"touchstone/relay/storetest"
)

// written makes a log of n events in a file without a write-ahead log, and returns its path
// and the events.
func written(t *testing.T, n int) (path string, events []event.Event) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "relay.db")
	store := opened(t, path)
	for i := range n {
		e := storetest.Event(fmt.Sprintf("delivery-%d", i+1))
		e.Payload = []byte(`{"text":"` + strings.Repeat(fmt.Sprint(i, " "), 100+13*i) + `"}`)
		e.Signature, e.SignedOnce = fmt.Sprintf("sha256=%d", i), true
		events = append(events, e)
	}
	if _, err := store.Append(t.Context(), events); err != nil {
		t.Fatal(err)
	}
	events, err := store.Read(t.Context(), 0, n, 1<<30)
	if err != nil || len(events) != n {
		t.Fatalf("read %d events, %v", len(events), err)
	}
	must(t, store.Close())
	return path, events
}

// readAll reads past damage as a subscriber does, and returns the events that it got and those that it did
// not.
func readAll(t *testing.T, store *Store, head int64) (got []event.Event, lost int64) {
	t.Helper()
	for at := int64(0); at < head; {
		events, err := store.Read(t.Context(), at, 100, 1<<30)
		if damage := (*hub.Damage)(nil); errors.As(err, &damage) {
			if damage.First != at+1 || damage.Last < damage.First {
				t.Fatalf("behind %d: %+v", at, damage)
			}
			lost += damage.Last - damage.First + 1
			at = damage.Last
			continue
		}
		if err != nil || len(events) == 0 {
			t.Fatalf("behind %d: %d events, %v", at, len(events), err)
		}
		got = append(got, events...)
		at = events[len(events)-1].ID.Seq
	}
	return got, lost
}

// With any bit flipped or any page lost, no changed event is returned, reading reaches the head, and verify
// finds the damage.
func TestDamageIsNeverReadAndAlwaysFound(t *testing.T) {
	const count = 60
	path, events := written(t, count)
	sound, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	damage := map[string]func([]byte){}
	for i := range 60 {
		bit := random.IntN(len(sound) * 8)
		damage[fmt.Sprintf("bit %d, %d", i, bit)] = func(file []byte) { file[bit/8] ^= 1 << (bit % 8) }
	}
	for page := 1; page < len(sound)/4096; page += 3 {
		damage[fmt.Sprint("page ", page)] = func(file []byte) { clear(file[page*4096 : (page+1)*4096]) }
	}
	for name, harm := range damage {
		file := bytes.Clone(sound)
		harm(file)
		if bytes.Equal(file, sound) {
			continue
		}
		checkDamaged(t, name, file, events)
	}
}

func checkDamaged(t *testing.T, name string, file []byte, events []event.Event) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "relay.db")
	must(t, os.WriteFile(path, file, 0o600))
	store, err := Open(t.Context(), path)
	if err != nil {
		return // said, and nothing is served
	}
	defer store.Close()
	bounds, err := store.Bounds(t.Context())
	if err != nil {
		return
	}
	got, lost := readAll(t, store, bounds.Head)
	for _, e := range got {
		if e.ID.Seq > int64(len(events)) || !reflect.DeepEqual(e, events[e.ID.Seq-1]) {
			t.Errorf("%s: read event %d otherwise than it was appended", name, e.ID.Seq)
		}
	}
	problems := 0
	_, err = hub.Verify(t.Context(), store, func(event.Event) (bool, bool) { return false, false }, func(string) { problems++ })
	// A log whose events are all there may be called sound: pages have room where nothing is.
	if err == nil && problems == 0 && len(got) != len(events) {
		t.Errorf("%s: verified as sound; %d events were read, %d lost", name, len(got), lost)
	}
}

// A file of an older relay stays readable, the signatures among its headers reach no subscriber, and events
// without a checksum are counted.
func TestAFileOfAnOlderRelayIsUpgraded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "relay.db")
	writer, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = writer.Exec(schema1 + `
		INSERT INTO meta (name, value) VALUES ('log', 'abcdefgh'), ('floor', 0);
		INSERT INTO events VALUES (1, 'github', 'old', 'push', '', '', 0, '', 1700000000000, '{"X-Hub-Signature-256":"sha256=00","X-Github-Event":"push"}', x'7b7d');
		PRAGMA user_version = 1`)
	must(t, errors.Join(err, writer.Close()))
	store := opened(t, path)
	if results, err := store.Append(t.Context(), []event.Event{storetest.Event("old"), storetest.Event("new")}); err != nil ||
		results[1].Seq != 2 || !results[0].Duplicate {
		t.Fatalf("appended %+v, %v", results, err)
	}
	got, lost := readAll(t, store, 2)
	if lost != 0 || len(got) != 2 || got[0].Signature != "sha256=00" ||
		!reflect.DeepEqual(got[0].Headers, map[string]string{"X-Github-Event": "push"}) {
		t.Errorf("read %+v, lost %d", got, lost)
	}
	unchecked, err := store.Inspect(t.Context(), func(problem string) { t.Error(problem) })
	if err != nil || unchecked != 1 {
		t.Errorf("%d events are unchecked, %v", unchecked, err)
	}
}

// The store accepts events only while the files at its path are the ones it has open. If they are deleted,
// replaced or moved, appends fail; once they are put back, appends work again.
func TestFilesThatAreGoneTakeNothing(t *testing.T) {
	for name, file := range map[string]string{"the database": "relay.db", "its write-ahead log": "relay.db-wal", "its index": "relay.db-shm",
		"the folder": ""} {
		t.Run(name, func(t *testing.T) {
			folder := filepath.Join(t.TempDir(), "folder")
			must(t, os.Mkdir(folder, 0o700))
			store := opened(t, filepath.Join(folder, "relay.db"))
			here, away := filepath.Join(folder, file), filepath.Join(t.TempDir(), "away")
			move := func(from, to string) {
				must(t, os.Rename(from, to))
			}
			refused := func(when string) {
				t.Helper()
				if _, err := store.Append(t.Context(), []event.Event{storetest.Event("lost")}); err == nil {
					t.Errorf("%s, it takes an event", when)
				}
				if _, err := store.Bounds(t.Context()); err == nil {
					t.Errorf("%s, it is ready", when)
				}
				if err := store.SetNote(t.Context(), "a", "b"); err == nil {
					t.Errorf("%s, it takes a note", when)
				}
			}
			move(here, away)
			refused("moved away")
			if file != "" {
				must(t, os.WriteFile(here, nil, 0o600))
				refused("replaced")
				must(t, os.Remove(here))
			}
			move(away, here)
			if _, err := store.Append(context.WithoutCancel(t.Context()), []event.Event{storetest.Event("kept")}); err != nil {
				t.Errorf("put back, it refuses an event: %v", err)
			}
		})
	}
}

// Only one relay can open a file, whatever name it uses for it.
func TestLinksLeadToOneLock(t *testing.T) {
	for name, link := range map[string]func(old, new string) error{"symbolic": os.Symlink, "hard": os.Link, "renamed": os.Rename} {
		t.Run(name, func(t *testing.T) {
			if name != "symbolic" && runtime.GOOS != "linux" {
				t.Skip("files are locked by their paths alone here")
			}
			folder := t.TempDir()
			path, other := filepath.Join(folder, "relay.db"), filepath.Join(folder, "other.db")
			opened(t, path)
			must(t, link(path, other))
			second, err := Open(t.Context(), other)
			if err == nil {
				second.Close()
				t.Error("a second relay has the file")
			} else if !strings.Contains(err.Error(), "another relay") {
				t.Errorf("it is refused as: %v", err)
			}
		})
	}
}
