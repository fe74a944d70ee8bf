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
