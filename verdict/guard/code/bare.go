package code

import "strings"

// Bare is what stands in some lines of a file, from 1 and both included, besides comments and
// literal text: what a program does, and not what its writer says of it. Of a file in no known
// language it is empty.
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
