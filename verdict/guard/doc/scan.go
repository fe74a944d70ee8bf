package doc

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// TokenKind tells what a token of a script is.
type TokenKind uint8

// The kinds of tokens.
const (
	Space TokenKind = iota
	Comment
	String // of any sort, a pattern between slashes too
	Number
	Word
	Mark // one character of punctuation
)

// Token is a part of a script, as it stands there.
type Token struct {
	Kind TokenKind
	Text string
	// Line is where it begins, from 1 on.
	Line int
}

// Tokens takes a script in JavaScript, TypeScript, Groovy, Kotlin or Scala apart, as far as these languages write
// data alike; together the tokens are the script. A string that has no end goes to the end of its line.
//
// Libraries that know these languages know hundreds, and read all of them in whenever a program starts, which for
// an agent is several times in each session.
func Tokens(content []byte) (tokens []Token) {
	text, line := string(content), 1
	before := Token{Kind: Mark} // the last one that is neither space nor comment
	for text != "" {
		kind, length := next(text, before)
		t := Token{kind, text[:length], line}
		tokens = append(tokens, t)
		if kind != Space && kind != Comment {
			before = t
		}
		line += strings.Count(t.Text, "\n")
		text = text[length:]
	}
	return tokens
}

// next is the kind and the length of a text's first token.
func next(text string, before Token) (TokenKind, int) {
	first, size := utf8.DecodeRuneInString(text)
	switch {
	case unicode.IsSpace(first):
		return Space, span(text, unicode.IsSpace)
	case strings.HasPrefix(text, "//"), strings.HasPrefix(text, "#!"):
		return Comment, until(text, "\n", 0)
	case strings.HasPrefix(text, "/*"):
		return Comment, until(text, "*/", 2)
	case strings.HasPrefix(text, `"""`), strings.HasPrefix(text, "'''"):
		return String, literal(text, text[:3])
	case first == '"', first == '\'', first == '`', first == '/' && pattern(text, before):
		return String, literal(text, text[:1])
	case '0' <= first && first <= '9':
		return Number, len(strings.TrimRight(text[:span(text, func(r rune) bool { return inWord(r) || r == '.' })], "."))
	case inWord(first):
		return Word, span(text, inWord)
	case first < utf8.RuneSelf && !strings.ContainsRune(`@#\`, first):
		return Mark, 1
	}
	return Word, size
}

func inWord(r rune) bool { return r == '_' || r == '$' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// span is the length of the part that a text begins with of such characters.
func span(text string, of func(rune) bool) int {
	if end := strings.IndexFunc(text, func(r rune) bool { return !of(r) }); end >= 0 {
		return end
	}
	return len(text)
}

// until is the length of a text up to the end of a mark behind its first characters. The end of a line is no part of it.
func until(text, mark string, after int) int {
	end := strings.Index(text[after:], mark)
	switch {
	case end < 0:
		return len(text)
	case mark == "\n":
		return after + end
	}
	return after + end + len(mark)
}

// literal is the length of a string that begins a text, with its quotes.
func literal(text, quote string) int {
	lines := len(quote) == 3 || quote == "`"
	class := false // in a pattern, within brackets, where a slash stands for itself
	for i := len(quote); i < len(text); i++ {
		switch {
		case text[i] == '\\':
			i++
		case text[i] == '\n' && !lines:
			return i
		case quote == "/" && (text[i] == '[' || text[i] == ']'):
			class = text[i] == '['
		case !class && strings.HasPrefix(text[i:], quote):
			return i + len(quote)
		case (quote[0] == '"' || quote[0] == '`') && strings.HasPrefix(text[i:], "${"):
			i += embedded(text[i:])
		}
	}
	return len(text)
}

// maxEmbedded bounds the code that stands within a string, in bytes.
const maxEmbedded = 500

// embedded is the length of the code in braces that a part of a string begins with, up to the brace that
// ends it, in which other strings may stand; 0 where none ends it.
func embedded(text string) int {
	open, quote := 0, byte(0)
	for i := 1; i < min(len(text), maxEmbedded) && text[i] != '\n'; i++ {
		switch c := text[i]; {
		case c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'' || c == '`':
			quote = c
		case c == '{':
			open++
		case c == '}':
			if open--; open == 0 {
				return i
			}
		}
	}
	return 0
}

// pattern reports whether a slash begins a pattern, which ends on its line, and does not divide.
func pattern(text string, before Token) bool {
	if before.Kind != Mark || strings.ContainsAny(before.Text, ")]}") {
		return false
	}
	end := literal(text, "/")
	return end > 2 && text[end-1] == '/'
}
