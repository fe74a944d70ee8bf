package guard

import "strings"

// readINI reads INI, TOML and property files.
func readINI(lines []string) []setting {
	var out []setting
	var section, key []string
	for i := 0; i < len(lines); i++ {
		raw, line := lines[i], i+1
		text := strings.TrimSpace(raw)
		if text == "" || text[0] == '#' || text[0] == ';' {
			continue
		}
		if key != nil && (raw[0] == ' ' || raw[0] == '\t') {
			out = append(out, setting{extend(key, "[]"), text, line, 0}) // a value that goes on
			continue
		}
		if text[0] == '[' && strings.Contains(text, "]") {
			section, key = sectionOf(text), nil
			continue
		}
		at := strings.IndexAny(text, "=:")
		if at < 0 {
			continue
		}
		name, value := strings.TrimSpace(text[:at]), strings.TrimSpace(text[at+1:])
		key = extend(section, splitKey(name)...)
		if value == "" {
			continue
		}
		if value[0] == '[' || value[0] == '{' {
			var whole strings.Builder
			value = uncomment(value)
			whole.WriteString(value)
			for open := balance(value); open > 0 && i+1 < len(lines); {
				i++
				next := uncomment(strings.TrimSpace(lines[i]))
				open += balance(next)
				whole.WriteString("\n" + next)
			}
			out = append(out, readObject(whole.String(), key, line)...)
			key = nil
			continue
		}
		out = append(out, setting{key, unquote(uncomment(value)), line, 0})
	}
	return out
}

func sectionOf(text string) []string {
	list := strings.HasPrefix(text, "[[")
	text = strings.Trim(text[:strings.LastIndexByte(text, ']')+1], "[]")
	key := splitKey(text)
	if list {
		key = append(key, "[]")
	}
	return key
}

// splitKey splits at dots that are outside of quotes.
func splitKey(text string) []string {
	var key []string
	start := 0
	for i := 0; i <= len(text) && len(key) < maxDepth; i++ {
		if i == len(text) || text[i] == '.' && !quoted(text, i) {
			key = append(key, unquote(text[start:i]))
			start = i + 1
		}
	}
	return key
}

// balance is how many more brackets a line opens than it closes.
func balance(text string) int {
	n := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"', '\'':
			end := strings.IndexByte(text[i+1:], text[i])
			if end < 0 {
				return n
			}
			i += end + 1
		case '[', '{', '(':
			n++
		case ']', '}', ')':
			n--
		}
	}
	return n
}
