package code

import (
	"regexp"
	"strconv"
	"strings"
)

// maxUnsure bounds the lines of a file that are kept because they are not certain.
const maxUnsure = 100

// doubt keeps a line of which it is not certain what is code and what a comment or a text.
func (l *lexer) doubt(line int) {
	if n := len(l.unsure); n < maxUnsure && (n == 0 || l.unsure[n-1] != line) {
		l.unsure = append(l.unsure, line)
	}
}

// logical returns a text as its compiler sees it before it looks for comments. The numbers of its lines stay.
func (l *lexer) logical(content string) string {
	content = strings.ReplaceAll(content, "\r\n", "\n")
	switch l.lang.name {
	case "C":
		if at := doubtful.FindStringIndex(content); at != nil || strings.Contains(content, `R"`) {
			if at == nil {
				at = tight.FindStringIndex(content)
			}
			if at != nil {
				l.doubt(1 + strings.Count(content[:at[0]], "\n"))
			}
		}
		return joined(content)
	case "Java":
		return unescaped(content)
	}
	return content
}

var (
	// doubtful matches a trigraph that joins lines or begins a directive, which compilers read on demand.
	doubtful = regexp.MustCompile(`\?\?[/=]`)
	// tight matches a line that is joined with the next one within a token. In a raw string it is not joined.
	tight = regexp.MustCompile(`\S\\\n\S`)
	// escape matches an escape of Java for a character, and an escaped backslash, which begins none.
	escape = regexp.MustCompile(`\\\\|\\u+[0-9a-fA-F]{4}`)
)

// joined returns a text of C in which lines that end in a backslash are one with the next, and blank lines in
// their place after it (translation phase 2, https://en.cppreference.com/w/c/language/translation_phases).
func joined(content string) string {
	if !strings.Contains(content, "\\\n") {
		return content
	}
	var b strings.Builder
	gone := 0
	for line := range strings.Lines(content) {
		if part, on := strings.CutSuffix(line, "\\\n"); on {
			b.WriteString(part)
			gone++
			continue
		}
		b.WriteString(line + strings.Repeat("\n", gone))
		gone = 0
	}
	return b.String()
}

// unescaped returns a text of Java with the characters that escapes stand for, since an escape can end a comment
// or begin one (https://docs.oracle.com/javase/specs/jls/se21/html/jls-3.html#jls-3.3). An escaped line feed
// becomes a carriage return, which ends a line and is not counted as one.
func unescaped(content string) string {
	if !strings.Contains(content, `\u`) {
		return content
	}
	return escape.ReplaceAllStringFunc(content, func(e string) string {
		n, err := strconv.ParseUint(e[len(e)-min(len(e), 4):], 16, 16)
		switch {
		case err != nil:
		case n == '\n' || n == '\r':
			return "\r"
		case n >= ' ' && n <= '~':
			return string(rune(n))
		}
		return e
	})
}

// lineBreaks end a line, and so a comment, for some compilers and not for Git.
var lineBreaks = []string{"\r", "\u0085", "\u2028", "\u2029"}

// lineBreak reads such a character. What follows it counts as code, which is not certain.
func (l *lexer) lineBreak() bool {
	rest := l.text[l.at:]
	for _, b := range lineBreaks {
		if strings.HasPrefix(rest, b) {
			if next := strings.TrimLeft(rest, "\r"); next != "" && next[0] != '\n' {
				l.doubt(l.line)
				l.fresh = true
			}
			l.at += len(b)
			return true
		}
	}
	return false
}

// lineComment is the end of a comment that ends with its line.
func (l *lexer) lineComment(rest string) int {
	end := lineEnd(rest)
	if l.lang.name == "C" && strings.HasSuffix(strings.TrimRight(rest[:end], " \t"), `\`) { // blanks after it join lines for some
		l.doubt(l.line)
	}
	if i := strings.Index(rest[:end], l.lang.closing); i > 0 {
		end = i
	}
	return untilBreak(rest[:end])
}

// untilBreak is the length of a text up to the first such character.
func untilBreak(text string) int {
	for _, b := range lineBreaks {
		if i := strings.Index(text, b); i >= 0 {
			text = text[:i]
		}
	}
	return len(text)
}

// preprocessing is the end of a line for a preprocessor, with a comment that begins in it.
func (l *lexer) preprocessing(rest string) int {
	end := l.lineComment(rest)
	open := strings.Index(rest[:end], "/*")
	switch {
	case l.lang.name == "C#" || open < 0:
		return end
	case strings.ContainsAny(rest[:open], `"'`): // it may be in a literal
		if strings.LastIndex(rest[:end], "/*") > strings.LastIndex(rest[:end], "*/") {
			l.doubt(l.line)
		}
		return end
	case strings.Contains(rest[:open], "//"):
		return end
	}
	closed := open + l.blockComment(rest[open:])
	return closed + l.preprocessing(rest[closed:])
}

// outside reads the text around PHP's code from a position on. Without any mark of code, all is code.
func (l *lexer) outside(at int) bool {
	end := strings.Index(l.text[at:], "<?")
	if end < 0 && at == 0 {
		return false
	}
	if end < 0 {
		end = len(l.text) - at
	}
	if end > 0 {
		l.add(text, at+end)
	}
	return end > 0
}
