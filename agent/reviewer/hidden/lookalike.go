package hidden

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"touchstone/worktree/lazyregexp"
)

// confusables is Unicode's data; scripts/confusables makes the file.
//
//go:embed confusables.txt
var confusables string

// ascii maps a character to the ASCII letter or digit that it looks like.
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

// lookalikes marks names that do not have the letters they show: names that mix ASCII letters with characters
// that look like ASCII, and names that look like ASCII throughout, in places where a program names something.
func (f *finder) lookalikes() {
	alike := func(r rune) bool { return r > unicode.MaxASCII && ascii[r] != 0 || r == 0x1C3 || r == 0x37E }
	if !strings.ContainsFunc(f.line, alike) { // as most lines of other languages: they have letters that nobody confuses
		return
	}
	native := false // the line has words in another script that are not lookalikes
	f.words(func(_, _ int, word string) {
		native = native || strings.ContainsFunc(word, func(r rune) bool { return foreign(r) && ascii[r] == 0 })
	})
	for _, at := range sign.FindAllStringIndex(f.line, -1) {
		if !native {
			f.mark(at[0], at[1], Lookalike, fmt.Sprintf("%+q, which is not ASCII", f.line[at[0]:at[1]]))
		}
	}
	quoted := literals(f.line)
	f.words(func(start, end int, word string) {
		said, ok := seeming(word)
		if ok && (mixed(word) && !(native && inflected(word)) || !native && f.names(start, end)) {
			f.mark(start, end, f.standing(start, quoted), fmt.Sprintf("%s, which is not %q", word, said))
		}
	})
}

// sign matches characters that look like ASCII operators in a program: the click letter in an inequality,
// which looks like an exclamation mark, and the Greek question mark, which looks like a semicolon.
var sign = lazyregexp.New(`\x{1C3}=|\x{37E}`)

// escape matches an escape sequence for one character in a string, which is not part of a word.
var escape = lazyregexp.New(`^\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-7]{3}|[abfnrtv])`)

// information is the one letter that looks like ASCII and is an emoji: with this sign behind it, it is drawn as one.
const information = "\u2139\ufe0f"

// words calls do with each run of letters, digits and underlines.
func (f *finder) words(do func(start, end int, word string)) {
	start, line := -1, f.line+" "
	letter := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }
	for i, r := range line {
		part := letter(r)
		if after, is := strings.CutPrefix(line[i:], information); is { // within a word it may be part of a name
			next, _ := utf8.DecodeRuneInString(after)
			part = letter(next)
		}
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

// seeming returns how people read a word. It returns false if the word is ASCII, or if one of its letters can
// be distinguished from ASCII.
func seeming(word string) (string, bool) {
	plain, told := true, false
	said := strings.Map(func(r rune) rune {
		if r <= unicode.MaxASCII {
			return r
		}
		plain = false
		// Latin letters beyond ASCII belong to a language, and a small Greek letter is a quantity in a
		// formula. Fullwidth letters are neither.
		latin := unicode.Is(unicode.Latin, r) && (r < 0xFF21 || r > 0xFF5A)
		told = told || ascii[r] == 0 || latin || unicode.Is(unicode.Greek, r) && unicode.IsLower(r) && r != 'ο'
		return ascii[r]
	}, word)
	return said, !plain && !told
}

// mixed reports whether a word has ASCII letters next to others that only look like ASCII.
func mixed(word string) bool {
	letters := strings.ContainsFunc(word, func(r rune) bool { return r <= unicode.MaxASCII && unicode.IsLetter(r) })
	return letters && strings.ContainsFunc(word, func(r rune) bool { return r > unicode.MaxASCII })
}

var (
	// sentence matches several words and what separates them, without the signs of a program.
	sentence = lazyregexp.New(`^\s*[\pL\pM\pN.,:;!?'’-]+(?:\s+[\pL\pM\pN.,:;!?'’-]+)+\s*$`)
	// bytes matches data that is written as a string.
	bytes = lazyregexp.New(`(?:\\x[0-9a-fA-F]{2}.*?){8}`)
)

// literal is a string, from behind its first quotation mark to the last one, or to the end of the line if there is none.
type literal struct {
	from, to int
	kind     Kind // of a lookalike in it; "" if nobody asked yet
}

// literals returns the strings of a line, as far as one line shows them.
func literals(line string) (all []literal) {
	var open rune
	escaped := false
	for i, r := range line {
		switch {
		case escaped:
			escaped = false
		case r == '\\' && open != '`':
			escaped = true
		case open == 0 && strings.ContainsRune("\"'`", r):
			open, all = r, append(all, literal{from: i + 1, to: len(line)})
		case open != 0 && r == open:
			open, all[len(all)-1].to = 0, i
		}
	}
	return all
}

// standing is the kind of a lookalike at an offset among the strings of its line.
func (f *finder) standing(at int, all []literal) Kind {
	i, _ := slices.BinarySearchFunc(all, at, func(l literal, at int) int { return cmp.Compare(l.to, at) })
	if i == len(all) || at < all[i].from {
		return Lookalike
	}
	if l := &all[i]; l.kind == "" {
		l.kind = Quoted
		if text := f.line[l.from:l.to]; l.to < len(f.line) && (sentence.MatchString(text) || bytes.MatchString(text)) {
			l.kind = Said
		}
	}
	return all[i].kind
}

// inflected reports whether an ASCII word has an ending in another script, as loanwords have in prose of that
// script.
func inflected(word string) bool {
	ending := strings.TrimLeftFunc(word, func(r rune) bool { return r <= unicode.MaxASCII })
	return ending != word && !strings.ContainsFunc(ending, func(r rune) bool { return r <= unicode.MaxASCII })
}

func foreign(r rune) bool {
	return r > unicode.MaxASCII && unicode.IsLetter(r) && !unicode.Is(unicode.Latin, r)
}

// given matches the text after a name in a program if the name is assigned or called.
var given = lazyregexp.New(`^(?:\(| ?:?= ?[^=> ])`)

// names reports whether a word of at least two letters names something in a program.
func (f *finder) names(start, end int) bool {
	before, _ := utf8.DecodeLastRuneInString(f.line[:start])
	return utf8.RuneCountInString(f.line[start:end]) >= 2 && !strings.ContainsRune("\"'`", before) && given.MatchString(f.line[end:])
}
