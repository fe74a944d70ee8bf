package code

import (
	"strings"
	"unicode/utf8"
)

// quote describes how a string literal is written.
type quote struct {
	open, close string
	raw         bool   // a backslash is an ordinary character
	doubled     bool   // the closing quote, written twice, does not end the string
	lines       bool   // it may span several lines
	code        string // the text that begins code within the string, such as "${"
}

// literal reads a string, character or regular expression.
func (l *lexer) literal() bool {
	c := l.text[l.at]
	if c == '\'' && l.lang.rust {
		return l.character()
	}
	if c == '`' && l.lang.backticks {
		end, ok := l.scan(l.at, quote{open: "`", close: "`", raw: true}, 0)
		if ok {
			l.add(word, end)
		}
		return ok
	}
	for _, q := range l.lang.quotes {
		if c == q.open[0] && strings.HasPrefix(l.text[l.at:], q.open) {
			if end, ok := l.scan(l.at, q, 0); ok {
				l.add(text, end)
				return true
			}
		}
	}
	switch {
	case c == '/' && l.lang.regexps && l.operand():
		return l.regexp()
	case c == '<' && l.lang.heredoc != "" && strings.HasPrefix(l.text[l.at:], l.lang.heredoc):
		return l.hereDocument()
	case (c == '%' && l.lang.ruby || c == '~' && l.lang.layout == ends) && l.operand():
		return l.percent()
	case c == '?' && l.lang.layout == ends && l.operand() && l.byteAt(l.at+1) > ' ' && !isWordByte(l.byteAt(l.at+2)):
		_, size := utf8.DecodeRuneInString(l.text[l.at+1:])
		l.add(text, l.at+1+size)
		return true
	}
	return false
}

// maxNesting bounds the depth of strings within code within strings.
const maxNesting = 8

// scan is the end of a string that begins at a position. It is false for a string that does not end: then its
// first byte becomes a sign.
func (l *lexer) scan(at int, q quote, depth int) (int, bool) {
	if l.spent() {
		return 0, false
	}
	i := at + len(q.open)
	for ; i < len(l.text); i++ {
		switch c := l.text[i]; {
		case c == '\n' && !q.lines:
			l.wasted += i - at
			return 0, false
		case c == '\\' && strings.HasPrefix(q.code, `\`) && strings.HasPrefix(l.text[i:], q.code),
			q.code != "" && c == q.code[0] && c != '\\' && strings.HasPrefix(l.text[i:], q.code):
			if end := l.embedded(i+len(q.code), depth+1, q.lines); end > 0 {
				i = end
			}
		case c == '\\' && !q.raw, c == '`' && q.code == "$(":
			i++
		case c == q.close[0] && strings.HasPrefix(l.text[i:], q.close):
			if q.doubled && strings.HasPrefix(l.text[i+len(q.close):], q.close) {
				i += 2*len(q.close) - 1
				continue
			}
			return i + len(q.close), true
		}
	}
	l.wasted += i - at
	return 0, false
}

// spent reports whether more bytes were read in vain than a normal source of this length needs. Then strings
// are no longer looked for, which bounds the cost of hostile input.
func (l *lexer) spent() bool { return l.wasted > 4*len(l.text)+maxEmbedded }

// maxEmbedded bounds the code within one string, in bytes.
const maxEmbedded = 1 << 12

// embedded is the closing bracket of code within a string; 0 if the code does not end.
func (l *lexer) embedded(at, depth int, lines bool) int {
	if depth > maxNesting || l.spent() {
		return 0
	}
	open, i := 1, at
	for ; i < min(len(l.text), at+maxEmbedded) && (lines || l.text[i] != '\n'); i++ {
		switch c := l.text[i]; {
		case c == '{' || c == '(':
			open++
		case c == '}' || c == ')':
			if open--; open == 0 {
				return i
			}
		case c == '\\':
			i++
		case c == '"' || c == '\'' || c == '`':
			for _, q := range l.lang.quotes {
				if q.open[0] == c && strings.HasPrefix(l.text[i:], q.open) {
					if end, ok := l.scan(i, q, depth); ok && end <= at+maxEmbedded {
						i = end - 1
					}
					break
				}
			}
		}
	}
	l.wasted += i - at
	return 0
}

// character reads a Rust character; a lifetime is not one.
func (l *lexer) character() bool {
	rest := l.text[l.at+1:]
	if strings.HasPrefix(rest, `\`) {
		longest := len(`\u{10ffff}'`)
		if i := strings.IndexByte(rest[min(2, len(rest)):min(longest, len(rest))], '\''); i >= 0 {
			l.add(text, l.at+i+4)
			return true
		}
		return false
	}
	if _, size := utf8.DecodeRuneInString(rest); size < len(rest) && rest[size] == '\'' {
		l.add(text, l.at+size+2)
		return true
	}
	return false
}

// operand reports whether an operand can begin here, so that "/" is not a division.
func (l *lexer) operand() bool {
	n := len(l.tokens)
	if n == 0 || l.fresh && l.lang.layout == ends { // no line in Ruby or Elixir begins with an operator
		return true
	}
	switch last, before := l.of(n-1), l.of(n-2); l.tokens[n-1].kind {
	case number, text:
		return false
	case word:
		if l.lang.layout == ends && l.byteAt(l.at-1) == ' ' && l.byteAt(l.at+1) != ' ' && l.byteAt(l.at+1) != '=' {
			return true
		}
		return beforeOperand[last] && before != "." && before != "?."
	default:
		switch adjacent := n > 1 && l.tokens[n-2].to == l.tokens[n-1].from; last {
		case "+", "-": // after an increment
			return !(adjacent && before == last && l.lang.layout == braces)
		case "<": // the end of an element of JSX
			return l.byteAt(l.at-1) != '<'
		case ")":
			return l.afterHead && l.lang.layout == braces
		case "}": // of a block or of an object
			if l.lang.regexps && l.lang.layout == braces && l.byteAt(l.at+1) != '>' {
				l.doubt(l.line)
			}
			return false
		}
		return last != "]"
	}
}

// regexp reads a regular expression.
func (l *lexer) regexp() bool {
	if l.spent() {
		return false
	}
	class, i := false, l.at+1
	for ; i < len(l.text) && l.text[i] != '\n'; i++ {
		switch l.text[i] {
		case '\\':
			i++
		case '[':
			class = true
		case ']':
			class = false
		case '/':
			if class {
				continue
			}
			for i++; i < len(l.text) && isWordByte(l.text[i]); i++ {
			}
			if next := l.byteAt(i); next == '/' || next == '*' { // nothing is divided or multiplied by a regular expression
				l.doubt(l.line)
			}
			l.add(text, i)
			return true
		}
	}
	l.wasted += i - l.at
	return false
}

// percent reads a literal such as %w[a b] or, in Elixir, ~s(a).
func (l *lexer) percent() bool {
	i := l.at + 1
	for isWordStart(l.byteAt(i)) && i < l.at+3 {
		i++
	}
	open := l.byteAt(i)
	if open <= ' ' || isWordByte(open) || open == '=' || i == l.at+1 && !strings.ContainsRune("([{<|!", rune(open)) {
		return false
	}
	closing := map[byte]byte{'(': ')', '[': ']', '{': '}', '<': '>'}[open]
	if closing == 0 {
		closing = open
	}
	if triple := strings.Repeat(string(open), 3); strings.HasPrefix(l.text[i:], triple) {
		end, ok := l.scan(i, quote{open: triple, close: triple, lines: true}, 0)
		if ok {
			l.add(text, end)
		}
		return ok
	}
	if l.spent() {
		return false
	}
	depth := 0
	for ; i < len(l.text); i++ {
		switch c := l.text[i]; {
		case c == '\\':
			i++
		case c == open && (depth == 0 || open != closing):
			depth++
		case c == closing:
			if depth--; depth == 0 {
				l.add(text, i+1)
				return true
			}
		}
	}
	l.wasted += i - l.at
	return false
}
