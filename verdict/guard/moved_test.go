package guard_test

import (
	"testing"

	"touchstone/verdict/guard"
)

// TestAValueThatAnotherFileGainsIsNotGone: the other file may be new, or have a further key or element.
func TestAValueThatAnotherFileGainsIsNotGone(t *testing.T) {
	file := func(name, before, after string) guard.File {
		f := guard.File{Path: name, OldPath: name, Before: []byte(before), After: []byte(after)}
		if before == "" {
			f.OldPath, f.Before = "", nil
		}
		return f
	}
	loses := file("config/a.yml", "test:\n  x: p\n  y: q\n", "test:\n  y: q\n")
	for name, tt := range map[string]struct {
		other guard.File
		found int
	}{
		"no other file":            {file("config/b.yml", "one:\n  y: q\n", "one:\n  y: q\n"), 1},
		"a new file":               {file("config/b.yml", "", "two:\n  x: p\n"), 0},
		"a further key":            {file("config/b.yml", "two:\n  y: q\n", "two:\n  y: q\n  x: p\n"), 0},
		"a further key, otherwise": {file("config/b.yml", "two:\n  y: q\n", "two:\n  y: q\n  x: r\n"), 1},
		"a further element":        {file("config/b.yml", "two:\n  x: [r]\n", "two:\n  x: [r, p]\n"), 0},
	} {
		if found := guard.Examine(guard.Change{Files: []guard.File{loses, tt.other}}); len(found) != tt.found {
			t.Errorf("%s: %+v", name, found)
		}
	}
}
