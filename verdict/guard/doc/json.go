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
	j := jsonLines{content: content, line: 1}
	return j.node(&value), nil
}

// jsonLines counts lines only forward, so that a large file stays cheap.
type jsonLines struct {
	content  []byte
	at, line int
}

func (j *jsonLines) lineOf(offset int) int {
	for ; j.at < offset && j.at < len(j.content); j.at++ {
		if j.content[j.at] == '\n' {
			j.line++
		}
	}
	return j.line
}

func (j *jsonLines) node(v *hujson.Value) *Node {
	out := &Node{Line: j.lineOf(v.StartOffset)}
	switch x := v.Value.(type) {
	case *hujson.Object:
		out.Kind = Map
		for i := range x.Members {
			m := &x.Members[i]
			line := j.lineOf(m.Name.StartOffset)
			item := j.node(&m.Value)
			item.Line = line
			if name, ok := m.Name.Value.(hujson.Literal); ok {
				item.Key = name.String()
			}
			out.Items = append(out.Items, item)
		}
	case *hujson.Array:
		out.Kind = List
		for i := range x.Elements {
			out.Items = append(out.Items, j.node(&x.Elements[i]))
		}
	case hujson.Literal:
		if out.Value = string(x); x.Kind() == '"' {
			out.Value = x.String()
		}
	}
	return out
}
