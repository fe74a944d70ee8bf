package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"
)

// historic makes pull request 12 of a repository in which a file had another content in
// each of four commits, and returns the name of a content that neither side has any more.
func historic(t *testing.T, r *remoteRepo) (req Request, old string) {
	t.Helper()
	for i := range 4 {
		r.write("docs/history.txt", fmt.Sprintf("version %d\n", i))
		r.commit()
	}
	old = r.git("rev-parse", "HEAD~2:docs/history.txt")
	req = r.pull()
	r.git("checkout", "-q", "main")
	r.write("main.txt", "one\ntheirs\nthree\n")
	r.write("docs/other.txt", "from main\n")
	req.Base = r.commit("refs/heads/main")
	return req, old
}

// absent reports whether the mirror lacks an object. Asked like this, git fetches nothing.
func absent(t *testing.T, s *Store, object string) bool {
	t.Helper()
	out := run(t, filepath.Join(s.Root, "acme", "app", "mirror.git"), "git", "rev-list", "--objects", "--missing=print", "--all")
	return strings.Contains(out, "?"+object)
}

// logged is a context whose log can be read.
func logged(ctx context.Context) (context.Context, *bytes.Buffer) {
	var log bytes.Buffer
	return zerolog.New(&log).WithContext(ctx), &log
}

func TestPartialMirrorFetchesWhatIsNeeded(t *testing.T) {
	t.Parallel()
	r := newRemote(t)
	run(t, r.bare, "git", "config", "uploadpack.allowFilter", "true")
	req, old := historic(t, r)
	s := &Store{Root: t.TempDir(), Partial: PartialOn}
	tree := acquire(t, s, req)
	if !absent(t, s, old) {
		t.Fatal("the content of files nobody asked for was fetched")
	}
	if got := read(t, tree.Dir(), "docs/history.txt"); got != "version 3\n" {
		t.Errorf("checked out is %q", got)
	}
	if d, err := tree.Diff(t.Context()); err != nil || len(d.Files) != 1 || d.Files[0].Added != 1 {
		t.Errorf("diff: %+v, %v", d, err)
	}
	if got, err := tree.ReadFile(t.Context(), req.Base, "docs/other.txt"); err != nil || string(got) != "from main\n" {
		t.Errorf("read %q, %v", got, err)
	}
	if merge, err := tree.Merge(t.Context(), req.Base, "Merge main", me); err != nil || merge.Commit == "" {
		t.Errorf("merge: %+v, %v", merge, err)
	}
	writeTest(t, filepath.Join(tree.Dir(), "docs/history.txt"), "ours\n")
	if left, err := tree.ConflictMarkers(t.Context(), snapshot(t, tree)); err != nil || len(left) > 0 {
		t.Errorf("markers: %q, %v", left, err)
	}
	diff, err := tree.DiffSnapshot(t.Context(), req.Head, snapshot(t, tree))
	if err != nil {
		t.Fatal(err)
	}
	sides, err := tree.Sides(t.Context(), diff, func(p string) bool { return p == "docs/history.txt" }, 1<<20)
	if err != nil || len(sides) != 1 || string(sides[0].Before) != "version 3\n" {
		t.Errorf("sides: %+v, %v", sides, err)
	}
	if _, err := tree.Commit(t.Context(), "ours", me); err != nil {
		t.Error(err)
	}
	if err := push(t, tree, "topic", req.Head); err != nil {
		t.Error(err)
	}
	release(t, tree)
	if _, err := s.Collect(t.Context(), Limits{}); err != nil {
		t.Errorf("collect: %v", err)
	}
	req.Head = r.at("refs/heads/topic")
	tree = acquire(t, s, req)
	if _, err := tree.PatchID(t.Context()); err != nil {
		t.Error(err)
	}
	if !absent(t, s, old) {
		t.Error("something fetched all there is")
	}
}

// TestPartialMirrorWithoutItsRemote checks that missing content that cannot be fetched is an error
// immediately: there is no prompt for a password, and the file does not seem to be missing in the commit.
func TestPartialMirrorWithoutItsRemote(t *testing.T) {
	t.Parallel()
	r := newRemote(t)
	run(t, r.bare, "git", "config", "uploadpack.allowFilter", "true")
	req, _ := historic(t, r)
	s := &Store{Root: t.TempDir(), Partial: PartialOn}
	tree := acquire(t, s, req)
	fail := func(w http.ResponseWriter, _ *http.Request, _ http.Handler) bool {
		http.Error(w, "down", http.StatusServiceUnavailable)
		return true
	}
	r.intercept.Store(&fail)
	_, err := tree.ReadFile(t.Context(), req.Base, "docs/other.txt")
	wantErr(t, err, ErrUnavailable)
	if _, err = tree.Merge(t.Context(), req.Base, "Merge main", me); err == nil {
		t.Error("merged what is not there")
	}
	if strings.Contains(err.Error(), secret) {
		t.Error("the error holds the secret")
	}
	r.intercept.Store(nil)
	if _, err := tree.ReadFile(t.Context(), req.Base, "docs/other.txt"); err != nil {
		t.Errorf("when the remote is back: %v", err)
	}
}

func TestPartialMirrorOfAServerWithoutFilters(t *testing.T) {
	t.Parallel()
	r := newRemote(t)
	req, old := historic(t, r)
	s := &Store{Root: t.TempDir(), Partial: PartialOn}
	ctx, log := logged(t.Context())
	tree, err := s.Acquire(ctx, req)
	if err != nil {
		t.Fatal(err)
	}
	release(t, tree)
	if absent(t, s, old) || tree.mirror.Partial() {
		t.Error("the mirror is partial")
	}
	if !strings.Contains(log.String(), "does not offer partial clones") {
		t.Errorf("nobody is told: %s", log)
	}
}

func TestPartialAutoIsForLargeRepositories(t *testing.T) {
	t.Parallel()
	r := newRemote(t)
	run(t, r.bare, "git", "config", "uploadpack.allowFilter", "true")
	req, old := historic(t, r)
	for name, c := range map[string]struct {
		store   *Store
		partial bool
	}{
		"small":   {&Store{Root: t.TempDir()}, false},
		"refused": {&Store{Root: t.TempDir(), Partial: PartialOff, large: 1}, false},
		"large":   {&Store{Root: t.TempDir(), Partial: PartialAuto, large: 1}, true},
	} {
		// The first download of a large repository lasts until somebody has measured it.
		first := c.partial
		slow := func(_ http.ResponseWriter, q *http.Request, _ http.Handler) bool {
			if !first || q.Method != http.MethodPost {
				return false
			}
			first = false
			writeTest(t, filepath.Join(c.store.Root, "acme", "app", "mirror.new", "objects", "pack", "tmp_pack_x"), "large")
			_, _ = io.Copy(io.Discard, q.Body) // or nobody would see the client go
			<-q.Context().Done()
			return true
		}
		r.intercept.Store(&slow)
		ctx, log := logged(t.Context())
		tree, err := c.store.Acquire(ctx, req)
		if err != nil {
			t.Fatal(name, err)
		}
		release(t, tree)
		if absent(t, c.store, old) != c.partial {
			t.Errorf("%s: partial is %v", name, !c.partial)
		}
		if strings.Contains(log.String(), "only when it is needed") != c.partial {
			t.Errorf("%s: said is %q", name, log)
		}
	}
	r.intercept.Store(nil)
}

func TestPartialErrorsAreTheDownloads(t *testing.T) {
	t.Parallel()
	r := newRemote(t)
	req, _ := historic(t, r)
	req.Remote.Authorization = ""
	for _, p := range []Partial{PartialAuto, PartialOn, PartialOff} {
		_, err := (&Store{Root: t.TempDir(), Partial: p}).Acquire(t.Context(), req)
		if err == nil || errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "401") {
			t.Errorf("%s: %v", p, err)
		}
	}
}
