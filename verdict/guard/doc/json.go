package doc

import (
	"github.com/tailscale/hujson"
)

// parseJSON reads JSON, with the comments and trailing commas that the tools allow.
func parseJSON(content []byte) (*Node, error) {
	value, err := hujson.Parse(content)
	if err != nil {
		return nil, err
	}
	return jsonNode(&value, Lines(content)), nil
}

func jsonNode(v *hujson.Value, lineOf func(offset int) int) *Node {
	out := &Node{Line: lineOf(v.StartOffset)}
	switch x := v.Value.(type) {
	case *hujson.Object:
		out.Kind = Map
		for i := range x.Members {
			m := &x.Members[i]
			line := lineOf(m.Name.StartOffset)
			item := jsonNode(&m.Value, lineOf)
			item.Line = line
			if name, ok := m.Name.Value.(hujson.Literal); ok {
				item.Key = name.String()
			}
			out.Items = append(out.Items, item)
		}
	case *hujson.Array:
		out.Kind = List
		for i := range x.Elements {
			out.Items = append(out.Items, jsonNode(&x.Elements[i], lineOf))
		}
	case hujson.Literal:
		if out.Value = string(x); x.Kind() == '"' {
			out.Value = x.String()
		}
	}
	return out
}
