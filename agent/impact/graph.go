package impact

import (
	"fmt"
	"strings"
)

// Mermaid returns the sheet as a Mermaid flowchart (https://mermaid.js.org/syntax/flowchart.html): who uses
// what the change touches.
func (s Sheet) Mermaid() string {
	var b strings.Builder
	b.WriteString("flowchart LR\n")
	label := func(text string) string {
		return `"` + strings.NewReplacer(`"`, "#quot;", "<", "#lt;", ">", "#gt;", "\n", " ").Replace(text) + `"`
	}
	s.graph(func(id, text string) { fmt.Fprintf(&b, "  %s[%s]\n", id, label(text)) },
		func(from, to, what string) { fmt.Fprintf(&b, "  %s -->|%s| %s\n", from, label(what), to) })
	return b.String()
}

// DOT returns the sheet as a Graphviz graph (https://graphviz.org/doc/info/lang.html).
func (s Sheet) DOT() string {
	var b strings.Builder
	b.WriteString("digraph impact {\n  rankdir=LR;\n  node [shape=box];\n")
	label := func(text string) string {
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", " ").Replace(text) + `"`
	}
	s.graph(func(id, text string) { fmt.Fprintf(&b, "  %s [label=%s];\n", id, label(text)) },
		func(from, to, what string) { fmt.Fprintf(&b, "  %s -> %s [label=%s];\n", from, to, label(what)) })
	return b.String() + "}\n"
}

// graph emits each node once, before its edges.
func (s Sheet) graph(node func(id, text string), edge func(from, to, what string)) {
	ids, roles := map[string]string{}, map[string]string{}
	for _, n := range s.Graph {
		if n.Relation == "business" || n.Relation == "role" {
			roles[n.Of] = ": " + n.Text
		}
	}
	id := func(text string) string {
		if ids[text] == "" {
			ids[text] = fmt.Sprintf("n%d", len(ids))
			node(ids[text], text+roles[text])
		}
		return ids[text]
	}
	for _, n := range s.Graph {
		switch {
		case n.Target == "":
			id(n.Of)
		case n.Stale != "":
			edge(id(n.Of), id(n.Target), n.Relation+" (stale)")
		default:
			edge(id(n.Of), id(n.Target), n.Relation)
		}
	}
	drawn := map[[3]string]bool{}
	for _, n := range s.Names {
		for _, p := range n.Places {
			from := p.Path
			if p.Function != "" {
				from += ": " + p.Function
			}
			e := [3]string{id(from), id(n.title() + " (" + n.How.String() + ")"), p.What}
			if !drawn[e] {
				drawn[e] = true
				edge(e[0], e[1], e[2])
			}
		}
	}
}
