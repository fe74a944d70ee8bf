package impact

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// BenchmarkSheet makes the sheet of a change of 20 functions in a repository of 10,000 files of 60 lines,
// with the index of an earlier review. The reference for each run is one git grep for one of the names.
func BenchmarkSheet(b *testing.B) {
	const files, functions = 10_000, 20
	before, after := map[string]string{}, map[string]string{}
	var body strings.Builder
	for line := range 55 {
		fmt.Fprintf(&body, "    value_%d = compute(value_%d, \"text %d\")\n", line, line+1, line)
	}
	for i := range files {
		before[fmt.Sprintf("p%d/f%d.py", i/100, i)] = fmt.Sprintf("from p0 import changed_%d\n\ndef own_%d():\n    changed_%d()\n%s",
			i%functions, i, i%functions, body.String())
	}
	for i := range functions {
		name := fmt.Sprintf("p0/changed_%d.py", i)
		before[name] = fmt.Sprintf("def changed_%d():\n    return 1\n", i)
		after[name] = fmt.Sprintf("def changed_%d(n):\n    return n\n", i)
	}
	tree := changing(b, before, after)
	index := tree.Beside(IndexName)
	sheetOf(b, tree, index) // which keeps the index
	var took, yardstick time.Duration
	size := 0
	for b.Loop() {
		start := time.Now()
		s := sheetOf(b, tree, index)
		took += time.Since(start)
		b.StopTimer()
		size = len(s.Text(same, same))
		start = time.Now()
		grep := exec.Command("git", "grep", "-nw", "changed_7")
		grep.Dir = tree.Dir()
		if out, err := grep.Output(); err != nil || len(out) == 0 {
			b.Fatal(err)
		}
		yardstick += time.Since(start)
		b.StartTimer()
	}
	b.ReportMetric(float64(took)/float64(yardstick), "of-one-git-grep")
	b.ReportMetric(float64(took.Milliseconds())/float64(b.N), "ms")
	b.ReportMetric(float64(size)/1024, "KiB")
}
