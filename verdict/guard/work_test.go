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
func chain(command string) string {
	var all strings.Builder
	for i := range 1500 {
		fmt.Fprintf(&all, "t%d: t%d t%d\n\t%s ./%d\n", i, i+1, i+2, command, i)
	}
	return all.String()
}

// What a change costs does not grow with the square of what somebody writes into one file. Allocated memory stands for the
// work, since it does not depend on the machine.
func TestWorkGrowsWithTheSizeOfAChange(t *testing.T) {
	for name, tt := range map[string]struct {
		path, before, after string
		most                uint64 // MiB
	}{
		"rules for contributors": {"AGENTS.md", numbered("- You must run check# here.\n", 0, 3000),
			numbered("- You may run check# there.\n", 5000, 3000), 200},
		"targets that each need the next one": {"Makefile", "test: t0 t1\n" + chain("go test"), "test: t0\n" + chain("echo"), 1000},
		"variables that hold each other": {"Makefile", "test:\n\tgo test ./...\n", "B = " + strings.Repeat("b ", 100_000) + "\nA = " +
			strings.Repeat("$(B)", 2000) + "\ntest:\n\t$(A)\n", 100},
		"many targets of one recipe": {"Makefile", "test:\n\tgo test ./...\n",
			strings.Repeat("t ", 20_000) + "test:\n" + strings.Repeat("\tx\n", 1000), 300},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		found := guard.Examine(guard.Change{Files: []guard.File{{OldPath: tt.path, Path: tt.path, Before: []byte(tt.before),
			After: []byte(tt.after)}}})
		runtime.ReadMemStats(&after)
		if made := (after.TotalAlloc - before.TotalAlloc) >> 20; made > tt.most || len(found) == 0 {
			t.Errorf("%s: %d findings take %d MiB", name, len(found), made)
		}
	}
}
