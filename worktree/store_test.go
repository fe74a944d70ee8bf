package worktree

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestLifeOfOnePullRequest(t *testing.T) {
	r, req, s, tree := acquired(t)
	if got := read(t, tree.Dir(), "topic.txt"); got != "hello\n" {
		t.Errorf("topic.txt is %q", got)
	}
	if s, err := tree.Squash(t.Context()); err != nil || s.Base != req.Base || s.Head != req.Head {
		t.Errorf("it merges %+v, %v", s, err)
	}
	d, err := tree.Diff(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Files) != 1 || d.Files[0].Path != "topic.txt" || d.Files[0].Status != "added" || d.Files[0].Added != 1 {
		t.Errorf("diff is %+v", d)
	}

	writeTest(t, filepath.Join(tree.Dir(), "new.txt"), "new\n")
	sha := commit(t, tree, "Add a file\n\nBecause.\n")
	if got := run(t, tree.Dir(), "git", "log", "-1",
		"--format=%an %ae %cn %B"); got != "Octo Cat octocat@example.com Octo Cat Add a file\n\nBecause." {
		t.Errorf("commit is %q", got)
	}
	if _, err := tree.Commit(t.Context(), "again", me); err == nil {
		t.Error("an empty commit was made")
	} else {
		wantErr(t, err, ErrNothingToCommit)
	}
	must(t, push(t, tree, "topic", req.Head))
	if got := r.at("refs/heads/topic"); got != sha {
		t.Errorf("the remote is at %s, want %s", got, sha)
	}
	release(t, tree)

	req.Head = sha
	before := r.requests.Load()
	tree = acquire(t, s, req)
	if r.requests.Load() != before {
		t.Error("both commits were there, yet something was fetched")
	}
	release(t, tree)
	if got := leftovers(t, s); len(got) != 0 {
		t.Errorf("a clean life left %v", got)
	}
	must(t, s.Remove(t.Context(), "acme/app", 12, "author"))
	if exists(tree.Dir()) {
		t.Error("the tree is still there")
	}
	if err := s.Remove(t.Context(), "acme/app", 12, "author"); err != nil {
		t.Errorf("removing what is gone: %v", err)
	}
}

// TestBranchesThatLookLikeOptions checks that git never treats the name of a branch, which anybody who can
// push chooses, as an option.
func TestBranchesThatLookLikeOptions(t *testing.T) {
	for _, name := range []string{"-c", "--", "--upload-pack=false", "--receive-pack=false", "--end-of-options"} {
		r := newRemote(t)
		req := r.pull()
		req.HeadRef = "refs/heads/" + name
		run(t, r.bare, "git", "update-ref", req.HeadRef, req.Head)
		tree := acquire(t, &Store{Root: t.TempDir()}, req)
		writeTest(t, filepath.Join(tree.Dir(), "new.txt"), "new\n")
		sha := commit(t, tree, "Add a file")
		if err := push(t, tree, name, req.Head); err != nil {
			t.Errorf("push to %s: %v", name, err)
		} else if got := r.at(req.HeadRef); got != sha {
			t.Errorf("%s is at %s, want %s", name, got, sha)
		}
		release(t, tree)
	}
}

func TestAcquireSetsLeftoversAside(t *testing.T) {
	_, req, s, tree := acquired(t)
	writeTest(t, filepath.Join(tree.Dir(), "committed.txt"), "kept\n")
	lost := commit(t, tree, "never pushed")
	writeTest(t, filepath.Join(tree.Dir(), "topic.txt"), "edited\n")
	writeTest(t, filepath.Join(tree.Dir(), "untracked.txt"), "precious\n")
	writeTest(t, filepath.Join(tree.Dir(), ".gitignore"), "*.o\n")
	writeTest(t, filepath.Join(tree.Dir(), "build.o"), "rubbish\n")
	run(t, tree.Dir(), "git", "checkout", "-q", "-b", "wandered-off")
	release(t, tree)

	tree = acquire(t, s, req)
	if got := read(t, tree.Dir(), "topic.txt"); got != "hello\n" {
		t.Errorf("topic.txt is %q", got)
	}
	if at, err := tree.Head(t.Context()); err != nil || at != req.Head {
		t.Errorf("head is %s, %v", at, err)
	}
	entries, err := os.ReadDir(tree.Dir())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if !slices.Equal(names, []string{".git", "main.txt", "topic.txt"}) {
		t.Errorf("the tree holds %v", names)
	}
	refs := leftovers(t, s)
	if len(refs) != 2 {
		t.Fatalf("set aside: %v, want the commit and the changes", refs)
	}
	if got := run(t, tree.Dir(), "git", "rev-parse", refs[0]); got != lost {
		t.Errorf("the first leftover is %s, want the unpushed commit %s", got, lost)
	}
	if got := run(t, tree.Dir(), "git", "show", refs[1]+":untracked.txt"); got != "precious" {
		t.Errorf("the untracked file was kept as %q", got)
	}
}

func TestAcquireTellsWhatWentWrong(t *testing.T) {
	r := newRemote(t)
	req := r.pull()
	s := &Store{Root: t.TempDir()}
	for name, c := range map[string]struct {
		change func(*Request)
		says   string
	}{
		"no token":        {func(q *Request) { q.Remote.Authorization = "" }, "authentication failed (401)"},
		"wrong token":     {func(q *Request) { q.Remote.Authorization = "Basic d3Jvbmc6dG9rZW4=" }, "authentication failed (401)"},
		"no repository":   {func(q *Request) { q.Remote.URL = strings.Replace(r.url, "app", "nope", 1) }, "token may see it"},
		"not reachable":   {func(q *Request) { q.Remote.URL = "http://127.0.0.1:1/acme/app.git" }, "cannot be reached"},
		"password in URL": {func(q *Request) { q.Remote.URL = "http://u:hunter2@127.0.0.1/x" }, "set Authorization instead"},
		"ssh":             {func(q *Request) { q.Remote.URL = "ssh://git@127.0.0.1/x" }, "must be https, http or file"},
		"escaping name":   {func(q *Request) { q.Repo = "acme/.." }, "must be owner/name"},
		"refspec":         {func(q *Request) { q.HeadRef = "refs/heads/a:refs/heads/b" }, "full ref name"},
		"short SHA":       {func(q *Request) { q.Head = "abc123" }, "full SHA"},
		"option as ref":   {func(q *Request) { q.BaseRef = "--upload-pack=evil" }, "full ref name"},
	} {
		t.Run(name, func(t *testing.T) {
			bad := req
			c.change(&bad)
			_, err := s.Acquire(t.Context(), bad)
			if err == nil {
				t.Fatal("no error")
			}
			t.Log(err)
			if !strings.Contains(err.Error(), c.says) {
				t.Errorf("error does not say %q", c.says)
			}
			for _, word := range []string{secret, "d3Jvbmc6dG9rZW4", "hunter2"} {
				if strings.Contains(err.Error(), word) {
					t.Error("the error holds a secret")
				}
			}
		})
	}
	if entries, _ := filepath.Glob(filepath.Join(s.Root, "acme", "app", "mirror.git")); len(entries) != 0 {
		t.Error("a failed first fetch left a mirror behind")
	}
}

func TestAcquireOfMovedHead(t *testing.T) {
	r := newRemote(t)
	req := r.pull()
	r.git("commit", "-q", "--amend", "-m", "rewritten")
	r.commit("refs/heads/topic")
	s := &Store{Root: t.TempDir()}
	_, err := s.Acquire(t.Context(), req)
	wantErr(t, err, ErrHeadMoved)
	r.git("push", "-q", r.bare, ":refs/heads/topic")
	_, err = s.Acquire(t.Context(), req)
	wantErr(t, err, ErrHeadMoved)
	t.Log(err)
}

func TestAcquireIsExclusive(t *testing.T) {
	_, req, s, tree := acquired(t)
	_, err := s.Acquire(t.Context(), req)
	wantErr(t, err, ErrBusy)
	wantErr(t, s.Remove(t.Context(), "acme/app", 12, "author"), ErrBusy)
	other := req
	other.Role = "reviewer"
	if acquire(t, s, other).Dir() == tree.Dir() {
		t.Error("two roles share a tree")
	}
	release(t, tree)
	acquire(t, s, req)
}

func TestReadFromTheObjectStore(t *testing.T) {
	r := newRemote(t)
	r.write(".touchstone/config.yaml", "mode: strict\n")
	r.write(".touchstone/guidelines/a.md", "A")
	r.write(".touchstone/guidelines/deep/b.md", "B")
	must(t, os.Symlink("/etc/passwd", filepath.Join(r.work, "link")))
	req := r.pull()
	tree := acquire(t, &Store{Root: t.TempDir()}, req)
	writeTest(t, filepath.Join(tree.Dir(), ".touchstone/config.yaml"), "mode: lax\n")
	if b, err := tree.ReadFile(t.Context(), req.Base, ".touchstone/config.yaml"); err != nil || string(b) != "mode: strict\n" {
		t.Errorf("read %q, %v", b, err)
	}
	names, err := tree.ReadDir(t.Context(), req.Base, ".touchstone/guidelines")
	if err != nil || !slices.Equal(names, []string{"a.md", "deep/"}) {
		t.Errorf("directory holds %q, %v", names, err)
	}
	for _, name := range []string{"absent", "topic.txt", "main.txt/x"} {
		_, err := tree.ReadFile(t.Context(), req.Base, name)
		wantErr(t, err, fs.ErrNotExist)
	}
	_, err = tree.ReadDir(t.Context(), req.Base, "absent")
	wantErr(t, err, fs.ErrNotExist)
	for _, name := range []string{"link", ".touchstone", "../x", "/etc/passwd", ""} {
		if b, err := tree.ReadFile(t.Context(), req.Base, name); err == nil {
			t.Errorf("reading %q gave %q", name, b)
		}
	}
}
