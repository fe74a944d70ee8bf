package doc

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// TokenKind is the kind of a token in a script.
type TokenKind uint8

// The kinds of tokens.
const (
	Space TokenKind = iota
	Comment
	String // of any kind, including a pattern between slashes
	Number
	Word
	Mark // one character of punctuation
)

// Token is a part of a script with its original text.
type Token struct {
	Kind TokenKind
	Text string
	// Line is where the token begins, from 1.
	Line int
}

// Tokens cuts a script in JavaScript, TypeScript, Groovy, Kotlin or Scala into tokens, as far as these
// languages write data alike. The tokens together are the whole script. A string without an end goes to the
// end of its line.
//
// Libraries that know these languages know hundreds, and load them all at every start of a program; an agent
// starts several times in each session.
func Tokens(content []byte) (tokens []Token) {
	text, line := string(content), 1
	before := Token{Kind: Mark} // the last token that is neither space nor comment
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

// next returns the kind and the length of a text's first token.
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

// span is the length of the prefix of a text that consists of such characters.
func span(text string, of func(rune) bool) int {
	if end := strings.IndexFunc(text, func(r rune) bool { return !of(r) }); end >= 0 {
		return end
	}
	return len(text)
}

// until is the length of a text up to the end of a mark after its first characters. A line end is not
// included.
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

// literal is the length of the string at the beginning of a text, with its quotes.
func literal(text, quote string) int {
	lines := len(quote) == 3 || quote == "`"
	class := false // inside the brackets of a pattern, where a slash is an ordinary character
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

// maxEmbedded bounds the code within a string, in bytes.
const maxEmbedded = 500

// embedded is the length of the code in braces at the beginning of a text, up to the closing brace. The code
// may contain other strings. It is 0 without a closing brace.
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

// pattern reports whether a slash begins a pattern, which ends on its line, and is not a division.
func pattern(text string, before Token) bool {
	if before.Kind != Mark || strings.ContainsAny(before.Text, ")]}") {
		return false
	}
	end := literal(text, "/")
	return end > 2 && text[end-1] == '/'
}
