package doc

import (
	"github.com/pelletier/go-toml/v2/unstable"
)

// parseTOML reads TOML.
func parseTOML(content []byte) (*Node, error) {
	p := &unstable.Parser{}
	p.Reset(content)
	root := &Node{Kind: Map, Line: 1}
	table := root
	t := tomlLines(Lines(content))
	for p.NextExpression() {
		switch e := p.Expression(); e.Kind {
		case unstable.Table:
			table = root.open(t.keys(e.Key()))
		case unstable.ArrayTable:
			keys, line := t.keys(e.Key())
			last := len(keys) - 1
			table = &Node{Kind: Map, Line: line}
			list := root.open(keys[:last], line).Get(keys[last])
			if list == nil {
				list = &Node{Kind: List}
				root.put(keys, line, list)
			}
			list.Items = append(list.Items, table)
		case unstable.KeyValue:
			keys, line := t.keys(e.Key())
			table.put(keys, line, t.value(e.Value(), line))
		}
	}
	return root, p.Error()
}

// tomlLines returns the line of an offset.
type tomlLines func(offset int) int

func (t tomlLines) keys(it unstable.Iterator) (keys []string, line int) {
	for it.Next() {
		keys = append(keys, string(it.Node().Data))
		line = t(int(it.Node().Raw.Offset))
	}
	return keys, line
}

// value converts a value that begins on a line; elements with their own position use that.
func (t tomlLines) value(n *unstable.Node, line int) *Node {
	if n.Raw.Length > 0 {
		line = t(int(n.Raw.Offset))
	}
	out := &Node{Line: line}
	switch n.Kind {
	case unstable.Array:
		out.Kind = List
		for it := n.Children(); it.Next(); {
			if it.Node().Kind != unstable.Comment {
				out.Items = append(out.Items, t.value(it.Node(), line))
			}
		}
	case unstable.InlineTable:
		out.Kind = Map
		for it := n.Children(); it.Next(); {
			if it.Node().Kind == unstable.KeyValue {
				keys, at := t.keys(it.Node().Key())
				out.put(keys, at, t.value(it.Node().Value(), at))
			}
		}
	default:
		out.Value = string(n.Data)
	}
	return out
}
