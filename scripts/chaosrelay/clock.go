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

// aheadVariable tells a relay that was built with clocks apart by how many seconds its clock is ahead.
const aheadVariable = "CHAOS_CLOCK_AHEAD"

// ahead is by how much the clock of each relay is, and keep their retention: by the first clock that
// is ahead, all that the others stamp would be too old, were clocks believed.
var (
	ahead = []time.Duration{0, 100 * time.Hour, -100 * time.Hour}
	keep  = time.Hour
)

// skew makes the overlay of a build whose time.Now is ahead by what the variable says. The
// programs that set the clock for others do that in the C library, which Go asks nothing.
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
