package config

import (
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"touchstone/worktree/span"
	"touchstone/worktree/strictyaml"
)

// Duration is a time span in the file.
type Duration = span.Duration

// Date is a day, written as 2006-01-02, that begins at midnight UTC; zero means none.
type Date time.Time

// Time is when the day begins.
func (d Date) Time() time.Time { return time.Time(d) }

// UnmarshalYAML reads a day as people write it.
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

// MarshalText writes d in the format that UnmarshalYAML reads.
func (d Date) MarshalText() ([]byte, error) {
	if d.Time().IsZero() {
		return nil, nil
	}
	return []byte(d.Time().Format(time.DateOnly)), nil
}
