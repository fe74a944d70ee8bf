package impact

import (
	"fmt"
	"strings"
)

// Mermaid returns the sheet as a Mermaid flowchart (https://mermaid.js.org/syntax/flowchart.html): who uses
// what the change touches.
func (s Sheet) Mermaid() string {
	return "flowchart LR\n" + s.graph("  %s[\"%s\"]\n", "  %[1]s -->|\"%[3]s\"| %[2]s\n",
		strings.NewReplacer(`"`, "#quot;", "<", "#lt;", ">", "#gt;", "\n", " "))
}

// DOT returns the sheet as a Graphviz graph (https://graphviz.org/doc/info/lang.html).
func (s Sheet) DOT() string {
	return "digraph impact {\n  rankdir=LR;\n  node [shape=box];\n" + s.graph("  %s [label=\"%s\"];\n", "  %s -> %s [label=\"%s\"];\n",
		strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", " ")) + "}\n"
}

// graph writes each node once, before its edges: a node by its name and its label, an edge by the names of its nodes and its
// label.
func (s Sheet) graph(node, edge string, label *strings.Replacer) string {
	var b strings.Builder
	ids, roles := map[string]string{}, map[string]string{}
	for _, n := range s.Graph {
		if n.Relation == "business" || n.Relation == "role" {
			roles[n.Of] = ": " + n.Text
		}
	}
	id := func(text string) string {
		if ids[text] == "" {
			ids[text] = fmt.Sprintf("n%d", len(ids))
			fmt.Fprintf(&b, node, ids[text], label.Replace(text+roles[text]))
		}
		return ids[text]
	}
	draw := func(from, to, what string) { fmt.Fprintf(&b, edge, from, to, label.Replace(what)) }
	for _, n := range s.Graph {
		switch {
		case n.Target == "":
			id(n.Of)
		case n.Stale != "":
			draw(id(n.Of), id(n.Target), n.Relation+" (stale)")
		default:
			draw(id(n.Of), id(n.Target), n.Relation)
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
				draw(e[0], e[1], e[2])
			}
		}
	}
	return b.String()
}
