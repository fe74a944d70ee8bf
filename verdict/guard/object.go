package guard

import "strings"

// object reads JSON, JSON with comments, and the literals in configuration
// files that are programs (JavaScript, TypeScript, Gradle): whatever looks like
// key and value within braces.
type object struct {
	out     []setting
	base    []string
	frames  []frame
	key     string // waits for its value
	last    string // the latest word or string
	have    bool   // last holds something
	quoted  bool   // last is a string
	keyed   bool   // key holds something
	line    int
	lastRow int
}

type frame struct {
	segments []string
	list     bool
}

// readObject reads a text that begins at a line and belongs below a key.
func readObject(text string, base []string, line int) []setting {
	o := object{base: base, line: line}
	for i := 0; i < len(text); {
		i += o.step(text[i:])
	}
	o.emit()
	return o.out
}

// step takes one token off the text and returns its length.
func (o *object) step(text string) int {
	switch c := text[0]; {
	case c == '\n':
		if o.keyed && o.have {
			o.emit()
		}
		o.line++
		return 1
	case strings.HasPrefix(text, "//"):
		return lengthTo(text, "\n", false)
	case strings.HasPrefix(text, "/*"):
		n := lengthTo(text, "*/", true)
		o.line += strings.Count(text[:n], "\n")
		return n
	case c == '"' || c == '\'' || c == '`':
		return o.quotedWord(text)
	case c == '{' || c == '[' || c == '(':
		o.push(c)
	case c == '}' || c == ']' || c == ')':
		o.emit()
		if len(o.frames) > 0 {
			o.frames = o.frames[:len(o.frames)-1]
		}
	case c == ',' || c == ';':
		o.emit()
	case strings.HasPrefix(text, "=>") || strings.HasPrefix(text, "=="):
		return 2
	case c == ':' || c == '=':
		if o.have && !o.keyed {
			o.key, o.keyed, o.have = o.last, true, false
		}
	case wordByte(c):
		n := 1
		for n < len(text) && wordByte(text[n]) {
			n++
		}
		if !o.have || c != '.' { // ".toBigDecimal" belongs to the value before it
			o.last, o.have, o.quoted, o.lastRow = text[:n], true, false, o.line
		}
		return n
	}
	return 1
}

func (o *object) quotedWord(text string) int {
	for n := 1; n < len(text); n++ {
		switch {
		case text[n] == '\\':
			n++
		case text[n] == text[0]:
			o.last, o.have, o.quoted, o.lastRow = text[1:n], true, true, o.line
			o.line += strings.Count(text[:n], "\n")
			return n + 1
		case text[n] == '\n' && text[0] != '`':
			return n
		}
	}
	return len(text)
}

func (o *object) push(c byte) {
	if _, isNumber := number(o.last); c == '(' && o.keyed && o.have && (o.quoted || isNumber) {
		o.emit() // a method of the value is called
	}
	f := frame{list: c == '['}
	switch {
	case o.keyed:
		f.segments = []string{o.key}
	case o.have && c != '[':
		f.segments = []string{o.last}
	case len(o.frames) > 0 && o.frames[len(o.frames)-1].list:
		f.segments = []string{"[]"}
	}
	if len(o.frames) < 4*maxDepth {
		o.frames = append(o.frames, f)
	}
	o.keyed, o.have = false, false
}

// emit closes a value: that of a key, or an element of a list.
func (o *object) emit() {
	if o.have {
		key := extend(o.base)
		for _, f := range o.frames {
			key = append(key, f.segments...)
		}
		switch {
		case o.keyed:
			key = append(key, o.key)
		case len(o.frames) > 0 && o.frames[len(o.frames)-1].list:
			key = append(key, "[]")
		}
		if len(key) > 0 && len(key) <= maxDepth {
			o.out = append(o.out, setting{key, o.last, o.lastRow, 0})
		}
	}
	o.keyed, o.have = false, false
}

func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80 ||
		strings.IndexByte("_.$%@-+!*/", c) >= 0
}

// lengthTo is the length up to a mark, with or without it, or of all.
func lengthTo(text, mark string, with bool) int {
	n := strings.Index(text, mark)
	if n < 0 {
		return len(text)
	}
	if with {
		n += len(mark)
	}
	return n
}
