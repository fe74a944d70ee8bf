package config

import (
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
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

// UnmarshalYAML reads what a person wrote.
func (d *Duration) UnmarshalYAML(node ast.Node) error {
	var text string
	err := yaml.NodeToValue(node, &text)
	parsed, invalid := time.ParseDuration(text)
	if err != nil || invalid != nil {
		return &yaml.SyntaxError{Message: "it takes a time, such as 90s, 5m or 1h30m", Token: node.GetToken()}
	}
	*d = Duration(parsed)
	return nil
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
		return &yaml.SyntaxError{Message: "it takes a day, such as 2027-01-31", Token: node.GetToken()}
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
