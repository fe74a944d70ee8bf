// Package strictyaml reads settings that people write in YAML, and reports all mistakes of a file at once. It
// owns no state and imports nothing of this module, so that relay and agent read their settings alike.
package strictyaml

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// mistakes are all mistakes of a file, in the file's order.
type mistakes []Mistake

// Mistake is one mistake in a file.
type Mistake struct {
	// Line and Column are the position of the mistake, counted from 1.
	Line, Column int
	// Reason says what is wrong, without the text in the file, which may be a secret.
	Reason string
}

// A person reads at most so many mistakes, and reasons of so many characters: they quote keys, which may be long.
const (
	maxTold   = 20
	maxReason = 300
)

// Error lists the first mistakes on one line.
func (m mistakes) Error() string {
	var texts []string
	for _, mistake := range m[:min(len(m), maxTold)] {
		texts = append(texts, fmt.Sprintf("line %d:%d: %.*s", mistake.Line, mistake.Column, maxReason, mistake.Reason))
	}
	if more := len(m) - len(texts); more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(texts, "; ")
}

// At returns an error about one place in a file, for types that read their own settings.
func At(node ast.Node, reason string) error {
	return &yaml.SyntaxError{Message: reason, Token: node.GetToken()}
}

// Decode overlays settings, a pointer to a struct, with the settings in a file's content. The error is
// all mistakes, or one about the file as a whole. The correct settings of a file with mistakes are overlaid too.
func Decode(content []byte, settings any) error {
	text := strings.TrimPrefix(string(content), "\ufeff")
	if strings.Count(text, "\n")+strings.Count(text, "\r") > maxLines {
		return fmt.Errorf("it has more than %d lines", maxLines)
	}
	tokens := lexer.Tokenize(text)
	if at := tooDeep(tokens); at != nil {
		return mistakes{mistake(at, "it is nested too deeply")}
	}
	file, err := parser.Parse(tokens, 0)
	if err != nil {
		return listed(located(err))
	}
	documents := slices.DeleteFunc(file.Docs, func(d *ast.DocumentNode) bool { return d.Body == nil })
	switch len(documents) {
	case 0: // decoding nothing would erase the defaults
		return nil
	case 1:
		var all plain
		ast.Walk(&all, documents[0].Body)
		if len(all.mistakes) > 0 {
			return listed(all.mistakes)
		}
		return Node(documents[0].Body, settings)
	}
	return errors.New("there are several documents, but only one would be read; remove the lines that are only ---")
}

// maxLines bounds the ends of lines, two of which end a line of Windows: the lexer's time grows with the square of the
// blank lines in a text.
const maxLines = 10_000

// maxDepth bounds the brackets around a setting, and the list entries that begin on one line: the parser's time grows
// with the square of both.
const maxDepth = 50

// tooDeep returns the first token that is nested too deeply; nil for none.
func tooDeep(tokens token.Tokens) *token.Token {
	line, brackets, entries := 0, 0, 0
	for _, t := range tokens {
		if t.Position.Line != line {
			line, entries = t.Position.Line, 0
		}
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			brackets++
		case token.SequenceEndType, token.MappingEndType:
			brackets = max(brackets-1, 0)
		case token.SequenceEntryType:
			entries++
		}
		if max(brackets, entries) > maxDepth {
			return t
		}
	}
	return nil
}

// Node is Decode for a part of a file. A type that reads its own settings calls it.
func Node(node ast.Node, settings any) error {
	err := yaml.NodeToValue(node, settings, yaml.Strict())
	if err == nil {
		if all := misread(node, reflect.ValueOf(settings).Elem(), anchors(node)); len(all) > 0 {
			return listed(all)
		}
		return nil
	}
	// The library stops at the first mistake, so each setting is read separately. A setting that refers to
	// another cannot be.
	var all mistakes
	if len(ast.Filter(ast.AliasType, node)) == 0 {
		all = overlay(node, reflect.ValueOf(settings).Elem())
	}
	if len(all) == 0 {
		all = located(err)
	}
	if len(all) == 0 {
		return err
	}
	return listed(all)
}

// listed returns an error that lists all mistakes in the file's order.
func listed(all mistakes) error {
	slices.SortStableFunc(all, func(a, b Mistake) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return all
}

// overlay reads a node into a value, setting by setting, and returns all mistakes in it.
func overlay(node ast.Node, to reflect.Value) (all mistakes) {
	if anchor, ok := node.(*ast.AnchorNode); ok {
		node = anchor.Value
	}
	if mapping, ok := node.(*ast.MappingNode); ok && !readsItself(to.Type()) {
		switch to.Kind() {
		case reflect.Struct:
			known := fields(to)
			for _, entry := range mapping.Values {
				key := entry.Key.GetToken()
				if field, ok := known[key.Value]; ok {
					all = append(all, overlay(entry.Value, field)...)
					continue
				}
				all = append(all, mistake(key, fmt.Sprintf("unknown field %q%s", key.Value, meant(key.Value, known))))
			}
			return all
		case reflect.Map:
			for _, entry := range mapping.Values {
				all = append(all, overlay(entry.Value, reflect.New(to.Type().Elem()).Elem())...)
			}
			if len(all) > 0 {
				return all
			}
		}
	}
	read := reflect.New(to.Type())
	read.Elem().Set(to)
	if err := yaml.NodeToValue(node, read.Interface(), yaml.Strict()); err != nil {
		if all = located(err); len(all) == 0 {
			all = mistakes{mistake(node.GetToken(), err.Error())}
		}
		return all
	}
	to.Set(read.Elem())
	return misread(node, to, nil)
}

// misread returns the mistakes in numbers that the library reads as others. It cuts a fraction off, where a limit of
// 0.5 would be 0, which may mean none; and as a text, 1.20 would be 1.2. A setting that refers to another has the
// value with that anchor.
func misread(node ast.Node, to reflect.Value, anchored map[string]ast.Node) (all mistakes) {
	if readsItself(to.Type()) {
		return nil
	}
	switch node := node.(type) {
	case *ast.AnchorNode:
		return misread(node.Value, to, anchored)
	case *ast.TagNode:
		return misread(node.Value, to, anchored)
	case *ast.SequenceNode:
		for i, entry := range node.Values {
			if to.Kind() == reflect.Slice && i < to.Len() {
				all = append(all, misread(entry, to.Index(i), anchored)...)
			}
		}
	case *ast.MappingNode:
		known := map[string]reflect.Value{}
		switch to.Kind() {
		case reflect.Struct:
			known = fields(to)
		case reflect.Map:
			for entry := to.MapRange(); entry.Next(); {
				known[entry.Key().String()] = entry.Value()
			}
		}
		for _, entry := range node.Values {
			if field, ok := known[entry.Key.GetToken().Value]; ok {
				all = append(all, misread(entry.Value, field, anchored)...)
			}
		}
	default:
		at := node.GetToken()
		if value := number(node, anchored); to.CanInt() && value != math.Trunc(value) {
			return mistakes{mistake(at, named(at, "it takes a whole number"))}
		}
		if alias, ok := node.(*ast.AliasNode); ok {
			node = anchored[alias.Value.GetToken().Value]
		}
		switch node.(type) {
		case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode, *ast.BoolNode:
			if to.Kind() == reflect.String && to.String() != node.GetToken().Value {
				return mistakes{mistake(at, named(at, "it takes a text, and this is read as another one; put it in quotes"))}
			}
		}
	}
	return all
}

// number returns the number that a setting has, 0 for none.
func number(node ast.Node, anchored map[string]ast.Node) float64 {
	switch node := node.(type) {
	case *ast.TagNode:
		return number(node.Value, anchored)
	case *ast.AliasNode:
		return number(anchored[node.Value.GetToken().Value], nil)
	case *ast.FloatNode:
		return node.Value
	case *ast.LiteralNode: // a text of several lines
		return number(node.Value, anchored)
	case *ast.StringNode: // the library reads numbers in quotes, too
		if value, err := strconv.ParseFloat(node.Value, 64); err == nil {
			return value
		}
	}
	return 0
}

// anchors returns the values that other settings can refer to, by name.
func anchors(node ast.Node) map[string]ast.Node {
	all := map[string]ast.Node{}
	for _, found := range ast.Filter(ast.AnchorType, node) {
		anchor := found.(*ast.AnchorNode)
		all[anchor.Name.GetToken().Value] = anchor.Value
	}
	return all
}

// readsItself reports whether a type has a method that reads its settings.
func readsItself(kind reflect.Type) bool {
	pointer := reflect.PointerTo(kind)
	return pointer.Implements(reflect.TypeFor[yaml.NodeUnmarshaler]()) || pointer.Implements(reflect.TypeFor[yaml.InterfaceUnmarshaler]())
}

// fields returns a struct's fields by key, including those of inline structs.
func fields(of reflect.Value) map[string]reflect.Value {
	all := map[string]reflect.Value{}
	for i := range of.NumField() {
		field := of.Type().Field(i)
		key, options, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		switch {
		case !field.IsExported() || key == "-":
		case options == "inline":
			maps.Copy(all, fields(of.Field(i)))
		default:
			all[cmp.Or(key, strings.ToLower(field.Name))] = of.Field(i)
		}
	}
	return all
}

// meant suggests the known key that is closest to an unknown one, if any is close.
func meant(unknown string, known map[string]reflect.Value) string {
	best, least := "", 1+len(unknown)/3
	for key := range known {
		if distance := levenshtein.ComputeDistance(unknown, key); distance < least || distance == least && (best == "" || key < best) {
			best, least = key, distance
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(", did you mean %q?", best)
}

// plain finds values that YAML reads differently than people mean them.
type plain struct{ mistakes mistakes }

// Visit checks one node.
func (p *plain) Visit(node ast.Node) ast.Visitor {
	switch node := node.(type) {
	case *ast.MappingValueNode:
		if _, text := node.Key.(*ast.StringNode); !text {
			p.refuse(node.Key, "a key must be a word; write a fraction with a point, and put a name that looks like a number in quotes")
		}
	case *ast.IntegerNode:
		if written := node.GetToken().Value; octal.MatchString(written) {
			p.refuse(node, "a number with a leading zero would be read as a different number; remove the zero")
		}
	}
	return p
}

var octal = regexp.MustCompile(`^[-+]?0[0-9]`)

func (p *plain) refuse(node ast.Node, why string) {
	p.mistakes = append(p.mistakes, mistake(node.GetToken(), why))
}

func mistake(at *token.Token, reason string) Mistake {
	return Mistake{Line: at.Position.Line, Column: at.Position.Column, Reason: reason}
}

// located returns the position and the reason of an error of the library, without the names of Go's types;
// nil if the error has no position.
func located(err error) mistakes {
	var inner mistakes
	if errors.As(err, &inner) {
		return inner
	}
	var wrong yaml.Error
	if !errors.As(err, &wrong) || wrong.GetToken() == nil {
		return nil
	}
	reason, at := wrong.GetMessage(), wrong.GetToken()
	var node *yaml.UnexpectedNodeTypeError
	var kind *yaml.TypeError
	switch {
	case errors.As(err, &node) && node.Expected == ast.SequenceType:
		reason = "it takes a list, such as [a, b]"
	case errors.As(err, &node):
		reason = "it takes settings of its own, as key: value"
	case errors.As(err, &kind) && kind.DstType.Kind() == reflect.String && at.Type == token.MappingValueType:
		reason = fmt.Sprintf("an entry with a colon must be quoted, such as %q", "codex:gpt-5")
	case errors.As(err, &kind):
		reason = "it takes " + takes(kind.DstType)
	case errors.As(err, new(*yaml.OverflowError)):
		reason = "the number is too large"
	}
	return mistakes{mistake(at, named(at, reason))}
}

// named puts the key in front of a reason, if the mistake is right after it.
func named(at *token.Token, reason string) string {
	if colon := at.Prev; colon != nil && colon.Type == token.MappingValueType && colon.Prev != nil {
		return colon.Prev.Value + ": " + reason
	}
	return reason
}

// takes describes the values that a setting of a type accepts.
func takes(kind reflect.Type) string {
	switch kind.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Float64:
		return "a number"
	}
	return "a text"
}
