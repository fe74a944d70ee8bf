package code

import (
	"regexp"
	"slices"
	"strings"
)

// Token is a token of a file's code.
type Token struct {
	Text string
	// Line is where it begins, from 1.
	Line int
	// Literal says that it is a string, a character or a regular expression.
	Literal bool
}

// magic match comments that a compiler, an interpreter or a runner of tests obeys.
var magic = []*regexp.Regexp{
	regexp.MustCompile(`^(?://|#|/\*)\s*(?:\+build\b|go:|export\b|.{0,40}coding[:=]|cython:|distutils:|(?i:(?:unordered )?output:))`),
	regexp.MustCompile(`^#\s*(?:frozen_string_literal|typed:|warn_indent|shareable_constant_value)`), // Ruby
}

// hosts matches names of files in which the language is only a part, or has literals that the tables do not know.
var hosts = regexp.MustCompile(`(?i)\.(?:vue|svelte|groovy|blade\.php)$`)

// Tokens returns a file's code without its comments, with preprocessor lines and comments that say how it is read as
// tokens. It is nil if it is not certain what is code: in an unknown language, in Go with cgo, and with what compilers
// read in different ways.
func Tokens(path, content string) (all []Token) {
	lang := languageOf(path)
	if lang == nil || hosts.MatchString(path) || lang.name == "Go" && strings.Contains(content, `"C"`) {
		return nil
	}
	s := lex(content, lang)
	if len(s.unsure) > 0 {
		return nil
	}
	all = []Token{}
	for i, t := range s.tokens {
		all = append(all, Token{s.of(i), s.line(i), t.kind == text})
	}
	for _, n := range s.notes {
		if note := s.text[n.from:n.to]; lang.preprocessor && note[0] == '#' || matchesAny(magic, note) {
			all = append(all, Token{note, n.line, false})
		}
	}
	return all
}

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

// Holds reports whether the lines from..to of a file, counted from 1 and both included, hold anything but
// comments. It is true for a file in an unknown language.
func Holds(path, content string, from, to int) bool {
	tokens := Tokens(path, content)
	return tokens == nil || slices.ContainsFunc(tokens, func(t Token) bool { return from <= t.Line && t.Line <= to })
}
