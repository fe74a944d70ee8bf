package change

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"testing"
	"time"

	"touchstone/guidelines"
	"touchstone/worktree"
)

// benchTree is a checkout of a repository of 50,000 files, in which a pull request changes
// so many lines in so many files.
func benchTree(b *testing.B, files, lines int) *worktree.Tree {
	b.Helper()
	r := repository{b, b.TempDir()}
	r.git("init", "-q", "-b", "main")
	fast := exec.Command("git", "fast-import", "--quiet")
	fast.Dir = r.dir
	pipe, err := fast.StdinPipe()
	if err == nil {
		err = fast.Start()
	}
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriter(pipe)
	commit := func(ref, from string, count int, text func(i, line int) string, length int) {
		fmt.Fprintf(w, "commit %s\ncommitter Octo Cat <octocat@example.com> 1700000000 +0000\ndata 6\nchange\n%s", ref, from)
		for i := range count {
			var content []byte
			for line := range length {
				content = append(content, text(i, line)...)
			}
			fmt.Fprintf(w, "M 100644 inline pkg%d/sub%d/file%d.go\ndata %d\n%s\n", i/1000, i/50%20, i, len(content), content)
		}
	}
	plain := func(i, line int) string { return fmt.Sprintf("\tuse(%d, %d)\n", i, line) }
	commit("refs/heads/main", "", 50_000, plain, 20)
	perFile := lines / files // half of them deleted, half added, as far as there are old ones
	commit("refs/heads/topic", "from refs/heads/main\n", files, func(i, line int) string {
		return fmt.Sprintf("\tuseAnother(%d, %d, \"a value\")\n", i, line)
	}, perFile-20)
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	pipe.Close()
	if err := fast.Wait(); err != nil {
		b.Fatal(err)
	}
	return r.acquire()
}

// BenchmarkUnderstand prepares what a session is shown: the diff, the tier, the rows that
// apply, the patches. Beside each run, git alone compares the same commits, which is the
// yardstick. The median of all runs counts, and the memory that the process ever held.
func BenchmarkUnderstand(b *testing.B) {
	rules, err := guidelines.Default()
	if err != nil {
		b.Fatal(err)
	}
	for _, size := range []struct{ files, lines int }{{300, 10_000}, {3_000, 300_000}} {
		b.Run(fmt.Sprintf("%dlines", size.lines), func(b *testing.B) {
			tree := benchTree(b, size.files, size.lines)
			head, err := tree.Head(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			var took, yardstick []time.Duration
			for b.Loop() {
				start := time.Now()
				diff, err := tree.Diff(b.Context())
				if err != nil {
					b.Fatal(err)
				}
				c, err := Understand(b.Context(), Source{Diff: diff, Checkout: tree.Dir(), Dir: b.TempDir()})
				if err != nil {
					b.Fatal(err)
				}
				rows := rules.RenderFor(asChange(diff.Files))
				took = append(took, time.Since(start))
				lines := 0
				for _, f := range c.Files {
					lines += f.Added + f.Deleted
				}
				if len(c.Files) != size.files || lines < size.lines*9/10 || c.Tier != Full || rows == "" {
					b.Fatalf("%d files, %d lines", len(c.Files), lines)
				}
				b.StopTimer()
				start = time.Now()
				cmd := exec.Command("git", "diff", "--no-color", tree.MergeBase(), head)
				cmd.Dir = tree.Dir()
				cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull)
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
		})
	}
}

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}
