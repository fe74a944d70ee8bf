package config

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"

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
		if all.err != nil {
			return all.err
		}
		return located(yaml.NodeToValue(documents[0].Body, settings, yaml.Strict()))
	}
	return errors.New("there are several documents, of which all but one would be left out; remove the lines that are only ---")
}

// plain finds what YAML reads as something else than people mean by it.
type plain struct{ err error }

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
	if p.err == nil {
		p.err = fmt.Errorf("line %d: %s", node.GetToken().Position.Line, why)
	}
}

// located tells people which line is wrong, and why: without the line itself, in which
// somebody may have put a token, and without the names of Go's types.
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
