package guard_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"touchstone/verdict/guard"
)

// numbered repeats a part with numbers from a first one on.
func numbered(part string, first, n int) string {
	var all strings.Builder
	for i := range n {
		all.WriteString(strings.ReplaceAll(part, "#", fmt.Sprint(first+i)))
	}
	return all.String()
}

// chain returns targets that each need the next two.
func chain(command string, n int) string {
	var all strings.Builder
	for i := range n {
		fmt.Fprintf(&all, "t%d: t%d t%d\n\t%s ./%d\n", i, i+1, i+2, command, i)
	}
	return all.String()
}

// allocated is what work allocates in bytes, most of which are free again. It stands for the work itself, since it does not
// depend on the machine.
func allocated(work func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	work()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// What a change costs does not grow with the square of what somebody writes into one file: twice as much costs about twice
// as much.
func TestWorkGrowsWithTheSizeOfAChange(t *testing.T) {
	cpp := func(body string) string { return "TEST(A, B) {\n" + body + "}\n" }
	for name, tt := range map[string]struct {
		path  string
		n     int // of parts
		write func(n int) (before, after string)
	}{
		"rules for contributors": {"AGENTS.md", 700, func(n int) (before, after string) {
			return numbered("- You must run check# here.\n", 0, n), numbered("- You may run check# there.\n", 5000, n)
		}},
		"targets that each need the next one": {"Makefile", 250, func(n int) (before, after string) {
			return "test: t0 t1\n" + chain("go test", n), "test: t0\n" + chain("echo", n)
		}},
		"variables that hold each other": {"Makefile", 50_000, func(n int) (before, after string) {
			return "test:\n\tgo test ./...\n",
				"B = " + strings.Repeat("b ", n) + "\nA = " + strings.Repeat("$(B)", n/50) + "\ntest:\n\t$(A)\n"
		}},
		"blocks within each other": {"a.hcl", 12, func(n int) (before, after string) {
			var block strings.Builder
			for i := range n {
				fmt.Fprintf(&block, "%sa%d = {\n", strings.Repeat(" ", i), i)
			}
			block.WriteString(strings.Repeat(" ", n))
			return block.String() + "b = c\ntest = true\n", block.String() + "b = d\ntest = false\n"
		}},
		"many targets of one recipe": {"Makefile", 2000, func(n int) (before, after string) {
			return "test:\n\tgo test ./...\n", strings.Repeat("t ", n) + "test:\n" + strings.Repeat("\tx\n", n/20)
		}},
		"many other names in a test": {"tests/a_test.cc", 1500, func(n int) (before, after string) {
			return cpp(numbered("  EXPECT_EQ(f(#), was# + was#);\n", 0, n)), cpp(numbered("  EXPECT_EQ(f(#), is# + is#);\n", 0, n))
		}},
		"an import of many names": {"tests/test_a.py", 3000, func(n int) (before, after string) {
			const test = ")\n\ndef test_a():\n    assert a() == "
			return "from a import (" + numbered("is#, ", 0, n) + test + "1\n", "from a import (" + numbered("is#.", 0, n) + test + "2\n"
		}},
		"many tests are gone": {"tests/a_test.cc", 1500, func(n int) (before, after string) {
			return numbered("TEST(A, Was#) {\n  EXPECT_EQ(f(#), 1);\n}\n", 0, n),
				numbered("TEST(A, Is#) {\n  EXPECT_TRUE(g(#), 2);\n}\n", 0, n)
		}},
		"many targets that need many others": {"Makefile", 2000, func(n int) (before, after string) {
			return "test:\n\tgo test ./...\n", numbered("t# ", 0, n) + ":" + numbered(" n#", 0, n) + "\n"
		}},
		"many calls of a long chain": {"Makefile", 2000, func(n int) (before, after string) {
			return "test:\n\tgo test ./...\n", strings.ReplaceAll(chain("x", n), "\tx", "#") + numbered("u#:\n\tmake t0\n", 0, n)
		}},
		"many lines of one check": {"Makefile", 1500, func(n int) (before, after string) {
			return "test:\n\tgo test ./...\n", "test:\n" + numbered("\tgo test ./x#\n", 0, n)
		}},
		"many commands of one target": {"Makefile", 4000, func(n int) (before, after string) {
			return "test:\n" + numbered("\t./run -n #\n", 0, n), "test:\n" + numbered("\t./run -n #\n", 1, n-1)
		}},
		"many checks are gone": {"Makefile", 1500, func(n int) (before, after string) {
			return "test:\n" + numbered("\t./check-#.sh\n", 0, n), "test:\n" + numbered("\t./check-#.sh\n", n, n)
		}},
		"a list that loses most of what it has": {"BannedSymbols.txt", 500, func(n int) (before, after string) {
			return numbered("M:Pay.Run#\n", 0, n), "M:Pay.Run0\n"
		}},
		"many rules that are ignored": {"ruff.toml", 500, func(n int) (before, after string) {
			const chosen = "[lint]\nselect = ["
			return chosen + numbered(`"E#",`, 0, n) + "]\n", chosen + numbered(`"E#",`, 0, n) + "]\nignore = [" + numbered(`"E#",`, 0, n) + "]\n"
		}},
		"many rules that are off": {".eslintrc.json", 1500, func(n int) (before, after string) {
			return `{"rules":{"no-x":"error"}}`, `{"rules":{` + numbered(`"r#":"off",`, 0, n) + `"no-x":"off"}}`
		}},
	} {
		cost := func(n int) uint64 {
			before, after := tt.write(n)
			return allocated(func() {
				found := guard.Examine(guard.Change{Files: []guard.File{{OldPath: tt.path, Path: tt.path, Before: []byte(before),
					After: []byte(after)}}})
				if len(found) == 0 {
					t.Errorf("%s: it was not examined", name)
				}
			})
		}
		once, twice := cost(tt.n), cost(2*tt.n)
		if twice > 3*once {
			t.Errorf("%s: %d KiB, and %d KiB for twice as much", name, once>>10, twice>>10)
		}
	}
}

// TestManyStepsMayRunOneLongScript checks that the commands of a script are counted for some steps, and not for any number of them.
func TestManyStepsMayRunOneLongScript(t *testing.T) {
	const jobs = "on: [pull_request]\njobs:\n  t:\n    runs-on: ubuntu-latest\n    steps:\n"
	made := func(steps int) uint64 {
		return allocated(func() {
			guard.Examine(guard.Change{Files: []guard.File{
				{OldPath: "check.sh", Path: "check.sh", After: []byte(numbered("go test ./x#\n", 0, 4000))},
				{OldPath: ".github/workflows/ci.yml", Path: ".github/workflows/ci.yml", Before: []byte(jobs + "      - run: go test\n"),
					After: []byte(jobs + strings.Repeat("      - run: ./check.sh\n", steps))},
			}})
		})
	}
	if few, many := made(100), made(800); many > 2*few {
		t.Errorf("it takes %d MiB instead of %d", many>>20, few>>20)
	}
}

// TestNothingIsHiddenBehindABound checks that a Makefile is read on behind a recipe that is too long.
func TestNothingIsHiddenBehindABound(t *testing.T) {
	const gate = "test:\n\tgo test ./...\n"
	const jobs = "on: [pull_request]\njobs:\n  t:\n    runs-on: ubuntu-latest\n    steps:\n      - run: make test\n"
	after := gate + numbered("t# ", 0, 20_000) + ":\n" + strings.Repeat("\tx\n", 11) + ".IGNORE:\n"
	found := guard.Holds(guard.Examine(guard.Change{Files: []guard.File{
		{OldPath: "Makefile", Path: "Makefile", Before: []byte(gate), After: []byte(after)},
		{OldPath: ".github/workflows/ci.yml", Path: ".github/workflows/ci.yml", Before: []byte(jobs), After: []byte(jobs)},
	}}))
	if len(found) != 1 || found[0].Kind != guard.CI {
		t.Errorf("it finds %v", found)
	}
}
