package config

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// decode overlays the settings that the content of a file names. An unknown key is an error
// that names it.
func decode(content []byte, settings any) error {
	file, err := parser.ParseBytes(bytes.TrimPrefix(content, []byte("\ufeff")), 0)
	if err != nil {
		return located(err)
	}
	documents := slices.DeleteFunc(file.Docs, func(d *ast.DocumentNode) bool { return d.Body == nil })
	switch len(documents) {
	case 0: // decoding nothing would wipe out the defaults
		return nil
	case 1:
		var all plain
		ast.Walk(&all, documents[0].Body)
		if len(all.mistakes) == 0 {
			all.mistakes = overlay(documents[0].Body, settings)
		}
		return listed(all.mistakes)
	}
	return errors.New("there are several documents, of which all but one would be left out; remove the lines that are only ---")
}

// overlay decodes a node, and returns all that is wrong in it: the library ends at the first mistake,
// and so each part of a node that has one is decoded by itself.
func overlay(node ast.Node, settings any) []error {
	err := yaml.NodeToValue(node, settings, yaml.Strict())
	if err == nil {
		return nil
	}
	var all []error
	for _, part := range parts(node) {
		all = append(all, overlay(part, settings)...)
	}
	if len(all) == 0 { // it is in none of them, or there are none
		all = append(all, located(err))
	}
	return all
}

// parts are the settings of a mapping, each as a mapping of its own that leads to that setting; none
// for what has less than two.
func parts(node ast.Node) (all []ast.Node) {
	mapping, ok := node.(*ast.MappingNode)
	if !ok {
		return nil
	}
	alone := func(value *ast.MappingValueNode) *ast.MappingNode {
		return ast.Mapping(mapping.GetToken(), mapping.IsFlowStyle, value)
	}
	if len(mapping.Values) == 1 {
		only := mapping.Values[0]
		for _, inner := range parts(only.Value) {
			all = append(all, alone(ast.MappingValue(only.Start, only.Key, inner)))
		}
		return all
	}
	for _, value := range mapping.Values {
		all = append(all, alone(value))
	}
	return all
}

// listed is one error that tells all of them; nil if there are none.
func listed(mistakes []error) error {
	if len(mistakes) < 2 {
		return errors.Join(mistakes...)
	}
	texts := make([]string, len(mistakes))
	for i, err := range mistakes {
		texts[i] = err.Error()
	}
	return errors.New(strings.Join(texts, "; "))
}

// plain finds what YAML reads as something else than people mean by it.
type plain struct{ mistakes []error }

// Visit looks at one node.
func (p *plain) Visit(node ast.Node) ast.Visitor {
	switch node := node.(type) {
	case *ast.MappingValueNode:
		if _, text := node.Key.(*ast.StringNode); !text {
			p.refuse(node.Key, "a key is a word; a fraction has a point, and a name that looks like a number stands in quotes")
		}
	case *ast.IntegerNode:
		if written := node.GetToken().Value; octal.MatchString(written) {
			p.refuse(node, "a number that begins with a zero would be read as another one; leave the zero out")
		}
	}
	return p
}

var octal = regexp.MustCompile(`^[-+]?0[0-9]`)

func (p *plain) refuse(node ast.Node, why string) {
	p.mistakes = append(p.mistakes, fmt.Errorf("line %d: %s", node.GetToken().Position.Line, why))
}

// located tells people which line is wrong, and why. It leaves out the line itself, which may hold a
// token, and the names of Go's types.
func located(err error) error {
	var mistake yaml.Error
	if !errors.As(err, &mistake) || mistake.GetToken() == nil {
		return err
	}
	reason, at := mistake.GetMessage(), mistake.GetToken()
	var node *yaml.UnexpectedNodeTypeError
	var kind *yaml.TypeError
	switch {
	case errors.As(err, &node) && node.Expected == ast.SequenceType:
		reason = "it takes a list, such as [a, b]"
	case errors.As(err, &node):
		reason = "it takes settings of its own, as key: value"
	case errors.As(err, &kind) && kind.DstType.Kind() == reflect.String && at.Type == token.MappingValueType:
		reason = fmt.Sprintf("an entry with a colon in it has to stand in quotes, such as %q", "codex:gpt-5")
	case errors.As(err, &kind):
		reason = "it takes " + takes(kind.DstType)
	case errors.As(err, new(*yaml.OverflowError)):
		reason = "the number is too large"
	}
	if colon := at.Prev; colon != nil && colon.Type == token.MappingValueType && colon.Prev != nil {
		reason = colon.Prev.Value + ": " + reason
	}
	return fmt.Errorf("line %d: %s", at.Position.Line, reason)
}

// takes is what a setting of a type may be.
func takes(kind reflect.Type) string {
	switch kind.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Float64:
		return "a number"
	}
	return "a text"
}
