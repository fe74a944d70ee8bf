package doc

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
)

// parseXML reads XML. An element is a map, and its attributes are members whose names begin with "@". An
// element without attributes and elements is a scalar. The root has the outermost element as its member.
func parseXML(content []byte) (*Node, error) {
	d := xml.NewDecoder(bytes.NewReader(content))
	// Names and values that matter here are ASCII, in every encoding that the file may have.
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	root := &Node{Kind: Map, Line: 1}
	open := []*Node{root}
	for {
		line, _ := d.InputPos()
		t, err := d.Token()
		if errors.Is(err, io.EOF) {
			return root, nil
		}
		if err != nil {
			return nil, err
		}
		top := open[len(open)-1]
		switch t := t.(type) {
		case xml.StartElement:
			n := &Node{Kind: Scalar, Key: t.Name.Local, Line: line}
			for _, a := range t.Attr {
				n.Kind = Map
				n.Items = append(n.Items, &Node{Key: "@" + a.Name.Local, Value: a.Value, Line: line})
			}
			top.Kind = Map
			top.Items = append(top.Items, n)
			if open = append(open, n); len(open) > maxDepth {
				return nil, ErrTooLarge
			}
		case xml.EndElement:
			top.Value = strings.TrimSpace(top.Value)
			open = open[:len(open)-1]
		case xml.CharData:
			top.Value += string(t)
		}
	}
}
