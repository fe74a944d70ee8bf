package worktree

import (
	"fmt"
	"strings"
	"testing"
)

// TestLinesOfTheMergeInTheHead checks that comments on lines of the merge are placed on the head, whose line
// numbers differ if the base has moved on.
func TestLinesOfTheMergeInTheHead(t *testing.T) {
	t.Parallel()
	text := func(edits map[int]string) string {
		var b strings.Builder
		for i := 1; i <= 40; i++ {
			if edit, ok := edits[i]; ok {
				b.WriteString(edit)
			} else {
				fmt.Fprintf(&b, "line %d\n", i)
			}
		}
		return b.String()
	}
	h := history{remoteRepo: newRemote(t)}
	h.write("a.txt", text(nil))
	h.write("moved.txt", text(nil)+"moved\n")
	h.request = h.pull()
	h.on("topic", func() {
		h.write("a.txt", text(map[int]string{20: "changed\n"}))
		h.write("moved.txt", text(map[int]string{20: "changed\n"})+"moved\n")
	})
	h.on("main", func() {
		h.write("a.txt", text(map[int]string{3: "", 10: "line 10\nbase\nbase\n", 30: "base\n"}))
		h.git("mv", "moved.txt", "there.txt")
		h.write("new.txt", "new\n")
	})
	req := h.pushed()
	req.Merged = true
	tree := acquire(t, &Store{Root: t.TempDir()}, req)
	s, err := tree.Shown(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Diff.Files) != 3 || s.Diff.Head != req.Head {
		t.Errorf("GitHub shows %+v", s.Diff)
	}
	for _, tc := range []struct {
		path        string
		first, last int
		want        string
	}{
		{"topic.txt", 1, 1, "topic.txt 1 1 true"},
		{"a.txt", 1, 2, "a.txt 1 2 true"},
		{"a.txt", 2, 3, "a.txt 2 4 false"}, // one in between is gone
		{"a.txt", 3, 3, "a.txt 4 4 true"},
		{"a.txt", 9, 9, "a.txt 10 10 true"},
		{"a.txt", 10, 10, "a.txt 10 10 false"},
		{"a.txt", 21, 21, "a.txt 20 20 true"},
		{"a.txt", 31, 31, "a.txt 30 30 false"},
		{"a.txt", 30, 32, "a.txt 29 31 false"},
		{"a.txt", 41, 41, "a.txt 40 40 true"},
		{"there.txt", 20, 20, "moved.txt 20 20 true"},
		{"new.txt", 1, 1, " 0 0 false"},
	} {
		path, first, last, same := s.InHead(tc.path, tc.first, tc.last)
		if got := fmt.Sprint(path, " ", first, " ", last, " ", same); got != tc.want {
			t.Errorf("%s:%d-%d is %q, want %q", tc.path, tc.first, tc.last, got, tc.want)
		}
	}
}
