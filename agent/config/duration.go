package config

import (
	"fmt"
	"time"
)

// Duration is a time span that is written as Go writes one: 90s, 5m, 1h30m
// (https://pkg.go.dev/time#ParseDuration).
type Duration time.Duration

// Duration is d as the standard library's type.
func (d Duration) Duration() time.Duration { return time.Duration(d) }

// String is d as it is written in the file.
func (d Duration) String() string { return time.Duration(d).String() }

// MarshalText writes d as String does.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads what a person wrote.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("%.40q is no time span; write one such as 90s, 5m or 1h30m", text)
	}
	*d = Duration(parsed)
	return nil
}
