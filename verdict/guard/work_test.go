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

// What a change costs does not grow with the square of what somebody writes into one file. Allocated memory stands for the
// work, since it does not depend on the machine.
func TestWorkGrowsWithTheSizeOfAChange(t *testing.T) {
	for name, tt := range map[string]struct {
		path, before, after string
		most                uint64 // MiB
	}{
		"rules for contributors": {"AGENTS.md", numbered("- You must run check# here.\n", 0, 3000),
			numbered("- You may run check# there.\n", 5000, 3000), 200},
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
