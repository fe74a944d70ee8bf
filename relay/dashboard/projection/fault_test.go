package projection_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"touchstone/relay/dashboard/projection"
	"touchstone/relay/event"
)

// faulty is a projection that runs in a bubble of synctest, with what it logs.
type faulty struct {
	*projection.Projection
	*log
	path string
	text *bytes.Buffer
}

func startFaulty(t *testing.T) faulty {
	t.Helper()
	f := faulty{log: newLog(t), path: filepath.Join(t.TempDir(), "beside", "page"), text: &bytes.Buffer{}}
	if err := os.Mkdir(filepath.Dir(f.path), 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(zerolog.New(f.text).WithContext(t.Context()))
	var err error
	config := projection.Config{Path: f.path, Log: f.hub, Store: f.store, GitHub: []string{"github"}}
	if f.Projection, err = projection.Open(ctx, config); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- f.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	f.append(opened(1, "aaa"))
	f.after(time.Second)
	return f
}

// after lets time pass.
func (f faulty) after(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// expect checks how often the log has each text, and how many pull requests the page shows.
func (f faulty) expect(when string, pulls int, logged map[string]int) {
	f.t.Helper()
	for text, want := range logged {
		if got := strings.Count(f.text.String(), text); got != want {
			f.t.Errorf("%s, the log has %d times %q, want %d:\n%s", when, got, text, want, f.text)
		}
	}
	list, _, err := f.Pulls(f.t.Context(), projection.PullQuery{Scope: event.Filter{}, Limit: 10})
	if pulls >= 0 && (err != nil || len(list) != pulls) {
		f.t.Errorf("%s, there are %d pull requests, %v, want %d", when, len(list), err, pulls)
	}
}

// A fault that lasts is logged once a minute, and its end once.
func TestAFaultOfTheFileIsLoggedOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := startFaulty(t)
		alter(t, f.path, "ALTER TABLE events RENAME TO hidden")
		f.append(opened(2, "bbb"))
		f.after(150 * time.Second)
		f.expect("after two and a half minutes", 1, map[string]int{"no such table: events": 3, "works again": 0})
		alter(t, f.path, "ALTER TABLE hidden RENAME TO events")
		f.after(2 * time.Second)
		f.expect("at the end", 2, map[string]int{"no such table: events": 3, "works again": 1})
	})
}

// A fault that takes the place of another one is logged at once.
func TestAnotherFaultOfTheFileIsLoggedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := startFaulty(t)
		alter(t, f.path, "ALTER TABLE events RENAME TO hidden")
		f.append(opened(2, "bbb"))
		f.after(10 * time.Second)
		f.expect("with the first fault", 1, map[string]int{"no such table: events": 1, "no such table: pulls": 0})
		alter(t, f.path, "ALTER TABLE hidden RENAME TO events; ALTER TABLE pulls RENAME TO hidden")
		f.after(10 * time.Second)
		f.expect("with the second one", -1, map[string]int{"no such table: events": 1, "no such table: pulls": 1})
	})
}

// A damaged file that cannot be replaced at once is replaced later.
func TestADamagedFileIsReplacedOnceThatIsPossible(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := startFaulty(t)
		alter(t, f.path, "PRAGMA writable_schema = 1; UPDATE sqlite_schema SET rootpage = 999999 WHERE name = 'events'; "+
			"PRAGMA schema_version = 99999")
		away := filepath.Dir(f.path) + "-away"
		if err := os.Rename(filepath.Dir(f.path), away); err != nil {
			t.Fatal(err)
		}
		f.append(opened(2, "bbb"))
		f.after(5 * time.Second)
		f.expect("without its folder", -1, map[string]int{"cannot rebuild the page's projection": 1, "works again": 0})
		if err := os.Rename(away, filepath.Dir(f.path)); err != nil {
			t.Fatal(err)
		}
		f.after(5 * time.Second)
		f.expect("at the end", 2, map[string]int{"works again": 1})
	})
}
