package main

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"touchstone/scripts/program"
	"touchstone/worktree/steps"
)

// aheadVariable is the environment variable with the number of seconds by which the clock of a relay built
// with differing clocks is ahead.
const aheadVariable = "CHAOS_CLOCK_AHEAD"

// ahead is how far each relay's clock is ahead, and keep is the relays' retention: if clocks were trusted,
// the first clock that is ahead would make everything that the others stamp too old.
var (
	ahead = []time.Duration{0, 100 * time.Hour, -100 * time.Hour}
	keep  = time.Hour
)

// skew returns the changes to Go's source that make time.Now ahead by the value of the variable. Existing programs
// that fake the clock replace functions of the C library, which Go does not use.
func skew(ctx context.Context) []program.Change {
	root := steps.Got(exec.CommandContext(ctx, "go", "env", "GOROOT").Output())
	file := filepath.Join(strings.TrimSpace(string(root)), "src", "time", "time.go")
	return []program.Change{
		{File: file, Old: "import (\n", New: "import (\n\t\"syscall\"\n"},
		{File: file, Old: "	sec += unixToInternal - minWall\n", New: "	sec += unixToInternal - minWall + ahead\n"},
		{File: file, Old: "// Now returns the current local time.\n", New: `var ahead = func() (seconds int64) {
	text, _ := syscall.Getenv("` + aheadVariable + `")
	sign := int64(1)
	for _, digit := range text {
		if digit == '-' {
			sign = -1
			continue
		}
		seconds = 10*seconds + int64(digit-'0')
	}
	return sign * seconds
}()

// Now returns the current local time.
`},
	}
}
