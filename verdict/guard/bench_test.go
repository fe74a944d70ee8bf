package guard_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"touchstone/verdict/guard"
)

// The goals are for a whole change: 100 ms for a usual one, 3 s for 635 renamed Rust files, 300 MB of memory.
// Because machines differ, each benchmark also reads the same bytes with git in the same run, and reports the
// guard's time as a multiple of git's. Run the benchmarks alone:
//
//	go test ./verdict/guard -run '^$' -bench 'Change' -benchtime 10x

// BenchmarkUsualChange examines a change of a workflow, settings, sources and tests in four languages.
func BenchmarkUsualChange(b *testing.B) {
	files := map[string][2]string{
		".github/workflows/ci.yml": edited("on: pull_request\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n",
			"      - run: go test ./part%d/...\n", "", 30),
		"pyproject.toml": edited("[tool.ruff.lint]\nselect = [\n", "  \"E%d\",\n", "]\n", 60),
	}
	for _, l := range []struct{ source, test, line, form string }{
		{"a.go", "a_test.go", "func F%[1]d() int { return %[1]d }\n",
			"func TestF%[1]d(t *testing.T) {\n\tif got := F%[1]d(); got != %[1]d {\n\t\tt.Errorf(\"got %%d\", got)\n\t}\n}\n"},
		{"a.py", "test_a.py", "def f%[1]d():\n    return %[1]d\n", "def test_f%[1]d():\n    got = f%[1]d()\n    assert got == %[1]d\n"},
		{"a.ts", "a.test.ts", "export const f%[1]d = () => %[1]d;\n",
			"test('f%[1]d', () => {\n  const got = f%[1]d();\n  expect(got).toBe(%[1]d);\n});\n"},
		{"A.java", "ATest.java", "class F%[1]d { int f() { return %[1]d; } }\n",
			"class F%[1]dTest {\n  @Test void f() {\n    assertEquals(%[1]d, new F%[1]d().f());\n  }\n}\n"},
	} {
		files[l.source], files[l.test] = edited("", l.line, "", 300), edited("", l.form, "", 100)
	}
	var change guard.Change
	for name, sides := range files {
		change.Files = append(change.Files, guard.File{Path: name, OldPath: name, Before: []byte(sides[0]), After: []byte(sides[1])})
	}
	benchmark(b, change)
}

// BenchmarkRenamedChange examines a change that moves 635 Rust files and changes a line in each.
func BenchmarkRenamedChange(b *testing.B) {
	var change guard.Change
	for i := range 635 {
		sides := edited("use crate::store;\n\n", "pub fn step%[1]d(n: u64) -> Result<u64, Error> {\n    store::get(n, %[1]d).map(|v| v + 1)\n}\n",
			fmt.Sprintf("\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn stores_%d() {\n        assert_eq!(super::step1(1).unwrap(), %d);\n    "+
				"}\n}\n", i, i), 120)
		change.Files = append(change.Files, guard.File{OldPath: fmt.Sprintf("src/old/file%d.rs", i), Path: fmt.Sprintf("src/new/file%d.rs", i),
			Before: []byte(sides[0]), After: []byte(sides[1])})
	}
	benchmark(b, change)
}

// edited returns a text of n numbered parts, and the same text with one part doubled.
func edited(head, part, foot string, n int) (sides [2]string) {
	var parts []string
	for i := range n {
		parts = append(parts, fmt.Sprintf(part, i))
	}
	for i := range sides {
		sides[i] = head + strings.Join(parts, "") + strings.Repeat(fmt.Sprintf(part, n), i) + foot
	}
	return sides
}

func benchmark(b *testing.B, change guard.Change) {
	read := objects(b, change)
	var examining, reading time.Duration
	for b.Loop() {
		started := time.Now()
		guard.Examine(change)
		examining += time.Since(started)
		started = time.Now()
		read()
		reading += time.Since(started)
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(examining.Milliseconds())/float64(b.N), "ms/change")
	b.ReportMetric(float64(examining)/float64(reading), "x-reading-with-git")
	b.ReportMetric(float64(m.Sys)/(1<<20), "MB-held")
}

// objects stores all sides of a change in a repository, and returns a function that reads them from there.
func objects(b *testing.B, change guard.Change) (read func()) {
	dir, git := b.TempDir(), func(in io.Reader, args ...string) []byte {
		cmd := exec.Command("git", args...)
		cmd.Stdin, cmd.Stderr = in, os.Stderr
		out, err := cmd.Output()
		if err != nil {
			b.Fatal(err)
		}
		return out
	}
	at := "--git-dir=" + filepath.Join(dir, "objects.git")
	git(nil, "init", "--quiet", "--bare", filepath.Join(dir, "objects.git"))
	var paths []string
	for i, f := range change.Files {
		for side, content := range [][]byte{f.Before, f.After} {
			path := filepath.Join(dir, fmt.Sprintf("%d-%d", i, side))
			if err := os.WriteFile(path, content, 0o600); err != nil {
				b.Fatal(err)
			}
			paths = append(paths, path)
		}
	}
	names := git(strings.NewReader(strings.Join(paths, "\n")), at, "hash-object", "-w", "--no-filters", "--stdin-paths")
	return func() { git(bytes.NewReader(names), at, "cat-file", "--batch") }
}
