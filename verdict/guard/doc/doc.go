// Package doc parses the formats in which tools, pipelines and policies are configured
// (YAML, TOML, JSON with comments, XML, INI, and the object literals of scripts) into
// one tree with line numbers. Each format is read by a library; what does not parse, or
// lies beyond the bounds here, is an error and never a guess. It has no rules and does
// no I/O.
package doc

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"
)

// Kind is what a node is.
type Kind int

// The kinds of nodes.
const (
	Scalar Kind = iota
	Map
	List
)

const (
	// MaxSize bounds a document, in bytes.
	MaxSize = 1 << 20
	// maxNodes bounds a tree, aliases expanded.
	maxNodes = 50_000
	// maxDepth bounds how deep a document nests.
	maxDepth = 100
)

// ErrTooLarge says that a document lies beyond the bounds of this package.
var ErrTooLarge = errors.New("it is larger or nested deeper than the guard reads")

// Node is a part of a document.
type Node struct {
	Kind Kind
	// Key is its name within a map, "" elsewhere. A map may have several members of one
	// name where the format allows it, as in XML.
	Key string
	// Value is a scalar's text without quotes; of an XML element, the text within.
	Value string
	// Line is where its key or, without one, its value begins, from 1.
	Line int
	// Items are the members of a map or list, in order.
	Items []*Node
}

// Get returns the node below n at a path of keys, or nil. Of several members of one name it
// is the last. It may be called on nil.
func (n *Node) Get(keys ...string) *Node {
	for _, key := range keys {
		if n == nil {
			return nil
		}
		var found *Node
		for _, item := range n.Items {
			if n.Kind == Map && item.Key == key {
				found = item
			}
		}
		n = found
	}
	return n
}

// Text is the scalar at a path of keys, "" where there is none.
func (n *Node) Text(keys ...string) string {
	if n = n.Get(keys...); n == nil || n.Kind != Scalar {
		return ""
	}
	return n.Value
}

// Members are the parts of a map or list; none of nil and of a scalar.
func (n *Node) Members() []*Node {
	if n == nil {
		return nil
	}
	return n.Items
}

// Strings are the scalar itself, or the scalars in a list.
func (n *Node) Strings() []string {
	switch {
	case n == nil:
		return nil
	case n.Kind == Scalar && n.Value == "":
		return nil
	case n.Kind == Scalar:
		return []string{n.Value}
	}
	var out []string
	for _, item := range n.Items {
		if item.Kind == Scalar {
			out = append(out, item.Value)
		}
	}
	return out
}

// formats are the parsers by the end of a file's name; others are named by whole.
var formats = map[string]func([]byte) (*Node, error){
	".yml": parseYAML, ".yaml": parseYAML, ".toml": parseTOML, ".json": parseJSON, ".jsonc": parseJSON, ".xctestplan": parseJSON,
	".json5": parseJSON,
	".xml":   parseXML, ".csproj": parseXML, ".vbproj": parseXML, ".fsproj": parseXML, ".props": parseXML, ".targets": parseXML,
	".ruleset": parseXML,
	".ini":     parseINI, ".cfg": parseINI, ".properties": parseINI, ".conf": parseTOML,
	".js": parseScript, ".cjs": parseScript, ".mjs": parseScript, ".ts": parseScript, ".mts": parseScript, ".cts": parseScript,
	".gradle": parseScript, ".kts": parseScript, ".sbt": parseSbt,
	".txt": parseLines, ".txtar": parseLines,
}

// named are the files whose format their name's end does not tell.
var named = map[string]func([]byte) (*Node, error){
	".coveragerc": parseINI, ".flake8": parseINI, ".pylintrc": parseINI, "pylintrc": parseINI, ".editorconfig": parseINI,
	".globalconfig": parseINI,
	".shellcheckrc": parseINI, ".bandit": parseINI, ".yamllint": parseYAML, ".eslintrc": parseYAML, ".stylelintrc": parseYAML,
	".nycrc": parseJSON, ".c8rc": parseJSON,
	".jshintrc": parseJSON, ".swcrc": parseJSON, ".mocharc": parseYAML, "Pipfile": parseTOML, ".eslintignore": parseLines,
	".stylelintignore": parseLines, ".semgrepignore": parseLines, ".trivyignore": parseLines, ".gitleaksignore": parseLines,
	".covignore": parseLines, "OWNERS": parseYAML, "OWNERS_ALIASES": parseYAML,
}

// Parse reads a document by the format that its name tells. An empty document is an
// empty map. A name without a known format is an error.
func Parse(name string, content []byte) (root *Node, err error) {
	parse := named[path.Base(name)]
	if parse == nil {
		parse = formats[strings.ToLower(path.Ext(name))]
	}
	switch {
	case parse == nil:
		return nil, fmt.Errorf("no format is known for %s", path.Base(name))
	case len(content) > MaxSize || tooDeep(content):
		return nil, ErrTooLarge
	case len(bytes.TrimSpace(content)) == 0:
		return &Node{Kind: Map, Line: 1}, nil
	}
	// A parser that panics on strange input has not read it.
	defer func() {
		if r := recover(); r != nil {
			root, err = nil, fmt.Errorf("its parser failed: %v", r)
		}
	}()
	root, err = parse(content)
	if err != nil {
		return nil, err
	}
	left := maxNodes
	if !root.within(&left, maxDepth) {
		return nil, ErrTooLarge
	}
	return root, nil
}

// tooDeep bounds what a parser that calls itself is given. Brackets in strings count as
// well, so the bound is generous.
func tooDeep(content []byte) bool {
	depth := 0
	for _, c := range content {
		switch c {
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		}
		if depth > 10*maxDepth {
			return true
		}
	}
	return false
}

func (n *Node) within(left *int, depth int) bool {
	if *left--; *left < 0 || depth < 0 {
		return false
	}
	for _, item := range n.Items {
		if !item.within(left, depth-1) {
			return false
		}
	}
	return true
}

// put adds a value below a path of keys and makes the maps on the way. A list on the
// way stands for its last element.
func (n *Node) put(keys []string, line int, value *Node) {
	for _, key := range keys[:len(keys)-1] {
		n = n.open(key, line)
	}
	value.Key, value.Line = keys[len(keys)-1], line
	n.Items = append(n.Items, value)
}

// open returns the map below n of a name, which it makes if it is not there.
func (n *Node) open(key string, line int) *Node {
	next := n.Get(key)
	if next == nil {
		next = &Node{Kind: Map, Key: key, Line: line}
		n.Items = append(n.Items, next)
	}
	if next.Kind == List && len(next.Items) > 0 {
		next = next.Items[len(next.Items)-1]
	}
	return next
}

// parseLines is a list of all lines that say something.
func parseLines(content []byte) (*Node, error) {
	root := &Node{Kind: List, Line: 1}
	for i, line := range strings.Split(string(content), "\n") {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			root.Items = append(root.Items, &Node{Value: line, Line: i + 1})
		}
	}
	return root, nil
}

// lineAt counts lines up to an offset.
func lineAt(content []byte, offset int) int {
	return 1 + bytes.Count(content[:min(max(offset, 0), len(content))], []byte("\n"))
}

// unquote takes a quoted string's quotes away.
func unquote(s string) string {
	if len(s) < 2 || !strings.ContainsRune("\"'`", rune(s[0])) || s[0] != s[len(s)-1] {
		return s
	}
	if plain, err := strconv.Unquote(`"` + strings.ReplaceAll(s[1:len(s)-1], `\'`, "'") + `"`); err == nil {
		return plain
	}
	return s[1 : len(s)-1]
}
