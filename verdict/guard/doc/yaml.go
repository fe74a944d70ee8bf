package doc

import (
	"bytes"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

const (
	// maxTokens bounds a YAML document: the parser's time grows with the square of a map's size.
	maxTokens = 40_000
	// maxEntries bounds the list entries that begin on one line, because each one nests deeper.
	maxEntries = 50
)

// parseYAML reads YAML. It resolves anchors, aliases and merge keys, and joins the members of several
// documents in one file.
func parseYAML(content []byte) (*Node, error) {
	tokens := lexer.Tokenize(strings.ToValidUTF8(string(content), "\uFFFD"))
	if len(tokens) > maxTokens || crowded(tokens) {
		return nil, ErrTooLarge
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, err
	}
	y := yaml{anchors: map[string]*Node{}, left: maxNodes}
	root := &Node{Kind: Map, Line: 1}
	for _, d := range file.Docs {
		if d.Body == nil {
			continue
		}
		n := y.node(d.Body)
		if len(file.Docs) == 1 || len(root.Items) == 0 && n.Kind != Scalar {
			root = n
		} else if n.Kind == root.Kind {
			root.Items = append(root.Items, n.Items...)
		}
	}
	if y.left < 0 {
		return nil, ErrTooLarge
	}
	return root, nil
}

func crowded(tokens token.Tokens) bool {
	line, entries := 0, 0
	for _, t := range tokens {
		if t.Position.Line != line {
			line, entries = t.Position.Line, 0
		}
		if t.Type == token.SequenceEntryType || t.Type == token.MappingKeyType || t.Type == token.AnchorType || t.Type == token.TagType {
			entries++
		}
		if entries > maxEntries {
			return true
		}
	}
	return false
}

// yaml converts a syntax tree to nodes.
type yaml struct {
	anchors map[string]*Node
	left    int // how many more nodes may be made
}

func (y *yaml) node(n ast.Node) *Node {
	if y.left--; n == nil || y.left < 0 {
		return &Node{}
	}
	out := &Node{}
	if t := n.GetToken(); t != nil {
		out.Line = t.Position.Line
	}
	switch n := n.(type) {
	case *ast.MappingNode:
		out.Kind = Map
		for _, value := range n.Values {
			y.member(out, value)
		}
	case *ast.SequenceNode:
		out.Kind = List
		for _, value := range n.Values {
			out.Items = append(out.Items, y.node(value))
		}
	case *ast.AnchorNode:
		out = y.node(n.Value)
		y.anchors[n.Name.GetToken().Value] = out
	case *ast.AliasNode:
		if target := y.anchors[n.Value.GetToken().Value]; target != nil {
			copied := *y.copy(target)
			copied.Line = out.Line
			out = &copied
		}
	case *ast.TagNode:
		out = y.node(n.Value)
	case *ast.LiteralNode:
		out.Value = n.Value.Value
	case *ast.StringNode:
		out.Value = n.Value
	case *ast.NullNode:
	default:
		if t := n.GetToken(); t != nil {
			out.Value = t.Value
		}
	}
	return out
}

// copy copies an alias's target and counts its nodes, so that aliases of aliases end.
func (y *yaml) copy(n *Node) *Node {
	if y.left--; y.left < 0 {
		return &Node{}
	}
	out := *n
	out.Items = nil
	for _, item := range n.Items {
		out.Items = append(out.Items, y.copy(item))
	}
	return &out
}

func (y *yaml) member(to *Node, n *ast.MappingValueNode) {
	value := y.node(n.Value)
	if n.Key.IsMergeKey() {
		y.merge(to, value)
		return
	}
	value.Key = key(n.Key)
	value.Line = n.Key.GetToken().Position.Line
	for i, item := range to.Items { // the last member with a name wins, also over a merged one
		if item.Key == value.Key {
			to.Items[i] = value
			return
		}
	}
	to.Items = append(to.Items, value)
}

func key(n ast.MapKeyNode) string {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value
	case *ast.MappingKeyNode:
		return n.Value.GetToken().Value
	}
	return n.GetToken().Value
}

// merge adds the members of a merge key that do not exist yet.
func (y *yaml) merge(to, from *Node) {
	for _, item := range from.Members() {
		switch {
		case from.Kind == List:
			y.merge(to, item)
		case to.Get(item.Key) == nil:
			to.Items = append(to.Items, item)
		}
	}
}

// parseNEON reads what NEON has in common with YAML; it may be indented by tabs. Of other NEON it reads lines.
func parseNEON(content []byte) (*Node, error) {
	root, err := parseYAML(bytes.ReplaceAll(content, []byte("\t"), []byte("    ")))
	if err != nil {
		return parseLines(content)
	}
	return root, nil
}
