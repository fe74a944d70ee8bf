package trust_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"touchstone/agent/trust"
)

// TestADamagedBookIsNeverAnotherOne flips bits in each byte of the book, and cuts the book off at each byte:
// parsing returns what was written, or fails.
func TestADamagedBookIsNeverAnotherOne(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	book, err := trust.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := book.Account("judge", 42); err != nil {
		t.Fatal(err)
	}
	if err := book.Hold("judge", strings.Repeat("ab", 32)); err != nil {
		t.Fatal(err)
	}
	want, path := book.Reviewer("judge"), filepath.Join(dir, "reviewers.json")
	sound, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	check := func(what string, at int, damaged []byte) {
		t.Helper()
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if book, err := trust.Open(dir); err == nil && book.Reviewer("judge") != want {
			t.Errorf("%s at byte %d, judge is %+v", what, at, book.Reviewer("judge"))
		}
	}
	for i := range sound {
		check("cut off", i, sound[:i])
		for _, bit := range []byte{0x01, 0x02, 0x20, 0x80} {
			damaged := append([]byte(nil), sound...)
			damaged[i] ^= bit
			check("flipped", i, damaged)
		}
	}
	check("undamaged", 0, sound)
	if err := os.WriteFile(path, []byte(`{"judge": {"id": 42}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if book, err := trust.Open(dir); err != nil || book.Reviewer("judge").ID != 42 {
		t.Errorf("an older version's book: %v", err)
	}
}

// TestProcessesShareABook checks that what one process records outlasts what another one, such as the agent of
// the other role, records later.
func TestProcessesShareABook(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	open := func() *trust.Book {
		book, err := trust.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		return book
	}
	const processes = 8
	var all sync.WaitGroup
	for i := range int64(processes) {
		book := open()
		all.Go(func() {
			if err := book.Account(fmt.Sprint("judge", i), i+1); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	first, second := open(), open()
	for i := range int64(processes) {
		if name := fmt.Sprint("judge", i); first.Reviewer(name).ID != i+1 {
			t.Errorf("the account of %s is %d", name, first.Reviewer(name).ID)
		}
	}
	if err := first.Account("octocat", 42); err != nil {
		t.Fatal(err)
	}
	if err := second.Account("octocat", 43); err == nil || !strings.HasPrefix(err.Error(), "the login octocat belongs to another account") {
		t.Errorf("another process met the login as another account: %v", err)
	}
	if second.Reviewer("octocat").ID != 42 || open().Reviewer("octocat").ID != 42 {
		t.Error("the account that was met first is lost")
	}
}
