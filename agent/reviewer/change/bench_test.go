//go:build unix

package change_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"touchstone/agent/impact"
	"touchstone/agent/reviewer"
	"touchstone/agent/reviewer/change"
	"touchstone/guidelines"
	"touchstone/worktree"
)

// benchTree is a checkout of a repository of 50,000 files, in which a pull request changes
// so many lines in so many files.
func benchTree(b *testing.B, files, lines int) *worktree.Tree {
	b.Helper()
	r := change.Repository{T: b, Dir: b.TempDir()}
	r.Git("init", "-q", "-b", "main")
	fast := exec.Command("git", "fast-import", "--quiet")
	fast.Dir = r.Dir
	pipe, err := fast.StdinPipe()
	if err == nil {
		err = fast.Start()
	}
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriter(pipe)
	commit := func(ref, from string, count, length int, line string) {
		fmt.Fprintf(w, "commit %s\ncommitter Octo Cat <octocat@example.com> 1700000000 +0000\ndata 6\nchange\n%s", ref, from)
		for i := range count {
			var content strings.Builder
			for n := range length {
				fmt.Fprintf(&content, line, i, n)
			}
			fmt.Fprintf(w, "M 100644 inline pkg%d/sub%d/file%d.go\ndata %d\n%s\n", i/1000, i/50%20, i, content.Len(), content.String())
		}
	}
	const old = 20 // lines of each file, all of which the change replaces
	commit("refs/heads/main", "", 50_000, old, "\tuse(%d, %d)\n")
	commit("refs/heads/topic", "from refs/heads/main\n", files, lines/files-old, "\tuseAnother(%d, %d, \"a value\") // and say why\n")
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	pipe.Close()
	if err := fast.Wait(); err != nil {
		b.Fatal(err)
	}
	return r.Acquire()
}

// prepare does all that comes before a session: the diff, the tier, the rows that apply, what
// code finds, the patches and the prompts.
func prepare(ctx context.Context, tree *worktree.Tree, rules guidelines.Set) (lines int, err error) {
	s := reviewer.Subject{Name: "The benchmark", Texts: reviewer.Texts{Title: "Change it"}, Rounds: reviewer.Rounds{Round: 1},
		Checkout: reviewer.Checkout{BaseBranch: "main", Dir: tree.Dir(), Files: tree, Index: tree.Beside(impact.IndexName)}}
	if s.Diff, err = tree.Diff(ctx); err != nil {
		return 0, err
	}
	s.Base = s.Diff.Base
	p, err := (&reviewer.Examiner{Guidelines: rules}).Prepare(ctx, s)
	if err != nil {
		return 0, err
	}
	defer p.Close(ctx)
	if prompts := p.Prompts(); len(prompts) == 0 || len(prompts[0].String()) < 1000 {
		return 0, fmt.Errorf("the prompts are %v", prompts)
	}
	for _, f := range s.Diff.Files {
		lines += f.Added + f.Deleted
	}
	return lines, nil
}

// BenchmarkPrepare is what a review costs before its session begins. Beside each run, git
// alone compares the same commits and searches the head for a word, which are the yardsticks.
// The median of all runs counts, and the memory that the process ever held. The processor's time,
// that of git's processes in it, is what it takes at most on a machine that has nothing else to do.
func BenchmarkPrepare(b *testing.B) {
	rules, err := guidelines.Default()
	if err != nil {
		b.Fatal(err)
	}
	for _, size := range []struct{ files, lines int }{{300, 10_000}, {3_000, 300_000}} {
		b.Run(fmt.Sprintf("%dlines", size.lines), func(b *testing.B) {
			tree := benchTree(b, size.files, size.lines)
			merge, err := tree.Squash(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			var took, cpu, yardstick, search []time.Duration
			for b.Loop() {
				start, used := time.Now(), processor(b)
				lines, err := prepare(b.Context(), tree, rules)
				took, cpu = append(took, time.Since(start)), append(cpu, processor(b)-used)
				if err != nil || lines < size.lines*9/10 {
					b.Fatalf("%d lines, %v", lines, err)
				}
				b.StopTimer()
				start = time.Now()
				cmd := exec.Command("git", "diff", "--no-color", merge.Base, merge.Head)
				cmd.Dir = tree.Dir()
				cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull)
				if out, err := cmd.Output(); err != nil || len(out) == 0 {
					b.Fatalf("git diff: %d bytes, %v", len(out), err)
				}
				yardstick = append(yardstick, time.Since(start))
				start = time.Now()
				cmd = exec.Command("git", "grep", "-c", "-w", "useAnother", merge.Head)
				cmd.Dir = tree.Dir()
				if out, err := cmd.Output(); err != nil || len(out) == 0 {
					b.Fatalf("git grep: %d bytes, %v", len(out), err)
				}
				search = append(search, time.Since(start))
				b.StartTimer()
			}
			var memory runtime.MemStats
			runtime.ReadMemStats(&memory)
			b.ReportMetric(float64(median(took).Microseconds())/1000, "ms")
			b.ReportMetric(float64(median(cpu).Microseconds())/1000, "ms-processor")
			b.ReportMetric(float64(median(took))/float64(median(search)), "of-one-git-grep")
			b.ReportMetric(float64(median(yardstick).Microseconds())/1000, "ms-git-diff")
			b.ReportMetric(float64(memory.Sys>>20), "MB")
		})
	}
}

// processor is the time that this process and those that it waited for had of the processor.
func processor(b *testing.B) (sum time.Duration) {
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var used syscall.Rusage
		if err := syscall.Getrusage(who, &used); err != nil {
			b.Fatal(err)
		}
		sum += time.Duration(used.Utime.Nano() + used.Stime.Nano())
	}
	return sum
}

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}
