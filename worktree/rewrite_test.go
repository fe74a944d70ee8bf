package worktree

import (
	"strings"
	"testing"
)

// TestARewritingHasExactlyTheGivenContent defines which commits count as a reviewed commit with other contents of
// files, and which changes of the base are allowed in the meantime.
func TestARewritingHasExactlyTheGivenContent(t *testing.T) {
	t.Parallel()
	fixed := func(h history) { h.write("topic.txt", "hello, world\n") }
	for name, tc := range map[string]struct {
		now    func(h history) // what comes after the review
		alone  bool            // the commit is nothing but that content
		merges bool            // and so is its merge
	}{
		"nothing else":  {func(h history) { h.on("topic", func() { fixed(h) }) }, true, true},
		"nothing":       {func(history) {}, false, false},
		"one more byte": {func(h history) { h.on("topic", func() { h.write("topic.txt", "hello, world\n\n") }) }, false, false},
		"one byte less": {func(h history) { h.on("topic", func() { h.write("topic.txt", "hello, world") }) }, false, false},
		"one more file": {func(h history) { h.on("topic", func() { fixed(h); h.write("more.txt", "") }) }, false, false},
		"another file":  {func(h history) { h.on("topic", func() { h.write("other.txt", "hello, world\n") }) }, false, false},
		"one file less": {func(h history) { h.on("topic", func() { fixed(h); h.git("rm", "-q", "main.txt") }) }, false, false},
		"another name":  {func(h history) { h.on("topic", func() { fixed(h); h.git("mv", "topic.txt", "moved.txt") }) }, false, false},
		"a mode": {func(h history) {
			h.git("checkout", "-q", "topic")
			fixed(h)
			h.git("add", "-A")
			h.git("update-index", "--chmod=+x", "topic.txt")
			h.git("commit", "-q", "-m", "mode")
			h.git("reset", "-q", "--hard")
		}, false, false},
		"in two commits": {func(h history) {
			h.on("topic", func() { h.write("topic.txt", "x\n") })
			h.on("topic", func() { fixed(h) })
		}, false, false},
		"and an empty one": {func(h history) { h.on("topic", func() { fixed(h) }); h.on("topic", func() {}) }, false, false},
		"on another parent": {func(h history) {
			h.git("checkout", "-q", "topic")
			h.git("commit", "-q", "--amend", "-m", "the same, by somebody else")
			h.on("topic", func() { fixed(h) })
		}, false, false},
		"as a merge": {func(h history) {
			h.on("side", func() {})
			h.merge("topic", "side", map[string]string{"topic.txt": "hello, world\n"})
		}, false, false},
		"the base touched another file": {func(h history) {
			h.on("topic", func() { fixed(h) })
			h.on("main", func() { h.write("b.txt", "two\n") })
		}, true, true},
		"the base made the same file": {func(h history) {
			h.on("topic", func() { fixed(h) })
			h.on("main", func() { fixed(h) })
		}, true, false},
		"the base conflicts with what was reviewed": {func(h history) {
			h.on("topic", func() { fixed(h) })
			h.on("main", func() { h.write("topic.txt", "bye\n") })
		}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHistory(t)
			s := &Store{Root: t.TempDir()}
			reviewed, err := s.Squash(t.Context(), h.pushed())
			if err != nil {
				t.Fatal(err)
			}
			tc.now(h)
			req, files := h.pushed(), map[string][]byte{"topic.txt": []byte("hello, world\n")}
			tree := acquire(t, s, req)
			if alone, err := tree.Rewrites(t.Context(), reviewed.Head, req.Head, files); alone != tc.alone || err != nil {
				t.Errorf("the commit is nothing else: %v, %v", alone, err)
			}
			merges, err := tree.MakesRewritten(t.Context(), reviewed, files)
			if conflicts := name == "the base conflicts with what was reviewed"; conflicts {
				wantErr(t, err, ErrUnmergeable)
			} else if merges != tc.merges || err != nil {
				t.Errorf("its merge is nothing else: %v, %v", merges, err)
			}
			wrong := reviewed
			wrong.Tree = h.git("rev-parse", req.Base+"^{tree}")
			if merges, _ := tree.MakesRewritten(t.Context(), wrong, files); merges {
				t.Error("it rewrites what nobody reviewed")
			}
			if alone, err := tree.Rewrites(t.Context(), reviewed.Head, req.Head, nil); alone || err != nil {
				t.Errorf("it rewrites nothing: %v, %v", alone, err)
			}
		})
	}
}

// TestRewritingMergesInOnePlace checks that the answer is no if git merges both sides' lines of one file:
// nobody has seen the result.
func TestRewritingMergesInOnePlace(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	h.on("topic", func() { h.write("a.txt", "one\n"+strings.Repeat("same\n", 20)+"ned\n") })
	s := &Store{Root: t.TempDir()}
	reviewed, err := s.Squash(t.Context(), h.pushed())
	if err != nil {
		t.Fatal(err)
	}
	fixed := "one\n" + strings.Repeat("same\n", 20) + "the end\n"
	h.on("topic", func() { h.write("a.txt", fixed) })
	h.on("main", func() { h.write("a.txt", "zero\n"+strings.Repeat("same\n", 20)+"end\n") })
	tree := acquire(t, s, h.pushed())
	if merges, err := tree.MakesRewritten(t.Context(), reviewed, map[string][]byte{"a.txt": []byte(fixed)}); merges || err != nil {
		t.Errorf("the base has touched the file: %v, %v", merges, err)
	}
}
