package worktree

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
)

// benchRequests makes a repository of 10,000 files and n pull requests that
// change a file each, all present in a warm mirror.
func benchRequests(b *testing.B, n int) (*Store, []Request) {
	b.Helper()
	r := newRemote(b)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 10_000 {
		var text strings.Builder
		for range 40 {
			fmt.Fprintf(&text, "func f%d() {}\n", random.Uint64())
		}
		r.write(fmt.Sprintf("pkg%d/sub%d/file%d.go", i/400, i/25%16, i), text.String())
	}
	base := r.commit("refs/heads/main")
	reqs := make([]Request, n)
	for i := range reqs {
		r.git("checkout", "-q", "--detach", base)
		r.write(fmt.Sprintf("pkg1/sub0/file%d.go", 400+i), "changed\n")
		head := r.commit(fmt.Sprintf("refs/pull/%d/head", i+1))
		reqs[i] = Request{Remote: Remote{URL: r.url, Authorization: authorization}, Repo: "acme/app", Number: i + 1, Role: "reviewer",
			Head: head, HeadRef: fmt.Sprintf("refs/pull/%d/head", i+1), Base: base, BaseRef: "refs/heads/main"}
	}
	s := &Store{Root: b.TempDir()}
	if err := s.Prepare(b.Context(), reqs[0].Remote, "acme/app", "refs/heads/main"); err != nil {
		b.Fatal(err)
	}
	return s, reqs
}

// BenchmarkBareWorktreeAdd is the yardstick: git alone, the commit already fetched.
func BenchmarkBareWorktreeAdd(b *testing.B) {
	s, reqs := benchRequests(b, 1)
	h, err := s.home("acme/app")
	if err != nil {
		b.Fatal(err)
	}
	dir := b.TempDir()
	for i := 0; b.Loop(); i++ {
		run(b, h.mirror(), "git", "worktree", "add", "-q", "--detach", filepath.Join(dir, fmt.Sprint(i)), reqs[0].Base)
	}
}

// BenchmarkAcquireNew takes a tree for a pull request never seen before, its
// commit fetched over HTTP; once from the spare tree, once from nothing.
func BenchmarkAcquireNew(b *testing.B) {
	for _, spare := range []bool{true, false} {
		b.Run(fmt.Sprintf("spare=%v", spare), func(b *testing.B) {
			s, reqs := benchRequests(b, 40)
			for i := 0; b.Loop(); i++ {
				req := reqs[i%len(reqs)]
				b.StopTimer()
				h, err := s.home(req.Repo)
				if err != nil {
					b.Fatal(err)
				}
				if spare {
					err = s.Prepare(b.Context(), req.Remote, req.Repo, req.BaseRef)
				} else if exists(h.tree(spareID)) {
					err = h.rename(spareID, fmt.Sprintf("used-%d", i))
				}
				if err != nil {
					b.Fatal(err)
				}
				if spare {
					eventually(b, "the spare tree to settle", func() bool { return h.settled(spareID) })
				}
				b.StartTimer()
				tree, err := s.Acquire(b.Context(), req)
				if err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				release(b, tree)
				b.StartTimer()
			}
		})
	}
}

// BenchmarkAcquireAgain moves an existing tree to another commit, already fetched.
func BenchmarkAcquireAgain(b *testing.B) {
	s, reqs := benchRequests(b, 2)
	for i := range reqs {
		tree, err := s.Acquire(b.Context(), reqs[i])
		if err != nil {
			b.Fatal(err)
		}
		release(b, tree)
	}
	for i := 0; b.Loop(); i++ {
		req := reqs[i%2]
		req.Number = 1
		tree, err := s.Acquire(b.Context(), req)
		if err != nil {
			b.Fatal(err)
		}
		release(b, tree)
	}
}

// BenchmarkReview is what a review asks of a tree it holds: the diff and one file.
func BenchmarkReview(b *testing.B) {
	s, reqs := benchRequests(b, 1)
	tree := acquire(b, s, reqs[0])
	for b.Loop() {
		if _, err := tree.Diff(b.Context()); err != nil {
			b.Fatal(err)
		}
		if _, err := tree.ReadFile(b.Context(), reqs[0].Base, "pkg1/sub0/file400.go"); err != nil {
			b.Fatal(err)
		}
	}
}
