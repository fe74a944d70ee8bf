package worktree

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"touchstone/worktree/await"
)

// benchFiles is how many files the repository of the benchmarks has.
const benchFiles = 50_000

func benchFile(i int) string { return fmt.Sprintf("pkg%d/sub%d/file%d.go", i/400, i/25%16, i) }

// benchRequests makes a repository of 50,000 files and n pull requests that change a
// file each, and a mirror that has its main branch.
func benchRequests(b *testing.B, n int) (*Store, []Request) {
	b.Helper()
	r := newRemote(b)
	random := rand.New(rand.NewPCG(1, 2))
	var stream strings.Builder
	data := func(text string) { fmt.Fprintf(&stream, "data %d\n%s\n", len(text), text) }
	commit := func(ref, from string) {
		fmt.Fprintf(&stream, "commit %s\ncommitter a <a@example.com> 1700000000 +0000\n", ref)
		data("change")
		if from != "" {
			fmt.Fprintf(&stream, "from %s\n", from)
		}
	}
	commit("refs/heads/main", "")
	for i := range benchFiles {
		fmt.Fprintf(&stream, "M 100644 inline %s\n", benchFile(i))
		var text strings.Builder
		for range 40 {
			fmt.Fprintf(&text, "func f%d() {}\n", random.Uint64())
		}
		data(text.String())
	}
	for i := range n {
		commit(fmt.Sprintf("refs/pull/%d/head", i+1), "refs/heads/main")
		fmt.Fprintf(&stream, "M 100644 inline %s\n", benchFile(400+i))
		data("changed\n")
	}
	load := exec.Command("git", "fast-import", "--quiet")
	load.Dir, load.Stdin = r.bare, strings.NewReader(stream.String())
	if out, err := load.CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	reqs := make([]Request, n)
	for i := range reqs {
		head := fmt.Sprintf("refs/pull/%d/head", i+1)
		reqs[i] = Request{Remote: Remote{URL: r.url, Authorization: authorization}, Repo: "acme/app", Number: i + 1, Role: "reviewer",
			Head: r.at(head), HeadRef: head, Base: r.at("refs/heads/main"), BaseRef: "refs/heads/main"}
	}
	s := &Store{Root: b.TempDir()}
	must(b, s.Prepare(b.Context(), reqs[0].Remote, "acme/app", "refs/heads/main"))
	return s, reqs
}

// BenchmarkAcquire measures getting a tree: of a pull request never seen before, whose commit is fetched over
// HTTP, from nothing or from the spare tree; and again, moving it to a commit that was fetched before. The
// reference is git's own worktree add in the same mirror, of a commit that is there: x-bare is the ratio.
func BenchmarkAcquire(b *testing.B) {
	s, reqs := benchRequests(b, 100)
	h, err := s.home("acme/app")
	if err != nil {
		b.Fatal(err)
	}
	next := 1
	unseen := func(*testing.B) Request {
		next++
		return reqs[next]
	}
	for _, c := range []struct {
		name  string
		ready func(b *testing.B) Request
	}{
		{"new", unseen},
		{"spare", func(b *testing.B) Request {
			must(b, s.Prepare(b.Context(), reqs[0].Remote, "acme/app", "refs/heads/main"))
			await.Until(b, "the spare tree to settle", func() bool { return h.settled(spareID) })
			return unseen(b)
		}},
		{"again", func(b *testing.B) Request {
			there, moved := reqs[0], reqs[1]
			moved.Number = there.Number
			for _, req := range []Request{moved, there} {
				tree, err := s.Acquire(b.Context(), req)
				if err != nil {
					b.Fatal(err)
				}
				release(b, tree)
			}
			return moved
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			var ours, bare time.Duration
			for b.Loop() {
				b.StopTimer()
				bare += bareWorktreeAdd(b, h, reqs[0].Base)
				if c.name == "new" && exists(h.Tree(spareID)) {
					run(b, h.Dir, "rm", "-rf", h.Tree(spareID), h.Admin(spareID))
				}
				req := c.ready(b)
				b.StartTimer()
				began := time.Now()
				tree, err := s.Acquire(b.Context(), req)
				ours += time.Since(began)
				b.StopTimer()
				if err != nil {
					b.Fatal(err)
				}
				release(b, tree)
				b.StartTimer()
			}
			b.ReportMetric(float64(ours)/float64(bare), "x-bare")
		})
	}
}

// bareWorktreeAdd is how long git alone takes for a tree, which goes again.
func bareWorktreeAdd(b *testing.B, h home, commit string) time.Duration {
	b.Helper()
	dir := filepath.Join(h.Dir, "bare")
	began := time.Now()
	run(b, h.Mirror(), "git", "worktree", "add", "-q", "--detach", dir, commit)
	took := time.Since(began)
	run(b, h.Mirror(), "git", "worktree", "remove", "--force", dir)
	return took
}

// BenchmarkReview measures what a review reads from its tree: the diff and one file.
func BenchmarkReview(b *testing.B) {
	s, reqs := benchRequests(b, 1)
	tree := acquire(b, s, reqs[0])
	for b.Loop() {
		if _, err := tree.Diff(b.Context()); err != nil {
			b.Fatal(err)
		}
		if _, err := tree.ReadFile(b.Context(), reqs[0].Base, benchFile(400)); err != nil {
			b.Fatal(err)
		}
	}
}
