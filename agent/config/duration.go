package config

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"touchstone/worktree/strictyaml"
)

// Duration is a time span that is written as Go writes one (https://pkg.go.dev/time#ParseDuration),
// or in days: 90s, 5m, 1h30m, 2d, 1d12h.
type Duration time.Duration

// Duration is d as the standard library's type.
func (d Duration) Duration() time.Duration { return time.Duration(d) }

// String is d as it is written in the file.
func (d Duration) String() string {
	if d != 0 && d%Duration(day) == 0 {
		return fmt.Sprintf("%dd", time.Duration(d)/day)
	}
	return time.Duration(d).String()
}

// MarshalText writes d as String does.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalYAML reads what a person wrote.
func (d *Duration) UnmarshalYAML(node ast.Node) error {
	var text string
	err := yaml.NodeToValue(node, &text)
	parsed, invalid := ParseDuration(text)
	if err != nil || invalid != nil {
		return strictyaml.At(node, "it takes a time, such as 90s, 5m, 1h30m or 2d")
	}
	*d = parsed
	return nil
}

const (
	day = 24 * time.Hour
	// mostDays bounds what ParseDuration takes; GitHub is younger.
	mostDays = 36500
)

// ParseDuration reads a span as [Duration] says. The error says what can be written.
func ParseDuration(text string) (Duration, error) {
	days, rest, inDays := strings.Cut(text, "d")
	if !inDays {
		days, rest = "0", text
	}
	n, err := strconv.Atoi(days)
	span := time.Duration(0)
	if err == nil && (rest != "" || !inDays) {
		span, err = time.ParseDuration(rest)
	}
	if err != nil || n < -mostDays || n > mostDays || inDays && span < 0 {
		return 0, errors.New("write a time such as 7d, 36h or 1d12h")
	}
	return Duration(time.Duration(n)*day + span), nil
}

// Date is a day that is written as 2006-01-02, and begins at midnight UTC; zero is none.
type Date time.Time

// Time is when the day begins.
func (d Date) Time() time.Time { return time.Time(d) }

// UnmarshalYAML reads what a person wrote.
func (d *Date) UnmarshalYAML(node ast.Node) error {
	var text string
	if err := yaml.NodeToValue(node, &text); err == nil && text == "" {
		*d = Date{}
		return nil
	}
	parsed, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return strictyaml.At(node, "it takes a day, such as 2027-01-31")
	}
	*d = Date(parsed)
	return nil
}

// MarshalText writes d as it is read.
func (d Date) MarshalText() ([]byte, error) {
	if d.Time().IsZero() {
		return nil, nil
	}
	return []byte(d.Time().Format(time.DateOnly)), nil
}
