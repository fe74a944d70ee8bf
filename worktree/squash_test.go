package worktree

import (
	"bytes"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// history makes commits in the clone of a remote, to which it pushes them at the end.
type history struct {
	*remoteRepo
	request Request
}

func newHistory(t *testing.T) history {
	h := history{remoteRepo: newRemote(t)}
	h.write("a.txt", "one\n"+strings.Repeat("same\n", 20)+"end\n")
	h.write("b.txt", "one\n")
	h.request = h.pull()
	return h
}

// on checks out a branch, made where it does not exist, and commits what edit leaves there.
func (h history) on(branch string, edit func()) string {
	h.t.Helper()
	if h.exists(branch) {
		h.git("checkout", "-q", branch)
	} else {
		h.git("checkout", "-q", "-b", branch)
	}
	edit()
	return h.commit()
}

func (h history) exists(branch string) bool {
	h.t.Helper()
	return strings.Contains("\n"+h.git("branch", "--format=%(refname:short)")+"\n", "\n"+branch+"\n")
}

// merge merges other into branch; with files, its own content of them is what counts.
func (h history) merge(branch, other string, files map[string]string) string {
	h.t.Helper()
	h.git("checkout", "-q", branch)
	h.git("merge", "-q", "--no-ff", "--no-commit", "-s", "ours", other)
	h.git("checkout", "-q", "--no-overlay", other, "--", ".")
	for name, content := range files {
		h.write(name, content)
	}
	return h.commit()
}

// pushed is the request for topic against main as they are now.
func (h history) pushed() Request {
	h.t.Helper()
	req := h.request
	tips := strings.Fields(h.git("rev-parse", "topic", "main"))
	req.Head, req.HeadRef, req.Base = tips[0], "refs/pull/12/head", tips[1]
	h.put("refs/heads/main", req.Base)
	h.put("refs/heads/topic", req.Head)
	h.put(req.HeadRef, req.Head)
	return req
}

// droppedFix is a pull request whose branch merged, by hand, the commit of a fix that main
// has too, and dropped the fix. Of the two merge bases git merge-base names one alone, against
// which the branch changes one line.
func droppedFix(h history) Request {
	h.git("checkout", "-q", "-b", "fix", "main")
	h.on("fix", func() { h.write("b.txt", "fixed\n") })
	h.on("main", func() { h.write("main.txt", "one\ntwo\nthree\nfour\n") })
	h.git("checkout", "-q", "topic")
	h.git("merge", "-q", "--no-edit", "main")
	h.git("checkout", "-q", "main")
	h.git("merge", "-q", "--no-ff", "--no-edit", "fix")
	h.git("checkout", "-q", "topic")
	h.git("merge", "-q", "--no-edit", "-s", "ours", "fix")
	return h.pushed()
}

// TestDiffIsWhatASquashMergeDoes checks this for many kinds of histories.
func TestDiffIsWhatASquashMergeDoes(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(h history) Request
		want   []string
	}{
		"the base goes on": {func(h history) Request {
			h.on("main", func() { h.write("b.txt", "two\n") })
			return h.pushed()
		}, []string{"A topic.txt"}},
		"a merge on the branch drops what a merge brought to the base": {droppedFix, []string{"A topic.txt", "M b.txt"}},
		"a merge of several branches": {func(h history) Request {
			for _, name := range []string{"left", "right"} {
				h.git("checkout", "-q", "-b", name, "main")
				h.on(name, func() { h.write(name+".txt", name+"\n") })
			}
			h.git("checkout", "-q", "topic")
			h.git("merge", "-q", "--no-edit", "left", "right")
			h.on("main", func() { h.write("b.txt", "two\n") })
			return h.pushed()
		}, []string{"A left.txt", "A right.txt", "A topic.txt"}},
		"the base took part of the change": {func(h history) Request {
			h.on("topic", func() { h.write("b.txt", "two\n") })
			h.on("main", func() { h.write("topic.txt", "hello\n") })
			return h.pushed()
		}, []string{"M b.txt"}},
		"the base renamed what the branch edits": {func(h history) Request {
			h.on("topic", func() { h.write("a.txt", "two\n"+strings.Repeat("same\n", 20)+"end\n") })
			h.on("main", func() { h.git("mv", "a.txt", "c.txt") })
			return h.pushed()
		}, []string{"A topic.txt", "M c.txt"}},
		"modes, links and submodules": {func(h history) Request {
			h.on("topic", func() {
				h.git("update-index", "--chmod=+x", "b.txt")
				h.git("update-index", "--add", "--cacheinfo", "160000,"+h.request.Base+",sub")
				must(h.t, os.Chmod(filepath.Join(h.work, "b.txt"), 0o755))
				must(h.t, os.Mkdir(filepath.Join(h.work, "sub"), 0o755))
				must(h.t, os.Symlink("/etc/passwd", filepath.Join(h.work, "link")))
			})
			h.on("main", func() { h.write("a.txt", "two\n") })
			return h.pushed()
		}, []string{"A link", "A sub", "A topic.txt", "M b.txt"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHistory(t)
			req := tc.change(h)
			req.Merged = true
			tree := acquire(t, &Store{Root: t.TempDir()}, req)
			d, err := tree.Diff(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range d.Files {
				got = append(got, strings.ToUpper(f.Status[:1])+" "+f.Path)
				content, err := os.ReadFile(filepath.Join(tree.Dir(), f.Path))
				if f.NewMode != "100644" {
					continue
				}
				if merged, readErr := tree.ReadFile(t.Context(), d.Head, f.Path); err != nil || readErr != nil || string(content) != string(merged) {
					t.Errorf("%s is %q in the checkout and %q in the merge: %v, %v", f.Path, content, merged, err, readErr)
				}
			}
			slices.Sort(got)
			if !slices.Equal(got, tc.want) {
				t.Errorf("the change is %q, want %q", got, tc.want)
			}
			// What GitHub does, with nothing of this package.
			h.git("checkout", "-q", req.Base)
			h.git("merge", "-q", "--squash", req.Head)
			s, err := tree.Squash(t.Context())
			if want := h.git("write-tree"); err != nil || s.Tree != want {
				t.Errorf("the tree is %s, and git merge makes %s: %v", s.Tree, want, err)
			}
		})
	}
}

// TestNoTreeWhereAMergeIsNotPlain checks that heads without a predictable merge are neither compared nor
// merged.
func TestNoTreeWhereAMergeIsNotPlain(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(h history) Request
		want   string
	}{
		"a conflict": {func(h history) Request {
			h.on("topic", func() { h.write("b.txt", "two\n") })
			h.on("main", func() { h.write("b.txt", "three\n") })
			return h.pushed()
		}, `conflict in "b.txt"`},
		"a conflict that an attribute would hide": {func(h history) Request {
			h.on("topic", func() { h.write("b.txt", "two\n"); h.write(".gitattributes", "*.txt merge=union\n") })
			h.on("main", func() { h.write("b.txt", "three\n"); h.write(".gitattributes", "*.txt merge=union\n") })
			return h.pushed()
		}, `conflict in "b.txt"`},
		"merge bases that conflict": {func(h history) Request {
			h.on("topic", func() { h.write("b.txt", "two\n") })
			h.on("main", func() { h.write("b.txt", "three\n") })
			h.git("branch", "was", "topic")
			h.merge("topic", "main", map[string]string{"b.txt": "both\n", "topic.txt": "hello\n"})
			h.merge("main", "was", map[string]string{"b.txt": "both\n", "topic.txt": "hello\n"})
			h.on("topic", func() { h.write("a.txt", "topic\n") })
			return h.pushed()
		}, "conflict with each other"},
		"no common history": {func(h history) Request {
			h.git("checkout", "-q", "--orphan", "other")
			h.commit()
			h.git("branch", "-q", "-M", "other", "topic")
			return h.pushed()
		}, "no common history"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHistory(t)
			req := tc.change(h)
			s := &Store{Root: t.TempDir()}
			_, err := s.Squash(t.Context(), req)
			wantErr(t, err, ErrUnmergeable)
			if !strings.Contains(err.Error(), tc.want) {
				t.Errorf("it says %q, want %q in it", err, tc.want)
			}
			req.Merged = true
			_, err = s.Acquire(t.Context(), req)
			wantErr(t, err, ErrUnmergeable)
		})
	}
}

// TestHistoryIsWhatCommitsSay checks that only the commits determine the history, and no files beside them in
// the mirror, which a session with a shell could write.
func TestHistoryIsWhatCommitsSay(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	merge := droppedFix(h).Head
	h.on("topic", func() { h.write("topic.txt", "more\n") })
	req := h.pushed()
	s := &Store{Root: t.TempDir()}
	want, err := s.Squash(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	place, err := s.home(req.Repo)
	if err != nil {
		t.Fatal(err)
	}
	mirror := place.Mirror()
	parent := run(t, mirror, "git", "rev-parse", merge+"^1")
	for _, bend := range []struct {
		name string
		how  func()
	}{
		{"a replaced commit", func() { run(t, mirror, "git", "replace", "--graft", merge, parent) }},
		{"a graft", func() { writeTest(t, filepath.Join(mirror, "info", "grafts"), merge+" "+parent+"\n") }},
		{"a shallow file", func() { writeTest(t, filepath.Join(mirror, "shallow"), parent+"\n") }},
		{"a commit graph", func() {
			run(t, mirror, "git", "replace", "--delete", merge)
			for _, name := range []string{"shallow", "info/grafts"} {
				must(t, os.RemoveAll(filepath.Join(mirror, filepath.FromSlash(name))))
			}
			run(t, mirror, "git", "commit-graph", "write", "--reachable")
			dropSecondParent(t, filepath.Join(mirror, "objects", "info", "commit-graph"), run(t, mirror, "git", "rev-parse", merge+"^{tree}"))
			if got := run(t, mirror, "git", "merge-base", "--all", req.Base, req.Head); strings.Contains(got, "\n") {
				t.Fatalf("a git without protection finds %s", got)
			}
		}},
		{"attributes", func() {
			writeTest(t, filepath.Join(mirror, "info", "attributes"), "* merge=ours\n")
			writeTest(t, filepath.Join(mirror, "config"), "[core]\nbare = true\n[merge \"ours\"]\ndriver = true\n")
		}},
	} {
		bend.how()
		got, err := s.Squash(t.Context(), req)
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v, want %+v", bend.name, got, err, want)
		}
	}
}

// dropSecondParent rewrites a commit graph so that the commits with a tree have one parent
// (https://git-scm.com/docs/gitformat-commit-graph).
func dropSecondParent(t *testing.T, graph, tree string) {
	t.Helper()
	entry, err := hex.DecodeString(tree)
	if err != nil {
		t.Fatal(err)
	}
	data := []byte(read(t, graph))
	for at := bytes.Index(data, entry); at >= 0; {
		copy(data[at+len(entry)+4:], []byte{0x70, 0, 0, 0})
		next := bytes.Index(data[at+1:], entry)
		if next < 0 {
			break
		}
		at += 1 + next
	}
	must(t, errors.Join(os.Chmod(graph, 0o644), os.WriteFile(graph, data, 0o644)))
}
