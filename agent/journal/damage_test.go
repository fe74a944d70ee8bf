package journal

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestDamageOfTheJournalStopsNobody flips a bit of each byte of all files of a journal, and cuts them
// off at each: it opens and takes new entries all the same, or says what is wrong.
func TestDamageOfTheJournalStopsNobody(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "journal")
	j, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	id, err := j.Begin(Entry{Ref: "acme/app#1", SHA: "aaa", Act: "review"})
	if err == nil {
		err = j.Update(id, Account{CostUSD: 1.25})
	}
	if err == nil {
		err = j.End(id, Outcome{OK: true, Detail: "done"})
	}
	if err == nil {
		err = j.SetCursor("q7m2x4ka-1042")
	}
	if err == nil {
		err = j.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	sound := map[string][]byte{}
	for _, path := range filesBelow(t, dir) {
		if sound[path], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	for path, content := range sound {
		for at := range content {
			flipped := slices.Clone(content)
			flipped[at] ^= 1 << (at % 8)
			damages := map[string][]byte{"cut off": content[:at], "flipped": flipped}
			for name, damaged := range damages {
				for path, content := range sound {
					if err := os.WriteFile(path, content, 0o600); err != nil {
						t.Fatal(err)
					}
				}
				if err := os.WriteFile(path, damaged, 0o600); err != nil {
					t.Fatal(err)
				}
				if err := use(dir); err != nil && !strings.Contains(err.Error(), filepath.Base(path)) {
					t.Fatalf("%s, %s at byte %d: %v", filepath.Base(path), name, at, err)
				}
			}
		}
	}
}

func use(dir string) error {
	j, err := Open(dir)
	if err != nil {
		return err
	}
	defer j.Close()
	_ = j.Cursor()
	_, err = j.Begin(Entry{Ref: "acme/app#2", SHA: "bbb", Act: "review"})
	return err
}

func filesBelow(t *testing.T, dir string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(paths) < 2 {
		t.Fatalf("%q, %v", paths, err)
	}
	return slices.DeleteFunc(paths, func(path string) bool { return filepath.Base(path) == lockFile })
}
