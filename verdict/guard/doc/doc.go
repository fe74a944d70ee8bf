// Package doc parses the configuration formats of tools, pipelines and policies (YAML, TOML, JSON with
// comments, XML, INI, and the object literals of scripts) into one tree with line numbers. A library reads
// each format. A document that does not parse or exceeds the bounds here is an error, never a guess. Package
// doc has no rules and does no I/O.
package doc

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Kind is the kind of a node.
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
	// maxNodes bounds a tree with expanded aliases.
	maxNodes = 50_000
	// maxDepth bounds the nesting depth of a document.
	maxDepth = 100
)

// ErrTooLarge says that a document exceeds the bounds of this package.
var ErrTooLarge = errors.New("it is larger or nested deeper than the guard reads")

// Node is a part of a document.
type Node struct {
	Kind Kind
	// Key is the node's name within a map, "" elsewhere. A map may have several members with one name if the
	// format allows that, as in XML.
	Key string
	// Value is a scalar's text without quotes; for an XML element, the text inside.
	Value string
	// Line is where the key or, without a key, the value begins, from 1.
	Line int
	// Items are the members of a map or list, in order.
	Items []*Node
}

// Get returns the node below n at a path of keys, or nil. If several members have the same name, it returns
// the last one. It may be called on nil.
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

// Text returns the scalar at a path of keys, or "".
func (n *Node) Text(keys ...string) string {
	if n = n.Get(keys...); n == nil || n.Kind != Scalar {
		return ""
	}
	return n.Value
}

// Members returns the members of a map or list; none for nil or a scalar.
func (n *Node) Members() []*Node {
	if n == nil {
		return nil
	}
	return n.Items
}

// Values returns the values of a map's members by their keys.
func (n *Node) Values() map[string]string {
	out := map[string]string{}
	for _, item := range n.Members() {
		out[item.Key] = item.Value
	}
	return out
}

// Before is the line before a text's first one, which begins below its key if it has several lines.
func (n *Node) Before() int {
	if strings.Contains(n.Value, "\n") {
		return n.Line
	}
	return n.Line - 1
}

// Strings returns the scalar itself, or the scalars in a list.
func (n *Node) Strings() []string {
	switch {
	case n == nil, n.Kind == Scalar && n.Value == "":
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

// format is a parser with the whole file names and, after a star, the extensions that it is for.
type format struct {
	parse func([]byte) (*Node, error)
	names []string
}

var scripts = strings.Fields("*.js *.cjs *.mjs *.ts *.mts *.cts *.gradle *.kts")

// IsScript reports whether a file of this name is code that [Tokens] reads, of which [Parse] returns the data.
func IsScript(name string) bool { return slices.Contains(scripts, "*"+strings.ToLower(path.Ext(name))) }

var formats = []format{
	{parseNEON, strings.Fields("*.neon")},
	{parseYAML, strings.Fields("*.yml *.yaml .yamllint .eslintrc .stylelintrc .mocharc .clang-tidy .clang-format .ansible-lint .taprc " +
		"OWNERS OWNERS_ALIASES")},
	{parseTOML, strings.Fields("*.toml *.conf Pipfile")},
	{parseJSON, strings.Fields("*.json *.jsonc *.xctestplan *.json5 .nycrc .c8rc .jshintrc .swcrc .swift-format brakeman.ignore")},
	{parseXML, strings.Fields("*.xml *.csproj *.vbproj *.fsproj *.props *.targets *.ruleset *.runsettings *.xcscheme *.slnx")},
	{parseINI, strings.Fields("*.ini *.cfg *.properties .coveragerc .flake8 .pylintrc pylintrc .editorconfig .globalconfig .npmrc " +
		".shellcheckrc .bandit .sqlfluff .importlinter")},
	{parseScript, scripts},
	{parseSbt, strings.Fields("*.sbt")},
	{parseSolution, strings.Fields("*.sln")},
	{parseOptions, strings.Fields(".rspec")},
	{parseLines, strings.Fields("*.supp *.txt *.txtar *.patch CTestCustom.cmake .clang-format-ignore .eslintignore .stylelintignore " +
		".semgrepignore .trivyignore .gitleaksignore .credo.exs .covignore")},
}

// Parse reads a document in the format that its name implies. An empty document is an empty map. A name
// without a known format is an error.
func Parse(name string, content []byte) (root *Node, err error) {
	name = strings.TrimSuffix(name, ".dist")
	base, extension := path.Base(name), "*"+strings.ToLower(path.Ext(name))
	format := slices.IndexFunc(formats, func(f format) bool { return slices.Contains(f.names, base) || slices.Contains(f.names, extension) })
	switch {
	case format < 0:
		return nil, fmt.Errorf("no format is known for %s", base)
	case len(content) > MaxSize || tooDeep(content):
		return nil, ErrTooLarge
	case len(bytes.TrimSpace(content)) == 0:
		return &Node{Kind: Map, Line: 1}, nil
	}
	// If a parser panics on strange input, the document counts as unread.
	defer func() {
		if r := recover(); r != nil {
			root, err = nil, fmt.Errorf("its parser failed: %v", r)
		}
	}()
	root, err = formats[format].parse(content)
	if err != nil {
		return nil, err
	}
	left := maxNodes
	if !root.within(&left, maxDepth) {
		return nil, ErrTooLarge
	}
	return root, nil
}

// tooDeep bounds the nesting in the input of a recursive parser. It also counts brackets in strings, so the
// bound is generous.
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

// put adds a value below a path of keys and creates the maps on that path. For a list on the path it uses the
// list's last element.
func (n *Node) put(keys []string, line int, value *Node) {
	last := len(keys) - 1
	value.Key, value.Line = keys[last], line
	n = n.open(keys[:last], line)
	n.Items = append(n.Items, value)
}

// open returns the map below n at a path of keys, and creates the missing ones.
func (n *Node) open(keys []string, line int) *Node {
	for _, key := range keys {
		next := n.Get(key)
		if next == nil {
			next = &Node{Kind: Map, Key: key, Line: line}
			n.Items = append(n.Items, next)
		}
		if next.Kind == List && len(next.Items) > 0 {
			next = next.Items[len(next.Items)-1]
		}
		n = next
	}
	return n
}

// parseLines returns a list of all lines that are neither empty nor comments.
func parseLines(content []byte) (*Node, error) {
	root := &Node{Kind: List, Line: 1}
	for i, line := range strings.Split(string(content), "\n") {
		line, _, _ = strings.Cut(line, " #")
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			root.Items = append(root.Items, &Node{Value: line, Line: i + 1})
		}
	}
	return root, nil
}

// parseOptions returns a list of the options of a program, each with its value: --name=value.
func parseOptions(content []byte) (*Node, error) {
	root, err := parseLines(content)
	lines := root.Items
	root.Items = nil
	for _, line := range lines {
		for _, word := range strings.Fields(line.Value) {
			if last := len(root.Items) - 1; word[0] != '-' && last >= 0 {
				root.Items[last].Value += "=" + word
				continue
			}
			root.Items = append(root.Items, &Node{Value: word, Line: line.Line})
		}
	}
	return root, err
}

var (
	// inSolution matches the path of a project in a solution of Visual Studio, and its identity. Folders of a solution have such lines,
	// too.
	inSolution = regexp.MustCompile(`^\s*Project\("[^"]*"\) = "[^"]*", "([^"]*proj)", "([^"]*)"`)
	// inBuild matches the identity of a project that a configuration of a solution builds.
	inBuild = regexp.MustCompile(`(?m)^\s*(\{[^}]*\})\.[^=]*\.Build\.0 = `)
)

// parseSolution returns a list of the projects of a solution: those that it builds, if it has a list of them.
func parseSolution(content []byte) (*Node, error) {
	root, built, all := &Node{Kind: List, Line: 1}, map[string]bool{}, !bytes.Contains(content, []byte("(ProjectConfigurationPlatforms)"))
	for _, m := range inBuild.FindAllStringSubmatch(string(content), -1) {
		built[m[1]] = true
	}
	for i, line := range strings.Split(string(content), "\n") {
		if m := inSolution.FindStringSubmatch(line); m != nil && (all || built[m[2]]) {
			root.Items = append(root.Items, &Node{Value: strings.ReplaceAll(m[1], `\`, "/"), Line: i + 1})
		}
	}
	return root, nil
}

// Lines returns a function that returns the line of an offset. It counts on from the offset before, as long as they ascend.
func Lines(content []byte) func(offset int) int {
	line, at := 1, 0
	return func(offset int) int {
		offset = min(max(offset, 0), len(content))
		if offset < at {
			line, at = 1, 0
		}
		line += bytes.Count(content[at:offset], []byte("\n"))
		at = offset
		return line
	}
}

// unquote removes the quotes of a quoted string.
func unquote(s string) string {
	if len(s) < 2 || !strings.ContainsRune("\"'`", rune(s[0])) || s[0] != s[len(s)-1] {
		return s
	}
	if plain, err := strconv.Unquote(`"` + strings.ReplaceAll(s[1:len(s)-1], `\'`, "'") + `"`); err == nil {
		return plain
	}
	return s[1 : len(s)-1]
}
