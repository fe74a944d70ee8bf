package code

import (
	"regexp"
	"strconv"
	"strings"

	"touchstone/verdict/guard/change"
)

// maxUnsure bounds the lines of a file that are kept because they are not certain.
const maxUnsure = 100

// doubt keeps a line of which it is not certain what is code and what a comment or a text.
func (l *lexer) doubt(line int) {
	if len(l.unsure) < maxUnsure {
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
		return change.Joined(content, "") // translation phase 2, https://en.cppreference.com/w/c/language/translation_phases
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

// breaks reports whether such a character, other than the first, is at a position.
func (l *lexer) breaks(at int) bool {
	switch l.text[at] {
	case 0xC2:
		return l.byteAt(at+1) == 0x85
	case 0xE2:
		return l.byteAt(at+1) == 0x80 && l.byteAt(at+2)&^1 == 0xA8
	}
	return false
}

// lineBreak reads such characters. What follows them counts as code, which is not certain.
func (l *lexer) lineBreak() bool {
	rest := l.text[l.at:]
	for _, b := range lineBreaks {
		if after := strings.TrimLeft(rest, b); strings.HasPrefix(rest, b) {
			if after != "" && (b != "\r" || after[0] != '\n') {
				l.doubt(l.line)
				l.fresh = true
			}
			l.at += len(rest) - len(after)
			return true
		}
	}
	return false
}

// lineComment is the end of a comment that ends with its line.
func (l *lexer) lineComment(rest string) int {
	line, _, _ := strings.Cut(rest, "\n")
	end := len(line)
	if l.lang.name == "C" && strings.HasSuffix(strings.TrimRight(line, " \t"), `\`) { // blanks after it join lines for some
		l.doubt(l.line)
	}
	if i := strings.Index(line, l.lang.closing); i > 0 {
		end = i
	}
	for _, b := range lineBreaks {
		if i := strings.Index(rest[:end], b); i >= 0 && len(l.unsure) < maxUnsure {
			end = i
		}
	}
	return end
}

// preprocessing is the end of a line for a preprocessor, with the comments that begin in it.
func (l *lexer) preprocessing(rest string) (end int) {
	for stop := l.lineComment(rest); ; {
		line := rest[end:stop]
		open := strings.Index(line, "/*")
		switch {
		case l.lang.name == "C#" || open < 0:
			return stop
		case strings.ContainsAny(line[:open], `"'`): // it may be in a literal
			if strings.LastIndex(line, "/*") > strings.LastIndex(line, "*/") {
				l.doubt(l.line)
			}
			return stop
		case strings.Contains(line[:open], "//"):
			return stop
		}
		end += open
		if end += l.blockComment(rest[end:]); end > stop { // it ends in a later line
			stop = end + l.lineComment(rest[end:])
		}
	}
}

// outside reads the text between parts of PHP's code.
func (l *lexer) outside() {
	end := strings.Index(l.text[l.at:], "<?")
	if end < 0 {
		end = len(l.text) - l.at
	}
	l.add(text, l.at+end)
}
