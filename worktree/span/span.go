// Package span parses and formats time spans for both programs: in Go's format, or in days. It stores
// nothing.
package span

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

const (
	day = 24 * time.Hour
	// mostDays bounds what Parse accepts; GitHub is younger.
	mostDays = 36500
)

// Parse parses a time span in Go's format (https://pkg.go.dev/time#ParseDuration) or in days: 90s, 5m, 1h30m,
// 2d, 1d12h. Its error says what is accepted.
func Parse(text string) (time.Duration, error) {
	days, rest, inDays := strings.Cut(text, "d")
	if !inDays {
		days, rest = "0", text
	}
	n, err := strconv.Atoi(days)
	more := time.Duration(0)
	if err == nil && (rest != "" || !inDays) {
		more, err = time.ParseDuration(rest)
	}
	if err != nil || n < -mostDays || n > mostDays || inDays && more < 0 {
		return 0, errors.New("it takes a time, such as 90s, 36h or 30d")
	}
	return time.Duration(n)*day + more, nil
}

// Format formats a span for Parse, with whole days as days.
func Format(d time.Duration) string {
	if d != 0 && d%day == 0 {
		return fmt.Sprintf("%dd", d/day)
	}
	return d.String()
}
