package token

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"touchstone/relay/event"
	"touchstone/relay/internal/sqlite"
)

// stores returns an empty store of each kind.
func stores(t *testing.T) map[string]Store {
	t.Helper()
	log, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "relay.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	})
	return map[string]Store{
		"file":  emptyFile(t),
		"notes": Notes{Notebook: &notebook{Store: log}},
	}
}

// notebook changes its notes one at a time.
type notebook struct {
	*sqlite.Store
	mu sync.Mutex
}

func (n *notebook) ChangeNote(ctx context.Context, name string, change func(string) (string, error)) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	text, err := n.Note(ctx, name)
	if err == nil {
		text, err = change(text)
	}
	if err != nil {
		return err
	}
	return n.SetNote(ctx, name, text)
}

func TestAddAndRevoke(t *testing.T) {
	for kind, store := range stores(t) {
		t.Run(kind, func(t *testing.T) {
			if tokens, err := store.Load(t.Context()); err != nil || len(tokens) != 0 {
				t.Fatalf("at first there are %v (%v)", tokens, err)
			}
			first, _ := mint(t, "first", event.Filter{Repos: []string{"acme/*"}})
			second, _ := mint(t, "second", event.Filter{})
			for _, made := range []Token{first, second} {
				if err := Add(t.Context(), store, made); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := Revoke(t.Context(), store, first.ID); err != nil {
				t.Fatal(err)
			}
			tokens, err := store.Load(t.Context())
			if err != nil || len(tokens) != 2 || tokens[0].Revoked == nil || tokens[1].Revoked != nil || !tokens[1].same(second) {
				t.Errorf("afterwards there are %+v (%v)", tokens, err)
			}
			if _, err := Revoke(t.Context(), store, first.ID); err == nil {
				t.Error("a token was revoked twice")
			}
			if _, err := Revoke(t.Context(), store, "aaaaaaaa"); err == nil {
				t.Error("a token was revoked that never was")
			}
			again, _ := mint(t, "second", event.Filter{})
			if err := Add(t.Context(), store, again); err == nil {
				t.Error("two good tokens have one name")
			}
			again.Name = "first"
			if err := Add(t.Context(), store, again); err != nil {
				t.Errorf("the name of a revoked token is not free: %v", err)
			}
		})
	}
}

func TestRoomForNewTokens(t *testing.T) {
	store := emptyFile(t)
	many := make([]Token, maxTokens)
	for i := range many {
		many[i], _ = mint(t, fmt.Sprint(i), event.Filter{})
	}
	set(t, store, many...)
	extra, _ := mint(t, "extra", event.Filter{})
	if err := Add(t.Context(), store, extra); err == nil {
		t.Error("there is no end of tokens")
	}
	if _, err := Revoke(t.Context(), store, many[7].ID); err != nil {
		t.Fatal(err)
	}
	if err := Add(t.Context(), store, extra); err != nil {
		t.Errorf("a revoked token makes no room: %v", err)
	}
	if tokens, err := store.Load(t.Context()); err != nil || len(tokens) != maxTokens {
		t.Errorf("there are %d tokens (%v)", len(tokens), err)
	}
}

// Many processes can make tokens at the same time; none is lost.
func TestConcurrentAdds(t *testing.T) {
	for kind, store := range stores(t) {
		var wait sync.WaitGroup
		for i := range 20 {
			made, _ := mint(t, fmt.Sprint(i), event.Filter{})
			wait.Go(func() {
				if err := Add(t.Context(), store, made); err != nil {
					t.Errorf("%s: %v", kind, err)
				}
			})
		}
		wait.Wait()
		if tokens, err := store.Load(t.Context()); err != nil || len(tokens) != 20 {
			t.Errorf("%s: of 20 tokens %d are there (%v)", kind, len(tokens), err)
		}
	}
}

func TestFileIsPrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: Windows keeps no permission bits")
	}
	folder := t.TempDir()
	store := File{Path: filepath.Join(folder, "tokens")}
	made, _ := mint(t, "a", event.Filter{})
	if err := Add(t.Context(), store, made); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err == nil && info.Mode().Perm() != 0o600 {
			t.Errorf("%s has the mode %s", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestUnreadableFile(t *testing.T) {
	path := emptyFile(t).Path
	for name, text := range map[string]string{
		"empty":         "",
		"no JSON":       "rly_x",
		"unknown field": `{"tokens":[],"more":1}`,
		"two values":    `{"tokens":[]} {}`,
		"no hash":       `{"tokens":[{"id":"aaaaaaaa","name":"a","role":"admin","created":"2026-01-01T00:00:00Z","sha256":""}]}`,
		"too large":     `{"tokens":[]}` + strings.Repeat(" ", maxStoredBytes),
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := (File{Path: path}).Load(t.Context()); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
		made, _ := mint(t, "a", event.Filter{})
		if err := Add(t.Context(), File{Path: path}, made); err == nil {
			t.Errorf("%s: it was written over", name)
		}
	}
}

func TestAddNeedsAnExistingFolder(t *testing.T) {
	made, _ := mint(t, "a", event.Filter{})
	err := Add(t.Context(), File{Path: filepath.Join(t.TempDir(), "no", "tokens")}, made)
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("into a folder that is not there: %v", err)
	}
}

func TestLastUsesOfTokensAreStored(t *testing.T) {
	for kind, store := range stores(t) {
		uses, err := store.Uses(t.Context())
		if err != nil || len(uses) != 0 {
			t.Errorf("%s: at first tokens were used at %v (%v)", kind, uses, err)
		}
		want := Uses{"aaaaaaaa": clock(), "bbbbbbbb": clock().Add(-time.Hour)}
		if err := store.SetUses(t.Context(), want); err != nil {
			t.Fatal(err)
		}
		if uses, err = store.Uses(t.Context()); err != nil || !maps.EqualFunc(uses, want, time.Time.Equal) {
			t.Errorf("%s: then at %v (%v)", kind, uses, err)
		}
	}
}

// Damaged uses count as unknown, and do not prevent recording the next use.
func FuzzUses(f *testing.F) {
	for _, seed := range []string{"", "null", "[]", "{", `{"aaaaaaaa":"2026-01-01T00:00:00Z"}`, `{"aaaaaaaa":1}`,
		`{"":"2026-01-01T00:00:00+25:00"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		uses, now := decodeUses(text), clock()
		uses.note("aaaaaaaa", now)
		again, err := encodeUses(uses)
		if back := decodeUses(again); err != nil || back["aaaaaaaa"].Before(now) {
			t.Errorf("%s became %s, %v", text, again, err)
		}
	})
}
