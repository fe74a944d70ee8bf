package code

import "strings"

// Bare returns the code in the lines from..to of a file, counted from 1 and both included, without comments
// and literal text: what the program does, not what its author says about it. It is empty for a file in an
// unknown language.
func Bare(path, content string, from, to int) string {
	lang := languageOf(path)
	if lang == nil {
		return ""
	}
	var b strings.Builder
	s := lex(content, lang)
	for i, token := range s.tokens {
		if line := s.line(i); token.kind != text && from <= line && line <= to {
			b.WriteString(s.of(i) + " ")
		}
	}
	return strings.TrimSpace(b.String())
}
