package dashboard

import (
	"bytes"
	"encoding/json"
	"fmt"

	"touchstone/relay/dashboard/projection"
)

// Bounds of what is shown of one payload.
const (
	maxNodes  = 4000
	maxLevels = 40
	maxValue  = 2000
	maxRaw    = 64 << 10
)

// node is a value of a payload.
type node struct {
	Name  string
	Kind  string // object, array, string, number, word or more
	Value string // of a value without nodes
	Nodes []*node
}

// Note returns how many values an object or an array holds.
func (n *node) Note() string {
	if n.Kind == "array" {
		return fmt.Sprintf("[%d]", len(n.Nodes))
	}
	return fmt.Sprintf("{%d}", len(n.Nodes))
}

// tree decodes a payload in the order in which it is written; nil if it is not JSON.
func tree(payload []byte) *node {
	if !json.Valid(payload) {
		return nil
	}
	t := treeReader{decoder: json.NewDecoder(bytes.NewReader(payload)), left: maxNodes}
	t.decoder.UseNumber()
	return t.value("", 0)
}

// treeReader reads valid JSON, so its decoder never fails.
type treeReader struct {
	decoder *json.Decoder
	left    int
}

func (t *treeReader) value(name string, level int) *node {
	token, _ := t.decoder.Token()
	n := &node{Name: projection.Plain(name, 100)}
	delimiter, ok := token.(json.Delim)
	if !ok {
		n.Kind, n.Value = scalar(token)
		return n
	}
	n.Kind = "array"
	if delimiter == '{' {
		n.Kind = "object"
	}
	for t.decoder.More() {
		key := ""
		if n.Kind == "object" {
			token, _ := t.decoder.Token()
			key, _ = token.(string)
		}
		if t.left--; t.left <= 0 || level >= maxLevels {
			var skipped json.RawMessage
			_ = t.decoder.Decode(&skipped)
			if k := len(n.Nodes); k == 0 || n.Nodes[k-1].Kind != "more" {
				n.Nodes = append(n.Nodes, &node{Kind: "more", Value: "… more than is shown here"})
			}
			continue
		}
		n.Nodes = append(n.Nodes, t.value(key, level+1))
	}
	_, _ = t.decoder.Token() // the closing delimiter
	return n
}

func scalar(token json.Token) (kind, text string) {
	switch v := token.(type) {
	case string:
		return "string", projection.Plain(v, maxValue)
	case json.Number:
		return "number", v.String()
	case bool:
		return "word", fmt.Sprint(v)
	}
	return "word", "null"
}
