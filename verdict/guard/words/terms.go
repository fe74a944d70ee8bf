package words

import (
	_ "embed"
	"slices"
	"strings"
	"unicode"

	"touchstone/verdict/guard/table"
)

// terms are words, and parts of words, that a name or a text may have. "_" is the space between two words, "^" the
// beginning of the text and "$" its end: "_max_" is a whole word, "^id$" the whole text.
type terms []string

//go:embed terms.txt
var termsText string

var vocabulary = table.Read(termsText)

// termsOf returns the terms of a section of terms.txt.
func termsOf(section string) terms {
	return strings.Fields(strings.NewReplacer("_", "\x01", "^", "^\x01", "$", "\x01$").Replace(vocabulary.Text(section)))
}

// in reports whether a text has one of the terms, in lower and upper case.
func (t terms) in(text string) bool {
	plain := "^\x01" + strings.Join(wordsOf(text), "\x01") + "\x01$"
	return slices.ContainsFunc(t, func(term string) bool { return strings.Contains(plain, term) })
}

// wordsOf returns the words of a name or a text in lower case. A capital letter after a small one begins a word.
func wordsOf(text string) (words []string) {
	var one []rune
	end := func() {
		if len(one) > 0 {
			words = append(words, string(one))
		}
		one = one[:0]
	}
	small := false
	for _, r := range text {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) || unicode.IsUpper(r) && small {
			end()
		}
		if small = unicode.IsLower(r); unicode.IsLetter(r) || unicode.IsDigit(r) {
			one = append(one, unicode.ToLower(r))
		}
	}
	end()
	return words
}
