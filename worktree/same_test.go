package worktree

import (
	"strings"
	"testing"
)

// TestSameChange defines how the base may have changed for a squash merge to be the reviewed one.
func TestSameChange(t *testing.T) {
	t.Parallel()
	middle := func(text string) string {
		return "one\n" + strings.Repeat("same\n", 10) + text + strings.Repeat("same\n", 9) + "end\n"
	}
	checked := func(first, second string) string {
		around := strings.Repeat("\tsame\n", 5)
		return strings.Repeat("x\n", 20) + around + first + around + strings.Repeat("y\n", 20) + around + second + around
	}
	for name, tc := range map[string]struct {
		then func(h history) // before the review, on topic
		now  func(h history) // after it
		want bool
	}{
		"nothing": {now: func(history) {}, want: true},
		"the base touched another file": {now: func(h history) {
			h.on("main", func() { h.write("b.txt", "two\n") })
		}, want: true},
		"the base touched other lines of the same file": {
			then: func(h history) { h.on("topic", func() { h.write("a.txt", middle("changed\n")) }) },
			now: func(h history) {
				h.on("main", func() { h.write("a.txt", "first\n"+strings.Replace(middle("same\n"), "one\n", "", 1)) })
			}, want: true,
		},
		"the base touched lines beside the change": {
			then: func(h history) { h.on("topic", func() { h.write("a.txt", middle("changed\n")) }) },
			now: func(h history) {
				h.on("main", func() {
					h.write("a.txt", "one\n"+strings.Repeat("same\n", 8)+"else\nsame\nsame\n"+strings.Repeat("same\n", 9)+"end\n")
				})
			},
		},
		"the base took part of the change": {
			then: func(h history) { h.on("topic", func() { h.write("b.txt", "two\n") }) },
			now:  func(h history) { h.on("main", func() { h.write("b.txt", "two\n") }) },
		},
		"the base took a fix that the head drops": {now: func(h history) { droppedFix(h) }},
		"the base made a file executable that the change edits": {
			then: func(h history) { h.on("topic", func() { h.write("a.txt", middle("changed\n")) }) },
			now: func(h history) {
				h.git("checkout", "-q", "main")
				h.git("update-index", "--chmod=+x", "a.txt")
				h.git("commit", "-q", "-m", "mode")
				h.git("reset", "-q", "--hard")
			},
		},
		"the base renamed a file that the change edits": {
			then: func(h history) { h.on("topic", func() { h.write("a.txt", middle("changed\n")) }) },
			now:  func(h history) { h.on("main", func() { h.git("mv", "a.txt", "c.txt") }) },
		},
		"the base conflicts by now": {
			then: func(h history) { h.on("topic", func() { h.write("b.txt", "two\n") }) },
			now:  func(h history) { h.on("main", func() { h.write("b.txt", "three\n") }) },
		},
		"the branch was rebased": {now: func(h history) {
			h.on("main", func() { h.write("b.txt", "two\n") })
			h.git("rebase", "-q", "main", "topic")
		}, want: true},
		"a file with the same lines at another place": {now: func(h history) {
			h.on("topic", func() { h.git("mv", "topic.txt", "moved.txt") })
		}},
		"the same lines in another function, in a file that the base touched": {
			then: func(h history) {
				h.on("main", func() { h.write("b.txt", checked("\tcheck\n", "\tcheck\n")) })
				h.git("rebase", "-q", "main", "topic")
				h.on("topic", func() { h.write("b.txt", checked("", "\tcheck\n")) })
			},
			now: func(h history) {
				topic := h.git("show", "topic:topic.txt") + "\n"
				h.on("main", func() { h.write("b.txt", "first\n"+checked("\tcheck\n", "\tcheck\n")) })
				h.git("checkout", "-q", "-B", "topic", "main")
				h.on("topic", func() {
					h.write("topic.txt", topic)
					h.write("b.txt", "first\n"+checked("\tcheck\n", ""))
				})
			},
		},
		"another content": {now: func(h history) { h.on("topic", func() { h.write("topic.txt", "hello!\n") }) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHistory(t)
			if tc.then != nil {
				tc.then(h)
			}
			s := &Store{Root: t.TempDir()}
			reviewed, err := s.Squash(t.Context(), h.pushed())
			if err != nil {
				t.Fatal(err)
			}
			tc.now(h)
			req := h.pushed()
			if same, err := s.Makes(t.Context(), req, reviewed); same != tc.want || err != nil {
				t.Errorf("the same before the merge: %v, %v", same, err)
			}
			wrong := reviewed
			wrong.Tree = h.git("rev-parse", req.Base+"^{tree}")
			if same, err := s.Makes(t.Context(), req, wrong); same || err != nil {
				t.Errorf("the same as a tree that the commits do not make: %v, %v", same, err)
			}
			if name == "the base conflicts by now" {
				return
			}
			h.git("checkout", "-q", "main")
			h.git("merge", "-q", "--squash", "topic")
			req.Base = h.commit("refs/heads/main")
			if same, err := s.Made(t.Context(), req, reviewed); same != tc.want || err != nil {
				t.Errorf("the same after the merge: %v, %v", same, err)
			}
		})
	}
}

// TestMadeLooksOnTheBaseBranch checks that a commit elsewhere does not count as the merge that was decided
// on.
func TestMadeLooksOnTheBaseBranch(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	s := &Store{Root: t.TempDir()}
	req := h.pushed()
	reviewed, err := s.Squash(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	h.git("checkout", "-q", "-b", "sandbox", "main")
	h.git("merge", "-q", "--squash", "topic")
	req.Base = h.commit("refs/heads/sandbox")
	_, err = s.Made(t.Context(), req, reviewed)
	wantErr(t, err, ErrHeadMoved)
	req.BaseRef = "refs/heads/sandbox"
	if same, err := s.Made(t.Context(), req, reviewed); !same || err != nil {
		t.Errorf("the same: %v, %v", same, err)
	}
	req.BaseRef = "refs/heads/main"
	_, err = s.Made(t.Context(), req, reviewed)
	wantErr(t, err, ErrHeadMoved)
}
