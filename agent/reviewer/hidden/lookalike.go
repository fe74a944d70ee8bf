package hidden

import (
	_ "embed"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"touchstone/worktree/lazyregexp"
)

// confusables is Unicode's data; scripts/confusables makes the file.
//
//go:embed confusables.txt
var confusables string

// ascii is the letter or digit of ASCII that a character looks like.
var ascii = func() map[rune]rune {
	all := map[rune]rune{}
	for line := range strings.Lines(confusables) {
		letter, alike := rune(line[0]), strings.TrimSpace(line[1:])
		if letter == '#' {
			continue
		}
		for _, r := range alike {
			all[r] = letter
		}
	}
	return all
}()

// lookalikes marks names that show other letters than they have: those in which letters of
// ASCII stand beside others that look like such, and those that look like ASCII throughout
// where a program names something.
func (f *finder) lookalikes() {
	native := false // the line has words of another script that are no lookalikes
	f.words(func(_, _ int, word string) {
		native = native || strings.ContainsFunc(word, func(r rune) bool { return foreign(r) && ascii[r] == 0 })
	})
	for _, at := range sign.FindAllStringIndex(f.line, -1) {
		if !native {
			f.mark(at[0], at[1], Lookalike, fmt.Sprintf("%+q, which is not ASCII", f.line[at[0]:at[1]]))
		}
	}
	f.words(func(start, end int, word string) {
		said, ok := seeming(word)
		if ok && (mixed(word) && !(native && inflected(word)) || !native && f.names(start, end)) {
			kind := Lookalike
			if inString(f.line[:start]) {
				kind = Quoted
			}
			f.mark(start, end, kind, fmt.Sprintf("%s, which is not %q", word, said))
		}
	})
}

// sign is what passes for ASCII in a program: the exclamation mark of an inequality, and a
// semicolon that is a question mark in Greek.
var sign = lazyregexp.New(`\x{1C3}=|\x{37E}`)

// escape is what stands for one character in a string, and is no part of a word.
var escape = lazyregexp.New(`^\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-7]{3}|[abfnrtv])`)

// words calls do with each run of letters, digits and underlines.
func (f *finder) words(do func(start, end int, word string)) {
	start := -1
	for i, r := range f.line + " " {
		part := unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_'
		switch {
		case part && start < 0:
			start = i
		case !part && start >= 0:
			if start > 0 {
				start += max(0, len(escape.FindString(f.line[start-1:i]))-1)
			}
			do(start, i, f.line[start:i])
			start = -1
		}
	}
}

// seeming is what a word is read as; it reports false where a letter of it can be told from
// ASCII, and where it is ASCII.
func seeming(word string) (string, bool) {
	plain, told := true, false
	said := strings.Map(func(r rune) rune {
		if r <= unicode.MaxASCII {
			return r
		}
		plain = false
		// Latin letters beyond ASCII are those of a language, and a small Greek one is a
		// quantity in a formula. Wide letters are neither.
		latin := unicode.Is(unicode.Latin, r) && (r < 0xFF21 || r > 0xFF5A)
		told = told || ascii[r] == 0 || latin || unicode.Is(unicode.Greek, r) && unicode.IsLower(r) && r != 'ο'
		return ascii[r]
	}, word)
	return said, !plain && !told
}

// mixed reports whether letters of ASCII stand beside such as only look like them.
func mixed(word string) bool {
	letters := strings.ContainsFunc(word, func(r rune) bool { return r <= unicode.MaxASCII && unicode.IsLetter(r) })
	return letters && strings.ContainsFunc(word, func(r rune) bool { return r > unicode.MaxASCII })
}

// inString reports whether what follows this beginning of a line stands within quotation
// marks, as far as one line tells.
func inString(before string) bool {
	var open rune
	for _, r := range before {
		switch {
		case open == 0 && strings.ContainsRune("\"'`", r):
			open = r
		case r == open:
			open = 0
		}
	}
	return open != 0
}

// inflected reports whether a word of ASCII has an ending in another script, as loanwords
// do amid prose in that script.
func inflected(word string) bool {
	ending := strings.TrimLeftFunc(word, func(r rune) bool { return r <= unicode.MaxASCII })
	return ending != word && !strings.ContainsFunc(ending, func(r rune) bool { return r <= unicode.MaxASCII })
}

func foreign(r rune) bool {
	return r > unicode.MaxASCII && unicode.IsLetter(r) && !unicode.Is(unicode.Latin, r)
}

// given is what follows a name in a program where it is given a value or called.
var given = lazyregexp.New(`^(?:\(| ?:?= ?[^=> ])`)

// names reports whether a word of two letters or more names something in a program.
func (f *finder) names(start, end int) bool {
	before, _ := utf8.DecodeLastRuneInString(f.line[:start])
	return utf8.RuneCountInString(f.line[start:end]) >= 2 && !strings.ContainsRune("\"'`", before) && given.MatchString(f.line[end:])
}
