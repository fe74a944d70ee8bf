package config

import (
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"touchstone/worktree/span"
	"touchstone/worktree/strictyaml"
)

// Duration is a time span, written as [span.Parse] reads it.
type Duration time.Duration

// Duration is d as the standard library's type.
func (d Duration) Duration() time.Duration { return time.Duration(d) }

// String is d as it is written in the file.
func (d Duration) String() string { return span.Format(time.Duration(d)) }

// MarshalText writes d as String does.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalYAML reads what a person wrote.
func (d *Duration) UnmarshalYAML(node ast.Node) error {
	var text string
	_ = yaml.NodeToValue(node, &text) // what is no text is no time
	parsed, invalid := span.Parse(text)
	if invalid != nil {
		return strictyaml.At(node, invalid.Error())
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
