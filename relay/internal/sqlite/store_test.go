package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"touchstone/relay/event"
	"touchstone/relay/hub"
	"touchstone/relay/storetest"
)

func TestConformance(t *testing.T) {
	folders := map[*testing.T]string{}
	storetest.Run(t, func(t *testing.T, name string) hub.Store {
		if folders[t] == "" {
			folders[t] = t.TempDir()
		}
		return opened(t, filepath.Join(folders[t], name+".db"))
	})
}

// A path may contain characters that have a meaning in a URI.
func TestOpenOddPath(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a b#c%20d&e.db")
	opened(t, path)
	if _, err := os.Stat(path); err != nil {
		t.Errorf("the store is not where it was asked for: %v", err)
	}
}

func TestSecondRelayIsRefusedTheStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "relay.db")
	first := opened(t, path)
	_, err := Open(t.Context(), path)
	want := fmt.Sprintf("in use by another relay (process %d)", os.Getpid())
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("opening a second time: %v, want %q in it", err, want)
	}
	must(t, first.Close())
	opened(t, path)
}

func TestOpenRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		prepare func(t *testing.T, path string)
		want    string
	}{
		"a newer schema": {func(t *testing.T, path string) {
			db, err := sql.Open("sqlite", path)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if _, err := db.Exec("PRAGMA user_version = 99"); err != nil {
				t.Fatal(err)
			}
		}, "schema version 99"},
		"another program's tables": {func(t *testing.T, path string) {
			db, err := sql.Open("sqlite", path)
			if err != nil {
				t.Fatal(err)
			}
			_, err = db.Exec("CREATE TABLE places (url TEXT)")
			must(t, errors.Join(err, db.Close()))
		}, "choose another file"},
		"another kind of file": {func(t *testing.T, path string) {
			must(t, os.WriteFile(path, []byte(strings.Repeat("no database ", 1000)), 0o600))
		}, "not a database"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "relay.db")
			test.prepare(t, path)
			_, err := Open(t.Context(), path)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q in it", err, test.want)
			}
		})
	}
}

// A note gives up a locked file while its context still lasts, so that the error says why, and later writes wait as before.
func TestANoteDoesNotOutwaitItsContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "relay.db")
	s := opened(t, path)
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if err := s.SetNote(ctx, "name", "text"); err == nil || !strings.Contains(err.Error(), "locked") {
		t.Errorf("of a locked file the note says %v", err)
	}
	if _, err := db.Exec("ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	var wait int64
	if err := s.db.Writer.QueryRow("PRAGMA busy_timeout").Scan(&wait); err != nil || wait != lockTimeout.Milliseconds() {
		t.Errorf("afterwards a write waits for %d ms, %v", wait, err)
	}
	if err := s.SetNote(t.Context(), "name", "text"); err != nil {
		t.Errorf("the file is free again, and %v", err)
	}
}

// An append waits for other writes, such as a trim, no longer than for a locked file, and then for the file as long as is
// left: a webhook cannot wait for one after the other.
func TestAnAppendWaitsForOtherWritesAndForTheFileTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := opened(t, filepath.Join(t.TempDir(), "relay.db"))
		_, release, err := s.reserve(t.Context(), lockTimeout)
		must(t, err)
		begun := time.Now()
		_, err = s.Append(t.Context(), []event.Event{{Source: "github", Delivery: "1"}})
		if waited := time.Since(begun); err == nil || waited != lockTimeout || !strings.Contains(err.Error(), "other writes") {
			t.Errorf("while another write goes on, an append says after %s: %v", waited, err)
		}
		time.AfterFunc(time.Second, release)
		conn, release, err := s.reserve(t.Context(), lockTimeout)
		must(t, err)
		for _, want := range []time.Duration{lockTimeout - time.Second, lockTimeout} {
			var wait int64
			if err := conn.QueryRowContext(t.Context(), "PRAGMA busy_timeout").Scan(&wait); err != nil || wait != want.Milliseconds() {
				t.Errorf("a write waits for a locked file for %d ms, not %s: %v", wait, want, err)
			}
			release()
			conn, release, err = s.reserve(t.Context(), lockTimeout)
			must(t, err)
		}
		release()
	})
}

// Whenever the context of a note ends, later writes wait for a locked file as before.
func TestANoteThatComesTooLateLeavesTheWaitAsItWas(t *testing.T) {
	s := opened(t, filepath.Join(t.TempDir(), "relay.db"))
	for i := range 500 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i%100)*time.Microsecond)
		said := s.SetNote(ctx, "name", "text")
		cancel()
		var wait int64
		if err := s.db.Writer.QueryRow("PRAGMA busy_timeout").Scan(&wait); err != nil || wait != lockTimeout.Milliseconds() {
			t.Fatalf("after a note that says %v, a write waits for %d ms, %v", said, wait, err)
		}
	}
}

// That the file is gone is logged once, and so is that another one took its place.
func TestTheLogSaysWhatBecameOfTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "relay.db")
	s := opened(t, path)
	var log bytes.Buffer
	ctx := zerolog.New(&log).WithContext(t.Context())
	var known error
	for _, step := range []struct {
		change func() error
		want   string
	}{
		{func() error { return os.Rename(path, path+".away") }, "no longer at its path"},
		{func() error { return os.WriteFile(path, nil, 0o600) }, "is not the file"},
		{func() error { return os.Rename(path+".away", path) }, "are back"},
	} {
		if err := step.change(); err != nil {
			t.Skip("this system keeps open files where they are: ", err)
		}
		log.Reset()
		known = s.look(ctx, s.look(ctx, known))
		if strings.Count(log.String(), "\n") != 1 || !strings.Contains(log.String(), step.want) {
			t.Errorf("the log says %q, want one line with %q", log.String(), step.want)
		}
	}
}
