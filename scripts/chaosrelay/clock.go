package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
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

// skew makes the overlay of a build whose time.Now is ahead by the value of the variable. Existing programs
// that fake the clock replace functions of the C library, which Go does not use.
func skew(ctx context.Context, folder string) (overlay string, err error) {
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return "", fmt.Errorf("find Go's sources: %w", err)
	}
	original := filepath.Join(strings.TrimSpace(string(root)), "src", "time", "time.go")
	text, err := os.ReadFile(original)
	if err != nil {
		return "", fmt.Errorf("find Go's sources: %w", err)
	}
	for _, change := range [][2]string{
		{"import (\n", "import (\n\t\"syscall\"\n"},
		{"	sec += unixToInternal - minWall\n", "	sec += unixToInternal - minWall + ahead\n"},
		{"// Now returns the current local time.\n", `var ahead = func() (seconds int64) {
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
	} {
		if bytes.Count(text, []byte(change[0])) != 1 {
			return "", fmt.Errorf("%s does not hold %q once any more", original, change[0])
		}
		text = bytes.Replace(text, []byte(change[0]), []byte(change[1]), 1)
	}
	changed := filepath.Join(folder, "time.go")
	overlay = filepath.Join(folder, "overlay.json")
	list, err := json.Marshal(map[string]any{"Replace": map[string]string{original: changed}})
	return overlay, errors.Join(err, os.WriteFile(changed, text, 0o600), os.WriteFile(overlay, list, 0o600))
}
