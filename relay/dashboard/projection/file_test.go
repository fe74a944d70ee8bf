package projection_test

import (
	"bytes"
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"testing"

	"touchstone/relay/dashboard/projection"
	"touchstone/relay/event"
	"touchstone/verdict"
)

// A file that stopped half way continues from there, without reading processed events again.
func TestFileGoesOnFromWhereItStopped(t *testing.T) {
	t.Parallel()
	l, path, events := newLog(t), filepath.Join(t.TempDir(), "page.db"), story()
	l.append(events[:3]...)
	makeFile(t, l, path)
	alter(t, path, "UPDATE places SET events = 1000") // which no reading of the log would come to
	l.append(events[3:]...)
	p := l.project(path, "judge")
	sources, err := p.Sources(t.Context(), event.Filter{})
	if want := int64(1000 + len(events) - 3); err != nil || len(sources) != 1 || sources[0].Events != want {
		t.Errorf("it counts %+v, want %d: %v", sources, want, err)
	}
	if got, want := one(t, p), one(t, l.project(l.file(), "judge")); !reflect.DeepEqual(got, want) {
		t.Errorf("it comes to %+v, want %+v", got, want)
	}
}

// What was read of a file before it could not be read on counts for nothing, least of all as processed.
func TestFileThatCannotBeReadLeavesThePositionAsItWas(t *testing.T) {
	t.Parallel()
	l, path := newLog(t), filepath.Join(t.TempDir(), "page.db")
	l.append(story()[:3]...)
	makeFile(t, l, path)
	alter(t, path, "DROP TABLE places")
	config := projection.Config{Path: path, Log: l.hub, Store: l.store, Reviewers: []string{"judge"}, GitHub: []string{"github"}}
	p, err := projection.Open(t.Context(), config)
	if err == nil || p.At() != 0 {
		t.Errorf("at event %d: %v", p.At(), err)
	}
}

// The file tells of private repositories, so only its owner may read it, also one that others could read before, or
// that a relay left which was killed.
func TestFileIsPrivate(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the folder decides there")
	}
	l, path := newLog(t), filepath.Join(t.TempDir(), "page.db")
	check := func() {
		for _, end := range []string{"", "-wal", "-shm"} {
			if info, err := os.Stat(path + end); err == nil && info.Mode().Perm() != 0o600 || err != nil && end == "" {
				t.Errorf("page.db%s: %v, %v", end, info, err)
			}
		}
	}
	l.project(path, "judge")
	check()
	old := filepath.Join(t.TempDir(), "page.db")
	makeFile(t, l, old)
	if err := os.Chmod(old, 0o644); err != nil {
		t.Fatal(err)
	}
	killed := filepath.Join(t.TempDir(), "page.db")
	for _, end := range []string{"", "-wal", "-shm"} {
		data, err := os.ReadFile(path + end)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(killed+end, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, path = range []string{old, killed} {
		l.project(path, "judge")
		check()
	}
}

// A file that is missing, damaged, of another version or of another log is rebuilt.
func TestFileIsRebuilt(t *testing.T) {
	l := newLog(t)
	events := story()
	l.append(events[:6]...)
	want := one(t, l.project(l.file(), "judge"))
	for name, spoil := range map[string]func(path string){
		"as it was": func(string) {},
		"no database": func(path string) {
			if err := os.WriteFile(path, bytes.Repeat([]byte("no"), 5000), 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"overwritten in the middle": func(path string) {
			f, err := os.OpenFile(path, os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if _, err := f.WriteAt(bytes.Repeat([]byte{0xff}, 3*4096), 4096); err != nil {
				t.Fatal(err)
			}
		},
		"no number in its position": func(path string) { alter(t, path, "UPDATE meta SET value = '3e0' WHERE name = 'at'") },
		"a newer version":           func(path string) { alter(t, path, "UPDATE meta SET value = '99' WHERE name = 'format'") },
		"of another log":            func(path string) { alter(t, path, "UPDATE meta SET value = 'other' WHERE name = 'log'") },
		"ahead of the log": func(path string) {
			alter(t, path, "UPDATE meta SET value = '999' WHERE name = 'at'; UPDATE pulls SET summary = '{}'")
		},
		"no JSON in a column": func(path string) {
			alter(t, path, "UPDATE pulls SET doc = '{'; UPDATE meta SET value = '3' WHERE name = 'at'; DELETE FROM events WHERE seq > 3")
		},
		"nothing in a column": func(path string) {
			alter(t, path, "UPDATE commits SET doc = ''; UPDATE meta SET value = '3' WHERE name = 'at'; DELETE FROM events WHERE seq > 3")
		},
		"without tables": func(path string) { alter(t, path, "DROP TABLE pulls; DROP TABLE meta") },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "page.db")
			makeFile(t, l, path)
			spoil(path)
			l := *l
			l.t = t
			if got := one(t, l.project(path, "judge")); !reflect.DeepEqual(got, want) {
				t.Errorf("got %+v\nwant %+v", got, want)
			}
		})
	}
}

// A label that calls a person by another name counts, once the relay is told, also for what came before.
func TestTheLabelThatCallsAPersonCanHaveAnotherName(t *testing.T) {
	l := newLog(t)
	label := object{"name": "Ask-The-Team"}
	l.append(opened(1, "aaa"), happened(5, "pull_request", "labeled", 1, object{"label": label,
		"pull_request": pull(5, 1, "aaa", object{"labels": []object{label}})}))
	path := l.file()
	makeFile(t, l, path)
	p := l.projectAs(projection.Config{Path: path, Reviewers: []string{"judge"}, NeedsHuman: "ask-the-team"})
	if s := one(t, p); s.Turn != verdict.TurnPerson || s.Reason != "it carries the label ask-the-team" {
		t.Errorf("turn %q: %s", s.Turn, s.Reason)
	}
	trends, err := p.Trends(t.Context(), event.Filter{}, "", projection.Day, began, began)
	if err != nil || len(trends) != 1 || trends[0].Escalations != 1 {
		t.Errorf("trends %+v, %v", trends, err)
	}
}

// makeFile makes a projection's file and closes it.
func makeFile(t *testing.T, l *log, path string) {
	t.Helper()
	p, err := projection.Open(t.Context(), projection.Config{Path: path, Log: l.hub, Store: l.store, Reviewers: []string{"judge"},
		GitHub: []string{"github"}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- p.Run(ctx) }()
	p.Await(t.Context())
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
}

func alter(t *testing.T, path, statements string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(statements); err != nil {
		t.Fatal(err)
	}
}
