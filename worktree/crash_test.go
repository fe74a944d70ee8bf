package worktree

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"touchstone/worktree/await"
)

// helperEnv carries a Store's root and a Request to a child of the test binary,
// which acquires that tree, says so, and waits to be killed.
const helperEnv = "WORKTREE_TEST_ACQUIRE"

type helperTask struct {
	Root    string
	Request Request
}

func TestMain(m *testing.M) {
	if text := os.Getenv(helperEnv); text != "" {
		os.Exit(helper(text))
	}
	os.Exit(m.Run())
}

func helper(text string) int {
	var task helperTask
	if err := json.Unmarshal([]byte(text), &task); err != nil {
		return 2
	}
	if _, err := (&Store{Root: task.Root}).Acquire(context.Background(), task.Request); err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("acquired")
	_, _ = io.Copy(io.Discard, os.Stdin) // until the test kills it, or is gone itself
	return 0
}

// startHelper starts such a child; its output arrives in the returned file.
func startHelper(t *testing.T, s *Store, req Request) (*exec.Cmd, string) {
	t.Helper()
	text, err := json.Marshal(helperTask{s.Root, req})
	if err != nil {
		t.Fatal(err)
	}
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), helperEnv+"="+string(text))
	cmd.Stdout, cmd.Stderr = out, out
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may be dead already
		_ = out.Close()
	})
	return cmd, out.Name()
}

func kill(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	must(t, cmd.Process.Kill())
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) {
		t.Fatalf("the killed child ended with %v", err)
	}
}

// acquireSoon acquires once nobody holds the tree any more.
func acquireSoon(t *testing.T, s *Store, req Request) *Tree {
	t.Helper()
	var tree *Tree
	await.Until(t, "the tree to be free", func() bool {
		var err error
		tree, err = s.Acquire(t.Context(), req)
		if err != nil && !errors.Is(err, ErrBusy) {
			t.Fatal(err)
		}
		return err == nil
	})
	t.Cleanup(func() { _ = tree.Release() })
	return tree
}

func TestLockDiesWithItsHolder(t *testing.T) {
	r := newRemote(t)
	req := r.pull()
	s := &Store{Root: t.TempDir()}
	child, out := startHelper(t, s, req)
	await.Until(t, "the child to acquire", func() bool { return read(t, out) == "acquired\n" })
	_, err := s.Acquire(t.Context(), req)
	wantErr(t, err, ErrBusy)
	kill(t, child)
	h, err := s.home("acme/app")
	if err != nil {
		t.Fatal(err)
	}
	// What a git that was killed with it leaves behind.
	for _, path := range []string{filepath.Join(h.Admin("12-author"), "index.lock"),
		filepath.Join(h.Admin("12-author"), "HEAD.lock"), filepath.Join(h.refDir("12-author"), "head.lock")} {
		writeTest(t, path, "")
	}
	writeTest(t, filepath.Join(h.Tree("12-author"), "topic.txt"), "half written")
	req.Head = r.at("refs/heads/topic")
	tree := acquire(t, s, req)
	if read(t, tree.Dir(), "topic.txt") != "hello\n" {
		t.Error("the tree is not at its head")
	}
	if broken, err := filepath.Glob(h.Tree("broken-*")); err != nil || len(broken) > 0 {
		t.Errorf("the tree was given up instead of repaired: %v, %v", broken, err)
	}
	if refs := leftovers(t, s); len(refs) != 1 {
		t.Errorf("set aside: %v, want the half written file", refs)
	}
}

// TestGitOutlivesItsKilledParent checks that the tree stays in use as long as a git of the killed process
// works in it.
func TestGitOutlivesItsKilledParent(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("git children do not inherit the lock on Windows")
	}
	r := newRemote(t)
	req := r.pull()
	s := &Store{Root: t.TempDir()}
	release(t, acquire(t, s, req))
	r.write("topic.txt", "second\n")
	req.Head = r.commit("refs/heads/topic")

	reached, carryOn := make(chan struct{}), make(chan struct{})
	var once sync.Once
	resume := sync.OnceFunc(func() { close(carryOn) })
	t.Cleanup(resume) // or the server would wait for its requests for ever
	hold := func(http.ResponseWriter, *http.Request, http.Handler) bool {
		once.Do(func() { close(reached) })
		<-carryOn
		return false
	}
	r.intercept.Store(&hold)
	child, out := startHelper(t, s, req)
	select {
	case <-reached:
	case <-time.After(await.Patience):
		t.Fatalf("the child fetches nothing: %s", read(t, out))
	}
	kill(t, child)
	_, err := s.Acquire(t.Context(), req)
	wantErr(t, err, ErrBusy)
	resume()
	tree := acquireSoon(t, s, req)
	if got := read(t, tree.Dir(), "topic.txt"); got != "second\n" {
		t.Errorf("topic.txt is %q", got)
	}
}

// TestKilledAnywhere kills Acquire at regular times, in steps of some milliseconds, from the first fetch to
// the last checkout.
func TestKilledAnywhere(t *testing.T) {
	r := newRemote(t)
	for i := range 300 {
		r.write(fmt.Sprintf("dir%d/file%d", i%20, i), fmt.Sprint(i))
	}
	req := r.pull()
	s := &Store{Root: t.TempDir()}
	for i := range 12 {
		for j := range 100 {
			r.write(fmt.Sprintf("dir%d/file%d", j%20, j), fmt.Sprint(i, j))
		}
		req.Head = r.commit("refs/heads/topic")
		child, _ := startHelper(t, s, req)
		// This awaits no condition: the pauses spread the kills over an Acquire, and the outcome must not depend on
		// what each of them hits.
		<-time.After(time.Duration(i) * 10 * time.Millisecond)
		kill(t, child)
		tree := acquireSoon(t, s, req)
		if got := run(t, tree.Dir(), "git", "status", "--porcelain", "--ignored"); got != "" {
			t.Fatalf("killed after %d ms, the tree differs from its head:\n%s", 10*i, got)
		}
		if got := run(t, tree.Dir(), "git", "rev-parse", "HEAD"); got != req.Head {
			t.Fatalf("killed after %d ms, the tree is at %s, want %s", 10*i, got, req.Head)
		}
		run(t, tree.Dir(), "git", "fsck", "--connectivity-only")
		release(t, tree)
		if i%4 == 0 { // so that new trees are met as well
			must(t, s.Remove(t.Context(), "acme/app", 12, "author"))
		}
	}
}

func TestCancelStopsGit(t *testing.T) {
	r := newRemote(t)
	req := r.pull()
	reached, left := make(chan struct{}), make(chan struct{})
	hang := func(_ http.ResponseWriter, q *http.Request, _ http.Handler) bool {
		if q.Method != http.MethodPost {
			return false
		}
		// The server notices that a client has left once the body is read.
		if _, err := io.Copy(io.Discard, q.Body); err == nil {
			close(reached)
			<-q.Context().Done()
		}
		close(left)
		return true
	}
	r.intercept.Store(&hang)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-reached
		cancel()
	}()
	s := &Store{Root: t.TempDir()}
	_, err := s.Acquire(ctx, req)
	wantErr(t, err, context.Canceled)
	select {
	case <-left:
	case <-time.After(await.Patience):
		t.Fatal("git still holds its connection")
	}
	r.intercept.Store(nil)
	acquireSoon(t, s, req)
}

// Git ends a fetch with the same error if a worktree's HEAD points nowhere as if the worktree is renamed between
// the moments in which git lists it and reads it.
func TestFetchWhileAnotherWorktreeIsRenamed(t *testing.T) {
	r := newRemote(t)
	s := &Store{Root: t.TempDir()}
	req := r.pull()
	tree := acquireSoon(t, s, req)
	renamed := filepath.Join(tree.home.Mirror(), "worktrees", "new-2-author")
	release(t, tree)
	var fetches atomic.Int32
	disturb := func(_ http.ResponseWriter, request *http.Request, _ http.Handler) bool {
		if request.Method == http.MethodPost {
			return false
		}
		if fetches.Add(1) == 1 {
			writeTest(t, filepath.Join(renamed, "HEAD"), strings.Repeat("1", 40)+"\n")
			writeTest(t, filepath.Join(renamed, "commondir"), "../..\n")
			writeTest(t, filepath.Join(renamed, "gitdir"), filepath.Join(tree.Dir(), ".git")+"\n")
		} else if err := os.RemoveAll(renamed); err != nil {
			t.Error(err)
		}
		return false
	}
	r.intercept.Store(&disturb)
	req.Head = r.commit(req.HeadRef)
	acquireSoon(t, s, req)
	if fetches.Load() != 2 {
		t.Errorf("%d fetches", fetches.Load())
	}
}

func TestManyPullRequestsAtOnce(t *testing.T) {
	r := newRemote(t)
	first := r.pull()
	var reqs []Request
	for n := 1; n <= 6; n++ {
		r.git("checkout", "-q", "--detach", first.Base)
		r.write("own.txt", fmt.Sprintf("pull request %d\n", n))
		ref := fmt.Sprintf("refs/pull/%d/head", n)
		req := first
		req.Head, req.HeadRef, req.Number = r.commit(ref), ref, n
		for _, req.Role = range []string{"author", "reviewer"} {
			reqs = append(reqs, req)
		}
	}
	s := &Store{Root: t.TempDir()}
	var wg sync.WaitGroup
	for _, req := range reqs {
		wg.Go(func() {
			for range 2 {
				tree, err := s.Acquire(t.Context(), req)
				if err != nil {
					t.Errorf("%d-%s: %v", req.Number, req.Role, err)
					return
				}
				got, err := os.ReadFile(filepath.Join(tree.Dir(), "own.txt"))
				if err != nil || string(got) != fmt.Sprintf("pull request %d\n", req.Number) {
					t.Errorf("%d-%s holds %q, %v", req.Number, req.Role, got, err)
				}
				err = os.WriteFile(filepath.Join(tree.Dir(), "left.txt"), []byte(req.Role), 0o644)
				if err = errors.Join(err, tree.Release()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

// TestPrepareAfterAKilledFetch finds the lock of a ref that a killed git left.
func TestPrepareAfterAKilledFetch(t *testing.T) {
	req := newRemote(t).pull()
	s := &Store{Root: t.TempDir()}
	tree := acquire(t, s, req)
	writeTest(t, filepath.Join(tree.home.refDir(spareID), "base.lock"), "")
	if err := s.Prepare(t.Context(), req.Remote, req.Repo, "refs/heads/main"); err != nil || !exists(tree.home.Tree(spareID)) {
		t.Errorf("the spare tree is there: %v, %v", exists(tree.home.Tree(spareID)), err)
	}
}

func TestSpareTree(t *testing.T) {
	r := newRemote(t)
	req := r.pull()
	s := &Store{Root: t.TempDir()}
	for range 2 {
		must(t, s.Prepare(t.Context(), req.Remote, "acme/app", "refs/heads/main"))
	}
	h, err := s.home("acme/app")
	if err != nil {
		t.Fatal(err)
	}
	spare, err := os.Stat(h.Tree(spareID))
	if err != nil {
		t.Fatal(err)
	}
	await.Until(t, "the spare tree to settle", func() bool { return h.settled(spareID) })
	tree := acquire(t, s, req)
	if got, err := os.Stat(tree.Dir()); err != nil || !os.SameFile(got, spare) {
		t.Errorf("the spare tree was not taken: %v", err)
	}
	if got := run(t, tree.Dir(), "git", "status", "--porcelain"); got != "" {
		t.Errorf("the tree differs from its head: %s", got)
	}
	if got := run(t, tree.Dir(), "git", "rev-parse", "HEAD"); got != req.Head {
		t.Errorf("the tree is at %s", got)
	}
	// A dirty tree is emptied before it serves another pull request.
	writeTest(t, filepath.Join(tree.Dir(), "mine.txt"), "private\n")
	release(t, tree)
	must(t, s.Remove(t.Context(), "acme/app", 12, "author"))
	if refs := leftovers(t, s); len(refs) != 1 || !strings.Contains(refs[0], "/12-author/") {
		t.Errorf("set aside: %v", refs)
	}
	req.Number = 13
	other := acquire(t, s, req)
	if got, err := os.Stat(other.Dir()); err != nil || !os.SameFile(got, spare) {
		t.Errorf("the retired tree was not taken: %v", err)
	}
	if exists(filepath.Join(other.Dir(), "mine.txt")) {
		t.Error("one pull request's file is in another's tree")
	}
}
