// Package span is the time span of both programs' settings: in Go's format, or in days. It stores nothing.
package span

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
)

const (
	day = 24 * time.Hour
	// mostDays bounds what Set accepts; GitHub is younger.
	mostDays = 36500
)

// Duration is a time span in a configuration file or a flag.
type Duration time.Duration

// Duration converts d to the type of the standard library.
func (d Duration) Duration() time.Duration { return time.Duration(d) }

// Set parses a time span in Go's format (https://pkg.go.dev/time#ParseDuration) or in days: 90s, 5m, 1h30m, 2d,
// 1d12h. Its error says what is accepted, and leaves d as it is.
func (d *Duration) Set(text string) error {
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
		return errors.New("it takes a time, such as 90s, 36h or 30d")
	}
	*d = Duration(time.Duration(n)*day + more)
	return nil
}

// String formats d for Set, with whole days as days.
func (d Duration) String() string {
	if d != 0 && d.Duration()%day == 0 {
		return fmt.Sprintf("%dd", d.Duration()/day)
	}
	return d.Duration().String()
}

// Type is the name of the type in help texts.
func (*Duration) Type() string { return "time" }

// MarshalText writes d as String does.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalYAML reads a duration as people write it. Its error names the place in the file.
func (d *Duration) UnmarshalYAML(node ast.Node) error {
	var text string
	_ = yaml.NodeToValue(node, &text) // a value that is not text is not a duration
	if err := d.Set(text); err != nil {
		return &yaml.SyntaxError{Message: err.Error(), Token: node.GetToken()}
	}
	return nil
}
