package guardtest

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

func jsonSpellings() []Spelling {
	as := func(name string, write func(v *jsontext.Value) error) Spelling {
		return Spelling{name, []string{".json"}, func(_ string, text []byte) []byte {
			value := jsontext.Value(bytes.Clone(text))
			if write(&value) != nil {
				return nil // JSON with comments is another format
			}
			return append(value, '\n')
		}}
	}
	return []Spelling{
		as("JSON in one line", func(v *jsontext.Value) error { return v.Compact() }),
		as("JSON indented by tabs", func(v *jsontext.Value) error { return v.Indent(jsontext.WithIndent("\t")) }),
		as("JSON with blanks around colons", func(v *jsontext.Value) error {
			return v.Format(jsontext.SpaceAfterColon(true), jsontext.SpaceAfterComma(true), jsontext.Multiline(false))
		}),
		as("JSON with keys in another order", reverseKeys),
		as("JSON with escaped letters", escapeLetters),
	}
}

// reverseKeys reverses the order of the keys of each object.
func reverseKeys(v *jsontext.Value) error {
	text, err := reversed(jsontext.NewDecoder(bytes.NewReader(*v)))
	if err != nil {
		return err
	}
	if *v = jsontext.Value(text); json.Unmarshal(*v, new(any)) != nil {
		return errors.New("it is no JSON")
	}
	return v.Indent(jsontext.WithIndent("  "))
}

// reversed reads a value, and returns it with the keys of each object in the reverse order.
func reversed(d *jsontext.Decoder) (string, error) {
	kind := d.PeekKind()
	if kind != '{' && kind != '[' {
		value, err := d.ReadValue()
		return string(value), err
	}
	open, err := d.ReadToken()
	var parts []string
	for err == nil && d.PeekKind() != '}' && d.PeekKind() != ']' {
		var name, value string
		if kind == '{' {
			var key jsontext.Value
			key, err = d.ReadValue()
			name = string(key) + ": "
		}
		if err == nil {
			value, err = reversed(d)
		}
		parts = append(parts, name+value)
	}
	if err != nil {
		return "", err
	}
	if kind == '{' {
		slices.Reverse(parts)
	}
	end, err := d.ReadToken()
	return open.String() + strings.Join(parts, ", ") + end.String(), err
}

// escapeLetters writes the first letter of each string as an escape sequence.
func escapeLetters(v *jsontext.Value) error {
	var b bytes.Buffer
	d := jsontext.NewDecoder(bytes.NewReader(*v))
	at := int64(0)
	for {
		t, err := d.ReadToken()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		end := d.InputOffset()
		raw := (*v)[at:end]
		at = end
		if s := t.String(); t.Kind() == '"' && s != "" && s[0] >= 'a' && s[0] <= 'z' {
			i := bytes.IndexByte(raw, '"')
			b.Write(raw[:i+1])
			fmt.Fprintf(&b, `\u%04x`, s[0])
			raw = raw[i+2:]
		}
		b.Write(raw)
	}
	b.Write((*v)[at:])
	*v = b.Bytes()
	return nil
}

// tomlPart is one expression of a TOML document: a table's header or a pair.
type tomlPart struct {
	table string // of a header, as written with its brackets
	key   string
	value string

	at int // where the value begins
}

func tomlSpellings() []Spelling {
	as := func(name string, write func([]tomlPart) string) Spelling {
		return Spelling{name, []string{".toml"}, func(_ string, text []byte) []byte {
			parts := tomlParts(text)
			if parts == nil {
				return nil
			}
			spelled := []byte(write(parts))
			var before, after any
			if toml.Unmarshal(text, &before) != nil || toml.Unmarshal(spelled, &after) != nil || !reflect.DeepEqual(before, after) {
				return nil
			}
			return spelled
		}}
	}
	pairs := func(sep string, value func(string) string) func([]tomlPart) string {
		return func(parts []tomlPart) string {
			var b strings.Builder
			for _, p := range parts {
				if p.table != "" {
					fmt.Fprintf(&b, "\n%s\n", p.table)
					continue
				}
				fmt.Fprintf(&b, "%s%s%s\n", p.key, sep, value(p.value))
			}
			return b.String()
		}
	}
	same := func(s string) string { return s }
	return []Spelling{
		as("TOML without blanks", pairs("=", same)),
		as("TOML with other quotes", pairs(" = ", otherQuotes)),
		as("TOML with arrays over several lines", pairs(" = ", func(v string) string {
			if !strings.HasPrefix(v, "[") || strings.Contains(v, "\n") || strings.Contains(v, "{") {
				return v
			}
			return "[\n  " + strings.ReplaceAll(strings.Trim(v, "[]"), ", ", ",\n  ") + ",\n]"
		})),
		as("TOML with arrays in one line", pairs(" = ", func(v string) string {
			if !strings.HasPrefix(v, "[") {
				return v
			}
			return strings.Join(strings.Fields(v), " ")
		})),
		as("TOML with comments", pairs(" = ", func(v string) string { return v + " # " + note })),
		as("TOML with quoted keys", func(parts []tomlPart) string {
			for i, p := range parts {
				if p.key != "" && !strings.ContainsAny(p.key, `."'`) {
					parts[i].key = `"` + p.key + `"`
				}
			}
			return pairs(" = ", same)(parts)
		}),
		as("TOML with keys in another order", func(parts []tomlPart) string {
			for i := 0; i < len(parts); i++ {
				j := i
				for j < len(parts) && parts[j].table == "" {
					j++
				}
				slices.Reverse(parts[i:j])
				i = j
			}
			return pairs(" = ", same)(parts)
		}),
		as("TOML with dotted keys", func(parts []tomlPart) string {
			var b strings.Builder
			table := ""
			for _, p := range parts {
				if p.table != "" {
					table = strings.Trim(p.table, "[]") + "."
					continue
				}
				fmt.Fprintf(&b, "%s%s = %s\n", table, p.key, p.value)
			}
			return b.String()
		}),
	}
}

func otherQuotes(v string) string {
	inner := strings.Trim(v, `"`)
	if len(inner) != len(v)-2 || strings.ContainsAny(inner, `'"\`) || !strings.HasPrefix(v, `"`) {
		return v
	}
	return "'" + inner + "'"
}

// tomlParts returns the expressions of a document without comments; nil for any other document.
func tomlParts(text []byte) (all []tomlPart) {
	if bytes.Contains(text, []byte("#")) {
		return nil
	}
	p := unstable.Parser{}
	p.Reset(text)
	var starts []int
	for p.NextExpression() {
		e := p.Expression()
		keys := e.Key()
		var first, last unstable.Range
		for n := 0; keys.Next(); n++ {
			last = keys.Node().Raw
			if n == 0 {
				first = last
			}
		}
		start := int(first.Offset)
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			start = bytes.LastIndexByte(text[:start], '\n') + 1
			line, _, _ := bytes.Cut(text[start:], []byte("\n"))
			all = append(all, tomlPart{table: strings.TrimSpace(string(line))})
		case unstable.KeyValue:
			end := int(last.Offset + last.Length)
			value := end + bytes.IndexByte(text[end:], '=') + 1
			all = append(all, tomlPart{key: string(text[start:end]), at: value})
		}
		starts = append(starts, start)
	}
	if p.Error() != nil {
		return nil
	}
	for i := range all {
		if all[i].table == "" {
			end := len(text)
			if i+1 < len(starts) {
				end = starts[i+1]
			}
			all[i].value = strings.TrimSpace(string(text[all[i].at:end]))
		}
	}
	return all
}

func xmlSpellings() []Spelling {
	as := func(name string, write func(t xml.Token, raw []byte, depth int) string) Spelling {
		return Spelling{name, []string{".xml", ".csproj", ".props", ".targets", ".runsettings"}, func(_ string, text []byte) []byte {
			d := xml.NewDecoder(bytes.NewReader(text))
			var b strings.Builder
			depth, at := 0, int64(0)
			for {
				t, err := d.RawToken()
				if err == io.EOF {
					return []byte(b.String())
				}
				if err != nil {
					return nil
				}
				end := d.InputOffset()
				if _, ok := t.(xml.EndElement); ok {
					depth--
				}
				b.WriteString(write(t, text[at:end], depth))
				if _, ok := t.(xml.StartElement); ok {
					depth++
				}
				at = end
			}
		}}
	}
	written := func(name xml.Name) string { return strings.TrimPrefix(name.Space+":"+name.Local, ":") }
	blank := func(t xml.Token) bool {
		c, ok := t.(xml.CharData)
		return ok && len(bytes.TrimSpace(c)) == 0
	}
	tag := func(sep, quote string) func(xml.Token, []byte, int) string {
		return func(t xml.Token, raw []byte, _ int) string {
			e, ok := t.(xml.StartElement)
			if !ok || len(raw) == 0 || bytes.ContainsAny(raw, "&'") {
				return string(raw)
			}
			name := written(e.Name)
			for _, a := range e.Attr {
				name += sep + written(a.Name) + "=" + quote + a.Value + quote
			}
			if bytes.HasSuffix(raw, []byte("/>")) {
				return "<" + name + " />"
			}
			return "<" + name + ">"
		}
	}
	between := func(space string) func(xml.Token, []byte, int) string {
		return func(t xml.Token, raw []byte, _ int) string {
			if blank(t) {
				return space
			}
			return string(raw)
		}
	}
	return []Spelling{
		as("XML with other quotes", tag(" ", "'")),
		as("XML with attributes over several lines", tag("\n    ", `"`)),
		as("XML without indentation", between("\n")),
		as("XML in one line", between("")),
		as("XML with comments", func(t xml.Token, raw []byte, depth int) string {
			if blank(t) && depth > 0 {
				return string(raw) + "<!-- " + note + " -->" + string(raw)
			}
			return string(raw)
		}),
	}
}
