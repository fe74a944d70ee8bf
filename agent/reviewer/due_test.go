package reviewer

import (
	"fmt"
	"testing"

	"touchstone/agent/reviewer/change"
	"touchstone/verdict"
	"touchstone/worktree/diff"
)

// TestEarlierFindingsAreDueInOnePart checks that an earlier finding is due in the part with its file, under
// any of its names, or else in the last part.
func TestEarlierFindingsAreDueInOnePart(t *testing.T) {
	file := func(path, old string) change.File {
		return change.File{File: diff.File{Path: path, OldPath: old}}
	}
	m := material{understood: change.Change{Parts: [][]change.File{{file("a.go", "was.go")}, {file("b.go", "")}, {file("was.go", "")}}}}
	for _, path := range []string{"a.go", "b.go", "was.go", "other.go", ""} {
		m.Ledger = append(m.Ledger, verdict.Entry{ID: path, Path: path})
	}
	for part, want := range []string{"[a.go]", "[b.go]", "[was.go other.go ]"} {
		var got []string
		for _, e := range m.due(part) {
			got = append(got, e.ID)
		}
		if fmt.Sprint(got) != want {
			t.Errorf("part %d has to account for %v, want %s", part, got, want)
		}
	}
}
