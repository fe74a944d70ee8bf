package reviewer_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"touchstone/agent/reviewer"
	"touchstone/guidelines"
	"touchstone/worktree"
)

// treeOf is a checkout of a repository of so many files, made by a git, in which a pull request
// changes so many lines in so many of them.
func treeOf(b testing.TB, binary string, all, files, lines int) *worktree.Tree {
	b.Helper()
	dir := b.TempDir()
	git := func(args ...string) string {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
		out, err := cmd.Output()
		if err != nil {
			b.Fatalf("git %s: %v", args[0], err)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "-q", "-b", "main")
	fast := exec.Command("git", "fast-import", "--quiet")
	fast.Dir = dir
	pipe, err := fast.StdinPipe()
	if err == nil {
		err = fast.Start()
	}
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriter(pipe)
	commit := func(ref, from, call string, files, lines int) {
		fmt.Fprintf(w, "commit %s\ncommitter Octo Cat <octocat@example.com> 1700000000 +0000\ndata 6\nchange\n%s", ref, from)
		for i := range files {
			var text strings.Builder
			for line := range lines {
				fmt.Fprintf(&text, "\t%s(%d, %d)\n", call, i, line)
			}
			fmt.Fprintf(w, "M 100644 inline pkg%d/sub%d/file%d.go\ndata %d\n%s\n", i/1000, i/50%20, i, text.Len(), text.String())
		}
	}
	const before = 20 // lines of each file, all of them replaced
	commit("refs/heads/main", "", "use", all, before)
	commit("refs/heads/topic", "from refs/heads/main\n", "useAnother", files, lines/files-before)
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	pipe.Close()
	if err := fast.Wait(); err != nil {
		b.Fatal(err)
	}
	store := &worktree.Store{Root: b.TempDir(), Git: binary}
	tree, err := store.Acquire(b.Context(), worktree.Request{
		Remote: worktree.Remote{URL: "file://" + filepath.ToSlash(dir)}, Repo: "acme/app", Number: 1, Role: "reviewer",
		Head: git("rev-parse", "topic"), HeadRef: "refs/heads/topic", Base: git("rev-parse", "main"), BaseRef: "refs/heads/main",
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = tree.Release() })
	return tree
}

// BenchmarkPrepare is all that happens before a session begins: the diff, what code
// finds in it, the tier, the rows, the patches, the prompt. The yardstick beside
// each run is git comparing the same commits.
func BenchmarkPrepare(b *testing.B) {
	rules, err := guidelines.Default()
	if err != nil {
		b.Fatal(err)
	}
	e := reviewer.Examiner{Guidelines: rules, TempDir: b.TempDir()}
	for _, size := range []struct{ files, lines int }{{300, 10_000}, {3_000, 300_000}} {
		b.Run(fmt.Sprintf("%dlines", size.lines), func(b *testing.B) { prepare(b, e, treeOf(b, "", 50_000, size.files, size.lines)) })
	}
}

func prepare(b *testing.B, e reviewer.Examiner, tree *worktree.Tree) {
	var took, yardstick []time.Duration
	size := 0
	for b.Loop() {
		start := time.Now()
		diff, err := tree.Diff(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		p, err := e.Prepare(b.Context(), reviewer.Subject{Texts: reviewer.Texts{Title: "Change it"}, Rounds: reviewer.Rounds{Round: 1},
			Checkout: reviewer.Checkout{Base: diff.Base, Diff: diff, Dir: tree.Dir(), Files: tree}})
		if err != nil {
			b.Fatal(err)
		}
		size = 0
		for _, prompt := range p.Prompts() {
			size += len(prompt.String())
		}
		took = append(took, time.Since(start))
		b.StopTimer()
		p.Close(b.Context())
		start = time.Now()
		cmd := exec.Command("git", "diff", "--no-color", diff.Base, diff.Head)
		cmd.Dir = tree.Dir()
		if out, err := cmd.Output(); err != nil || len(out) == 0 {
			b.Fatal(err)
		}
		yardstick = append(yardstick, time.Since(start))
		b.StartTimer()
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	b.ReportMetric(float64(median(took).Microseconds())/1000, "ms")
	b.ReportMetric(float64(median(yardstick).Microseconds())/1000, "ms-git-diff")
	b.ReportMetric(float64(memory.Sys>>20), "MB")
	b.ReportMetric(float64(size), "prompt-bytes")
}

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}
