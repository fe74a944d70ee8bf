package author_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"touchstone/agent/author"
	"touchstone/agent/e2e/loopback"
	"touchstone/verdict"
)

// chain are links, by their places. Each leads to a place inside by its text, and together they lead out: a link's ".." is
// above where the link before it leads.
func chain(place string) map[string]string {
	return map[string]string{"d1/d2/l": "../../r", place: "d1/d2/l/../../out"}
}

// lay replaces what is at the places by links.
func lay(dir string, links map[string]string) (err error) {
	for place, target := range links {
		place = filepath.Join(dir, place)
		err = errors.Join(err, os.RemoveAll(place), os.Symlink(target, place))
	}
	return err
}

// A chain is followed like a single link.
func TestFixRefusesAChainOfLinksOutOfTheRepository(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		links map[string]string
		want  error
	}{
		"out":    {chain("link"), author.ErrForbidden},
		"inside": {map[string]string{"d1/d2/l": "../../r", "link": "d1/d2/l/../r/a.txt", "dangling": "d1/none"}, nil},
		"of a file that has the target as its text": {map[string]string{"d1/text": "/etc/passwd"}, author.ErrForbidden},
		"through a file": {map[string]string{"link": "d1/text/a"}, author.ErrForbidden},
		"a loop":         {map[string]string{"a": "b", "b": "a"}, author.ErrForbidden},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := loopback.New(t, map[string]string{"d1/d2/a.txt": "a\n", "r/a.txt": "a\n", "d1/text": "/etc/passwd"})
			g.Commit("topic", "Add code", map[string]string{"code.txt": "unsafe()\n"})
			pr := g.Reviewed(g.Open("topic"), verdict.RequestChanges, finding)
			a := newAuthor(g, func(r loopback.Asked) (string, error) { return "Done.", lay(r.Dir, tc.links) })
			if _, err := a.Fix(t.Context(), pr, verdict.Allowance{}, nil); !errors.Is(err, tc.want) {
				t.Errorf("it ends in %v", err)
			}
		})
	}
}

// TestFixRefusesALinkThatLeadsAnotherOneOut: a link of an earlier fix leads inside until a directory on its way becomes a link.
func TestFixRefusesALinkThatLeadsAnotherOneOut(t *testing.T) {
	t.Parallel()
	g := loopback.New(t, map[string]string{"d1/d2/l/a.txt": "a\n", "d1/out/a.txt": "a\n", "r/a.txt": "a\n", "same/a.txt": "a\n"})
	g.Commit("topic", "Add code", map[string]string{"code.txt": "unsafe()\n"})
	ref := g.Open("topic")
	for _, round := range []struct {
		links map[string]string
		want  error
	}{
		{map[string]string{"link": "d1/d2/l/../../out"}, nil},
		{map[string]string{"other": "same"}, nil},
		{map[string]string{"d1/d2/l": "../../r"}, author.ErrForbidden},
	} {
		pr := g.Reviewed(ref, verdict.RequestChanges, finding)
		a := newAuthor(g, func(r loopback.Asked) (string, error) { return "Done.", lay(r.Dir, round.links) })
		_, err := a.Fix(t.Context(), pr, verdict.Allowance{}, nil)
		if !errors.Is(err, round.want) || round.want != nil && !strings.Contains(err.Error(), "the symbolic link link leads out") {
			t.Fatalf("%v ends in %v", round.links, err)
		}
	}
}

// TestFixWritesNoLockFileOutsideOfTheTree has a session put a link out of the tree where the directory of a lock file was.
// Not parallel: it sets PATH.
func TestFixWritesNoLockFileOutsideOfTheTree(t *testing.T) {
	lockTool(t, "bundle", "echo made >Gemfile.lock\n")
	g := loopback.New(t, map[string]string{"pkg/Gemfile.lock": "base\n", "d1/d2/a.txt": "a\n", "r/a.txt": "a\n"})
	g.Commit("topic", "Ours", map[string]string{"pkg/Gemfile": "ours\n", "pkg/Gemfile.lock": "ours\n", "code.txt": "unsafe()\n"})
	ref := g.Open("topic")
	g.Commit("main", "Theirs", map[string]string{"pkg/Gemfile.lock": "theirs\n"})
	pr := g.Reviewed(ref, verdict.RequestChanges, finding)
	written := ""
	a := newAuthor(g, func(r loopback.Asked) (string, error) {
		written = filepath.Join(filepath.Dir(r.Dir), "out", "Gemfile.lock")
		return "Done.", errors.Join(os.MkdirAll(filepath.Dir(written), 0o755), lay(r.Dir, chain("pkg")))
	})
	if _, err := a.Fix(t.Context(), pr, verdict.Allowance{}, nil); err == nil {
		t.Error("it is pushed")
	}
	if _, err := os.Stat(written); err == nil {
		t.Error("the lock file was written outside of the tree")
	}
}
