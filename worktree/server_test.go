package worktree

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

const (
	secret        = "dG9wOnNlY3JldA=="
	authorization = "Basic " + secret
)

var me = Identity{"Octo Cat", "octocat@example.com"}

// remoteRepo is a bare repository behind git's own HTTP server, which wants a
// password, and a clone to make commits in.
type remoteRepo struct {
	t        testing.TB
	bare     string
	work     string
	url      string
	requests atomic.Int64
	// intercept, when set, may answer a request itself.
	intercept atomic.Pointer[func(http.ResponseWriter, *http.Request, http.Handler) bool]
}

func newRemote(t testing.TB) *remoteRepo {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal("git is not installed: these tests need git 2.38 or newer on PATH")
	}
	dir := t.TempDir()
	r := &remoteRepo{t: t, bare: filepath.Join(dir, "acme", "app.git"), work: filepath.Join(dir, "work")}
	initRepo(t, r.bare, "[core]\n\tbare = true\n[http]\n\treceivepack = true\n")
	initRepo(t, filepath.Join(r.work, ".git"), "[core]\n\tbare = false\n")
	// The two have their objects in common, so that a push is but the name of a commit.
	must(t, os.Symlink(filepath.Join(r.bare, "objects"), filepath.Join(r.work, ".git", "objects")))
	must(t, os.MkdirAll(filepath.Join(r.bare, "objects"), 0o755))
	backend := &cgi.Handler{Path: git, Args: []string{"http-backend"}, Stderr: io.Discard,
		Env: []string{"GIT_PROJECT_ROOT=" + dir, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=octocat"}}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		r.requests.Add(1)
		if q.Header.Get("Authorization") != authorization {
			w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
			http.Error(w, "who are you", http.StatusUnauthorized)
			return
		}
		if f := r.intercept.Load(); f != nil && (*f)(w, q, backend) {
			return
		}
		backend.ServeHTTP(w, q)
	}))
	t.Cleanup(srv.Close)
	r.url = srv.URL + "/acme/app.git"
	return r
}

// initRepo writes what git init would, but for the objects, with a configuration by which no commit
// starts a garbage collection.
func initRepo(t testing.TB, dir, config string) {
	t.Helper()
	writeTest(t, filepath.Join(dir, "HEAD"), "ref: refs/heads/main\n")
	writeTest(t, filepath.Join(dir, "config"), config+"[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n")
	for _, name := range []string{"refs", "hooks", "info"} {
		must(t, os.MkdirAll(filepath.Join(dir, name), 0o755))
	}
}

// run runs a command of the test itself, outside the package under test.
func run(t testing.TB, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, stderr.String())
	}
	return strings.TrimSpace(string(out))
}

func (r *remoteRepo) git(args ...string) string {
	r.t.Helper()
	return run(r.t, r.work, "git", args...)
}

func (r *remoteRepo) write(name, content string) {
	r.t.Helper()
	writeTest(r.t, filepath.Join(r.work, name), content)
}

func writeTest(t testing.TB, path, content string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, []byte(content), 0o644))
}

// commit commits everything in the clone, pushes it to the refs and returns its SHA.
func (r *remoteRepo) commit(refs ...string) string {
	r.t.Helper()
	r.git("add", "-A")
	r.git("commit", "-q", "--allow-empty", "-m", "change")
	head := r.git("rev-parse", "HEAD")
	for _, ref := range refs {
		r.put(ref, head)
	}
	return head
}

// put points a ref of the remote at a commit, as a push by force does.
func (r *remoteRepo) put(ref, sha string) {
	r.t.Helper()
	writeTest(r.t, filepath.Join(r.bare, filepath.FromSlash(ref)), sha+"\n")
}

func (r *remoteRepo) at(ref string) string {
	r.t.Helper()
	return run(r.t, r.bare, "git", "rev-parse", ref)
}

// pull makes main with one file and pull request 12 on a branch, and returns the
// request for it.
func (r *remoteRepo) pull() Request {
	r.t.Helper()
	r.write("main.txt", "one\ntwo\nthree\n")
	base := r.commit("refs/heads/main")
	r.git("checkout", "-q", "-b", "topic")
	r.write("topic.txt", "hello\n")
	head := r.commit("refs/heads/topic", "refs/pull/12/head")
	return Request{Remote: Remote{URL: r.url, Authorization: authorization}, Repo: "acme/app", Number: 12,
		Role: "author", Head: head, HeadRef: "refs/heads/topic", Base: base, BaseRef: "refs/heads/main"}
}

// must ends the test unless err is nil.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// acquired makes a remote with a pull request, and acquires the request's tree in a new store.
func acquired(t testing.TB) (*remoteRepo, Request, *Store, *Tree) {
	t.Helper()
	r := newRemote(t)
	req := r.pull()
	s := &Store{Root: t.TempDir()}
	return r, req, s, acquire(t, s, req)
}

func acquire(t testing.TB, s *Store, req Request) *Tree {
	t.Helper()
	tree, err := s.Acquire(t.Context(), req)
	if err != nil {
		t.Fatalf("acquire: %v", err)
	}
	// A test that released it already is told so by an error, which is fine here.
	t.Cleanup(func() { _ = tree.Release() })
	return tree
}

// commit commits everything in a tree, and returns the commit.
func commit(t testing.TB, tree *Tree, message string) string {
	t.Helper()
	sha, err := tree.Commit(t.Context(), message, me)
	if err != nil {
		t.Fatal(err)
	}
	return sha
}

func release(t testing.TB, tree *Tree) {
	t.Helper()
	must(t, tree.Release())
}

func read(t testing.TB, path ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func wantErr(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("error is %v, want %v", err, want)
	}
}

// leftovers are the refs under which something was set aside.
func leftovers(t testing.TB, s *Store) []string {
	t.Helper()
	h, err := s.home("acme/app")
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.repo(h, nil, nil).Output(context.Background(), "for-each-ref", "--format=%(refname)", leftoverRefs)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(out))
}

// snapshot is the tree as it is.
func snapshot(t testing.TB, tree *Tree) string {
	t.Helper()
	sha, err := tree.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return sha
}

// TestAConnectionThatBreaksInItsHandshakeIsAnOutage cuts an encrypted connection off, as a proxy or a network that fails does.
func TestAConnectionThatBreaksInItsHandshakeIsAnOutage(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Read(make([]byte, 4096))
			_ = conn.Close()
		}
	}()
	r := newRemote(t)
	req, _ := historic(t, r)
	req.Remote = Remote{URL: "https://" + listener.Addr().String() + "/acme/app.git"}
	_, err = (&Store{Root: t.TempDir()}).Acquire(t.Context(), req)
	wantErr(t, err, ErrUnavailable)
}
