package guardtest

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// yamlStyle is the style of a YAML document.
type yamlStyle struct {
	indent int
	// under indents a sequence more than its key.
	under bool
	// keys and values are the quotes of text scalars; 0 leaves them unchanged.
	keys, values byte
	// colon is written between a key and its value.
	colon string
	// flow writes sequences of scalars, and everything deeper than this many levels, on one line; block
	// writes all flow collections in block style.
	flow  int
	block bool
	// reversed reverses the keys of each mapping.
	reversed bool
	// anchors puts an anchor on the first of several equal scalars, and refers to it.
	anchors bool
	// notes puts a comment above each key.
	notes bool
	// literal writes texts as blocks: '|' or '>'.
	literal byte
	// plain writes a block of one line as a plain or quoted text.
	plain bool
}

func yamlSpellings() []Spelling {
	const never = 99
	plain := yamlStyle{indent: 2, colon: ":", flow: never}
	with := func(change func(*yamlStyle)) yamlStyle { s := plain; change(&s); return s }
	styles := []struct {
		name  string
		style yamlStyle
	}{
		{"YAML indented by four", with(func(s *yamlStyle) { s.indent = 4 })},
		{"YAML with sequences indented", with(func(s *yamlStyle) { s.under = true })},
		{"YAML with quoted keys", with(func(s *yamlStyle) { s.keys = '\'' })},
		{"YAML with double-quoted keys and values", with(func(s *yamlStyle) { s.keys, s.values = '"', '"' })},
		{"YAML with single-quoted values", with(func(s *yamlStyle) { s.values = '\'' })},
		{"YAML with a blank before colons", with(func(s *yamlStyle) { s.colon = " :" })},
		{"YAML in flow style", with(func(s *yamlStyle) { s.flow = 0 })},
		{"YAML in flow style below two levels", with(func(s *yamlStyle) { s.flow = 2 })},
		{"YAML in block style", with(func(s *yamlStyle) { s.block = true })},
		{"YAML with keys in another order", with(func(s *yamlStyle) { s.reversed = true })},
		{"YAML with anchors", with(func(s *yamlStyle) { s.anchors = true })},
		{"YAML with comments", with(func(s *yamlStyle) { s.notes = true })},
		{"YAML with literal blocks", with(func(s *yamlStyle) { s.literal = '|' })},
		{"YAML with folded blocks", with(func(s *yamlStyle) { s.literal = '>' })},
		{"YAML without blocks of one line", with(func(s *yamlStyle) { s.plain = true })},
	}
	var all []Spelling
	extensions := []string{".yml", ".yaml"}
	for _, s := range styles {
		all = append(all, Spelling{s.name, extensions, func(_ string, text []byte) []byte { return writeYAML(text, s.style) }})
	}
	return append(all, over("YAML that begins with a directive's end", extensions, func(text string) string {
		if strings.Contains(text, "---") {
			return text
		}
		return "---\n" + text
	}))
}

// writeYAML writes a document in a style. It returns nil if it cannot: the document is broken, has tags or
// several documents, or the result would have another meaning.
func writeYAML(text []byte, style yamlStyle) []byte {
	file, err := parser.ParseBytes(text, parser.ParseComments)
	if err != nil || len(file.Docs) != 1 || file.Docs[0].Body == nil {
		return nil
	}
	w := &yamlWriter{style: style, anchors: map[string]string{}}
	w.block(file.Docs[0].Body, 0)
	spelled := []byte(w.text.String())
	var before, after any
	if w.failed || yaml.Unmarshal(text, &before) != nil || yaml.Unmarshal(spelled, &after) != nil || !reflect.DeepEqual(before, after) {
		return nil
	}
	if !slices.Equal(yamlComments(text), yamlComments(spelled)) || endsInComment(text) && !endsInComment(spelled) {
		return nil // a comment can be a directive
	}
	return spelled
}

// note is a comment without meaning.
const note = "a note"

func yamlComments(text []byte) (all []string) {
	file, err := parser.ParseBytes(text, parser.ParseComments)
	if err != nil {
		return nil
	}
	for _, n := range ast.FilterFile(ast.CommentType, file) {
		if text := n.GetToken().Value; !strings.Contains(text, note) {
			all = append(all, strings.TrimSpace(text))
		}
	}
	slices.Sort(all)
	return all
}

// endsInComment reports whether the last line is a comment. The parser knows none of a last comment of a list.
func endsInComment(text []byte) bool {
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.HasPrefix(strings.TrimSpace(lines[len(lines)-1]), "#")
}

type yamlWriter struct {
	style   yamlStyle
	text    strings.Builder
	anchors map[string]string
	failed  bool
}

func (w *yamlWriter) line(depth int, s string) {
	w.text.WriteString(strings.Repeat(" ", depth) + s + "\n")
}

func (w *yamlWriter) comments(group *ast.CommentGroupNode, depth int) {
	if group == nil {
		return
	}
	for _, c := range group.Comments {
		w.line(depth, "#"+c.Token.Value)
	}
}

// block writes a mapping or a sequence in block style.
func (w *yamlWriter) block(n ast.Node, depth int) {
	switch n := n.(type) {
	case *ast.MappingNode:
		entries := slices.Clone(n.Values)
		if w.style.reversed {
			slices.Reverse(entries)
		}
		for _, e := range entries {
			w.entry(e, depth)
		}
	case *ast.MappingValueNode:
		w.entry(n, depth)
	case *ast.SequenceNode:
		for i, item := range n.Values {
			if i < len(n.ValueHeadComments) {
				w.comments(n.ValueHeadComments[i], depth)
			}
			w.item(item, depth)
		}
	default:
		w.line(depth, w.inline(n))
	}
}

func (w *yamlWriter) entry(e *ast.MappingValueNode, depth int) {
	w.comments(e.GetComment(), depth)
	if w.style.notes {
		w.line(depth, "# "+note)
	}
	key := strings.Repeat(" ", depth) + w.key(e.Key) + w.style.colon
	under := depth + w.style.indent
	if _, ok := unwrapped(e.Value).(*ast.SequenceNode); ok && !w.style.under && w.style.indent == 2 {
		under = depth
	}
	w.value(key, e.Value, under, depth+w.style.indent, depth/w.style.indent)
}

func unwrapped(n ast.Node) ast.Node {
	if a, ok := n.(*ast.AnchorNode); ok {
		return a.Value
	}
	return n
}

// value writes what follows a key or a dash.
func (w *yamlWriter) value(lead string, n ast.Node, under, deeper, level int) {
	mark := ""
	if a, ok := n.(*ast.AnchorNode); ok {
		mark, n = " &"+a.Name.GetToken().Value, a.Value
	}
	switch n := n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode, *ast.SequenceNode:
		if w.flows(n, level) {
			w.text.WriteString(lead + mark + " " + w.inline(n) + tail(n) + "\n")
			return
		}
		w.text.WriteString(lead + mark + "\n")
		if s, ok := n.(*ast.SequenceNode); ok {
			w.comments(s.GetComment(), under)
		}
		w.block(n, under)
	case *ast.LiteralNode:
		w.scalar(lead+mark, n.Value.Value, deeper, n.Start.Value[0])
	case *ast.StringNode:
		if w.style.literal != 0 && n.GetComment() == nil && strings.Contains(n.Value, " ") {
			w.scalar(lead+mark, n.Value, deeper, w.style.literal)
			return
		}
		w.text.WriteString(lead + mark + " " + w.inline(n) + tail(n) + "\n")
	default: // null may be no text
		w.text.WriteString(lead + mark + strings.TrimSuffix(" "+w.inline(n), " ") + tail(n) + "\n")
	}
}

func tail(n ast.Node) string {
	if c := n.GetComment(); c != nil && len(c.Comments) > 0 {
		return " #" + c.Comments[0].Token.Value
	}
	return ""
}

// flows reports whether a collection is to be written on one line.
func (w *yamlWriter) flows(n ast.Node, level int) bool {
	if w.style.block {
		return len(children(n)) == 0
	}
	if strings.ContainsAny(n.GetToken().Value, "[{") || len(children(n)) == 0 {
		return true
	}
	if w.style.flow > level && (w.style.flow == 99 || level > 0 || slices.ContainsFunc(children(n), nested)) {
		return false
	}
	return len(ast.Filter(ast.LiteralType, n))+len(ast.Filter(ast.CommentType, n)) == 0
}

func nested(n ast.Node) bool { return len(children(n)) > 0 }

func children(n ast.Node) (all []ast.Node) {
	switch n := n.(type) {
	case *ast.MappingNode:
		for _, v := range n.Values {
			all = append(all, v)
		}
	case *ast.MappingValueNode:
		all = append(all, n)
	case *ast.SequenceNode:
		all = n.Values
	}
	return all
}

// scalar writes a text as a block.
func (w *yamlWriter) scalar(lead, text string, depth int, kind byte) {
	body := strings.TrimRight(text, "\n")
	ends := len(text) - len(body)
	if w.style.plain && !strings.Contains(body, "\n") {
		w.text.WriteString(lead + " " + strconv.Quote(text) + "\n")
		return
	}
	if w.style.literal != 0 {
		kind = w.style.literal
	}
	head := string(kind) + map[int]string{0: "-", 1: ""}[min(ends, 1)]
	if ends > 1 || strings.HasPrefix(body, " ") {
		w.failed = true
	}
	w.text.WriteString(lead + " " + head + "\n")
	for i, line := range strings.Split(body, "\n") {
		if i > 0 && kind == '>' {
			w.text.WriteString("\n") // a blank line keeps the break
		}
		w.text.WriteString(strings.TrimRight(strings.Repeat(" ", depth)+line, " ") + "\n")
	}
}

// item writes one entry of a sequence.
func (w *yamlWriter) item(n ast.Node, depth int) {
	dash := strings.Repeat(" ", depth) + "-"
	step := w.style.indent
	switch m := n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		if w.flows(m, depth/step+1) {
			w.text.WriteString(dash + " " + w.inline(m) + "\n")
			return
		}
		sub := &yamlWriter{style: w.style, anchors: w.anchors}
		sub.block(m, depth+step)
		w.failed = w.failed || sub.failed
		text := sub.text.String()
		if strings.HasPrefix(strings.TrimSpace(text), "#") {
			w.text.WriteString(dash + "\n" + text)
			return
		}
		w.text.WriteString(dash + strings.Repeat(" ", step-1) + text[min(depth+step, len(text)):])
	default:
		w.value(dash, n, depth+step, depth+step, depth/step+1)
	}
}

func (w *yamlWriter) key(n ast.Node) string {
	t := n.GetToken()
	w.failed = w.failed || n.GetComment() != nil
	switch t.Type {
	case token.StringType:
		if w.style.keys != 0 {
			return string(w.style.keys) + t.Value + string(w.style.keys)
		}
		return t.Value
	case token.BoolType, token.IntegerType, token.MergeKeyType:
		return t.Value
	}
	w.failed = true
	return ""
}

// inline writes a node within a line.
func (w *yamlWriter) inline(n ast.Node) string {
	switch n := n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		var parts []string
		for _, c := range children(n) {
			e := c.(*ast.MappingValueNode)
			parts = append(parts, w.key(e.Key)+w.style.colon+" "+w.inline(e.Value))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case *ast.SequenceNode:
		var parts []string
		for _, c := range n.Values {
			parts = append(parts, w.inline(c))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case *ast.StringNode:
		return w.anchored(n)
	case *ast.AliasNode:
		return "*" + n.Value.GetToken().Value
	case *ast.NullNode, *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode, *ast.MergeKeyNode:
		return n.GetToken().Value
	}
	w.failed = true
	return ""
}

func (w *yamlWriter) anchored(n *ast.StringNode) string {
	text := w.string(n)
	if !w.style.anchors {
		return text
	}
	if name := w.anchors[n.Value]; name != "" {
		return "*" + name
	}
	name := "value" + strconv.Itoa(len(w.anchors))
	w.anchors[n.Value] = name
	return "&" + name + " " + text
}

func (w *yamlWriter) string(n *ast.StringNode) string {
	quote := w.style.values
	switch {
	case quote == '\'' && !strings.Contains(n.Value, "\n"):
		return "'" + strings.ReplaceAll(n.Value, "'", "''") + "'"
	case quote == '"', n.Token.Type == token.DoubleQuoteType, strings.Contains(n.Value, "\n"):
		return strconv.Quote(n.Value)
	case n.Token.Type == token.SingleQuoteType:
		return "'" + strings.ReplaceAll(n.Value, "'", "''") + "'"
	case strings.ContainsAny(n.Value, "{}[],&*#?|<>=!%@\"'`") || strings.Contains(n.Value, ": "):
		return strconv.Quote(n.Value) // also safe within a line
	}
	return n.Value
}
