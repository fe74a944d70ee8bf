package guard

import (
	"encoding/xml"
	"strings"
)

// readXML reads elements and attributes. An element that names itself by an
// attribute has that name as a segment after its own.
func readXML(text string) []setting {
	d := xml.NewDecoder(strings.NewReader(text))
	d.Strict = false
	d.Entity = xml.HTMLEntity
	var out []setting
	var key []string
	var depths []int
	line, counted := 1, int64(0)
	for {
		t, err := d.Token()
		if err != nil {
			return out
		}
		offset := min(d.InputOffset(), int64(len(text)))
		switch t := t.(type) {
		case xml.StartElement:
			line += strings.Count(text[counted:offset], "\n")
			counted = offset
			depths = append(depths, len(key))
			key = append(key, t.Name.Local)
			for _, a := range t.Attr {
				switch a.Name.Local {
				case "id", "Id", "name", "Include":
					key = append(key, a.Value)
				}
			}
			if len(key) > maxDepth {
				return out
			}
			for _, a := range t.Attr {
				out = append(out, setting{extend(key, "@"+a.Name.Local), a.Value, line, 0})
			}
		case xml.EndElement:
			if n := len(depths); n > 0 {
				key, depths = key[:depths[n-1]:depths[n-1]], depths[:n-1]
			}
		case xml.CharData:
			if value := strings.TrimSpace(string(t)); value != "" && len(key) > 0 {
				at := line + strings.Count(text[counted:offset], "\n") - strings.Count(strings.TrimLeft(string(t), " \t\r\n"), "\n")
				out = append(out, setting{extend(key), value, at, 0})
			}
		}
	}
}
