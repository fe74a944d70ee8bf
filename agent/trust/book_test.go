package trust_test

import (
	"os"
	"path/filepath"
	"strings"
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
