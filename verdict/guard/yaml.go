package guard

import (
	"regexp"
	"strings"
)

var yamlKey = regexp.MustCompile(`^("[^"]*"|'[^']*'|[^\s"'#{\[][^#]*?)\s*:(?:\s+(.*))?$`)

// level is an open mapping or list element of a YAML file.
type level struct {
	indent int
	key    string
	line   int
}

// readYAML reads block style by indentation and flow style on a single line.
// Each line of a block scalar is a value of its own.
func readYAML(lines []string) []setting {
	var out []setting
	var open []level
	scalar := -1 // indentation of the key whose block scalar goes on
	for i, raw := range lines {
		text := strings.TrimLeft(raw, " ")
		indent := len(raw) - len(text)
		if scalar >= 0 && (indent > scalar || strings.TrimSpace(text) == "") {
			if value := strings.TrimSpace(text); value != "" {
				out = append(out, setting{keyOf(open), value, i + 1, itemOf(open)})
			}
			continue
		}
		scalar = -1
		text = uncomment(text)
		if text == "" || text == "---" || text == "..." {
			continue
		}
		for len(open) > 0 && (open[len(open)-1].indent > indent || open[len(open)-1].indent == indent && !nested(open[len(open)-1], text)) {
			open = open[:len(open)-1]
		}
		for isItem(text) && len(open) < maxDepth {
			open = append(open, level{indent, "[]", i + 1})
			rest := strings.TrimLeft(strings.TrimPrefix(text, "-"), " ")
			indent += len(text) - len(rest)
			text = rest
		}
		value := text
		if m := yamlKey.FindStringSubmatch(text); m != nil && len(open) < maxDepth {
			open = append(open, level{indent, unquote(m[1]), i + 1})
			value = m[2]
		}
		switch {
		case value == "":
		case value[0] == '|' || value[0] == '>':
			scalar = indent
		case value[0] == '[' || value[0] == '{':
			for _, one := range readFlow(value, keyOf(open), i+1) {
				one.item = itemOf(open)
				out = append(out, one)
			}
		default:
			out = append(out, setting{keyOf(open), unquote(value), i + 1, itemOf(open)})
		}
	}
	return out
}

// nested reports whether a list belongs to the key above it although both begin
// in the same column, as YAML allows.
func nested(top level, text string) bool { return top.key != "[]" && isItem(text) }

func isItem(text string) bool { return text == "-" || strings.HasPrefix(text, "- ") }

func keyOf(open []level) []string {
	key := make([]string, len(open))
	for i, l := range open {
		key[i] = l.key
	}
	return key
}

// itemOf is the line at which the outermost open element of a list begins, or 0.
func itemOf(open []level) int {
	for _, l := range open {
		if l.key == "[]" {
			return l.line
		}
	}
	return 0
}

// readFlow reads "[a, b]" or "{a: b}".
func readFlow(value string, key []string, line int) []setting {
	if value[0] == '{' {
		return readObject(strings.Trim(value, "{}"), key, line)
	}
	return readObject(value, key, line)
}

// uncomment takes a comment and the blanks before it away.
func uncomment(text string) string {
	if strings.HasPrefix(text, "#") {
		return ""
	}
	for from := 0; ; {
		i := strings.Index(text[from:], " #")
		if i < 0 {
			return strings.TrimSpace(text)
		}
		if !quoted(text, from+i) {
			return strings.TrimSpace(text[:from+i])
		}
		from += i + 2
	}
}
