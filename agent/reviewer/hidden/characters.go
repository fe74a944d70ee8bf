package hidden

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// invisibles are characters that have neither glyph nor width, or that look blank but are not white space to
// a program (https://www.unicode.org/reports/tr36/#Usage_of_Invisibles).
var invisibles = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x00AD, 0x00AD, 1}, {0x034F, 0x034F, 1}, {0x061C, 0x061C, 1}, {0x115F, 0x1160, 1}, {0x17B4, 0x17B5, 1},
		{0x180B, 0x180F, 1}, {0x200B, 0x200F, 1}, {0x2028, 0x2029, 1}, {0x2060, 0x2064, 1}, {0x206A, 0x206F, 1},
		{0x2800, 0x2800, 1}, {0x3164, 0x3164, 1}, {0xFE00, 0xFE0F, 1}, {0xFEFF, 0xFEFF, 1}, {0xFFA0, 0xFFA0, 1},
		{0xFFF9, 0xFFFB, 1},
	},
	R32:         []unicode.Range32{{0x1BCA0, 0x1BCA3, 1}, {0x1D173, 0x1D17A, 1}, {0xE0080, 0xE0FFF, 1}},
	LatinOffset: 1,
}

func invisible(r rune) bool { return r >= 0xAD && unicode.Is(invisibles, r) }

// joining are the scripts whose words contain joiners and non-joiners.
var joining = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Nko, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi,
	unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala,
	unicode.Khmer, unicode.Myanmar, unicode.Tibetan, unicode.Balinese,
}

// breaking are the scripts in which translations mark where a line or a word may break.
var breaking = append([]*unicode.RangeTable{unicode.Thai, unicode.Lao, unicode.Hebrew}, joining...)

// ordinary reports whether ordinary writing has the invisible character r between these two characters.
func (f *finder) ordinary(r, before, after rune) bool {
	switch {
	case r == 0x200C || r == 0x200D:
		// Joiners connect emoji; their last part may be a modifier. A quoted Latin word takes the ending of
		// such a script after a non-joiner.
		return unicode.In(before, joining...) || r == 0x200C && unicode.In(after, joining...) ||
			r == 0x200D && pictorial(before) && pictorial(after)
	case r == 0xFE0E || r == 0xFE0F:
		// This selector turns a digit, # or * into a keycap. Some programs write the selector twice.
		return pictorial(before) && (!invisible(before) || before == r) || strings.ContainsRune("#*0123456789", before) && before != 0
	case r >= 0xFE00 && r <= 0xFE0D, r >= 0xE0100 && r <= 0xE01EF:
		// Of punctuation, they choose the form in East Asian text (StandardizedVariants.txt of Unicode 16).
		return unicode.In(before, unicode.Han, unicode.Myanmar, unicode.Sm) || r <= 0xFE01 && strings.ContainsRune("、。！，．：；？‘’“”", before)
	case r >= 0x180B && r <= 0x180F:
		return unicode.Is(unicode.Mongolian, before)
	case r == 0x200B:
		// Scripts without spaces mark where a line may break. Documentation about comments keeps their marks from ending
		// one.
		return f.unmentioned(before, after) || before == '/' && after == '*' || before == '*' && after == '/' ||
			unicode.In(before, breaking...) || unicode.In(after, breaking...)
	case r == 0x2060:
		return f.unmentioned(before, after)
	case r == 0x200E || r == 0x200F || r == 0x061C:
		return f.rtl
	case r == 0x115F || r == 0x1160:
		return unicode.Is(unicode.Hangul, before) || unicode.Is(unicode.Hangul, after)
	case r == 0x2800:
		return braille(before) || braille(after)
	}
	return false
}

// unmentioned reports whether an invisible character between these two keeps @ or # from becoming a mention, as people write it,
// and programs that quote release notes of others. In what a program reads, it makes another name: an undefined variable of
// Ruby, a string in which nothing is inserted, or a code owner that does not exist.
func (f *finder) unmentioned(before, after rune) bool {
	return !f.code && (before == '@' || before == '#') && !invisible(after)
}

func braille(r rune) bool { return r >= 0x2800 && r <= 0x28FF }

// manyRanges is the number of character ranges from which on a line counts as a table of ranges. Programs
// generate such tables for the names that a language allows.
const manyRanges = 20

// ranges reports whether a line is such a table: many times "a-b", beyond ASCII.
func ranges(line string) bool {
	n := 0
	var last, dash rune
	for _, r := range line {
		if dash == '-' && last > unicode.MaxASCII && r > unicode.MaxASCII {
			n++
		}
		if dash != 0 || r != '-' {
			last, dash = r, 0
		} else {
			dash = r
		}
	}
	return n >= manyRanges
}

// pictorial reports whether a character is an emoji or part of one, including the emoji blocks that Go's
// tables do not contain yet.
func pictorial(r rune) bool {
	return unicode.In(r, unicode.So, unicode.Sk, unicode.Sm) || r >= 0x1F000 && r <= 0x1FAFF || r == 0xFE0F || r == 0x20E3 ||
		r == 0x203C || r == 0x2049 || r == 0x2139 || r >= 0x2194 && r <= 0x21AA || r == 0x3030 || r == 0x303D || isTag(r)
}

func rightToLeft(r rune) bool {
	return unicode.In(r, unicode.Arabic, unicode.Hebrew, unicode.Syriac, unicode.Thaana, unicode.Nko, unicode.Adlam) && unicode.IsLetter(r)
}

// bidirectional marks direction controls: overrides always, and embeddings and isolates unless they enclose
// right-to-left prose and end within the line, as programs put them around the parts of a translated text.
func (f *finder) bidirectional(rtl bool) {
	var open []rune
	type place struct {
		at int
		r  rune
	}
	var places []place
	balanced, override := true, false
	for i, r := range f.line {
		switch {
		case r == 0x202A || r == 0x202B || r >= 0x2066 && r <= 0x2068:
			open = append(open, r)
		case r == 0x202D || r == 0x202E:
			open, override = append(open, r), true
		case r == 0x202C || r == 0x2069:
			embedding := len(open) > 0 && open[len(open)-1] <= 0x202E
			if len(open) == 0 || embedding != (r == 0x202C) {
				balanced = false
				break
			}
			open = open[:len(open)-1]
		default:
			continue
		}
		places = append(places, place{i, r})
	}
	if rtl && balanced && len(open) == 0 && !override {
		return
	}
	for _, p := range places {
		f.mark(p.at, p.at+3, Bidirectional, fmt.Sprintf("U+%04X", p.r))
	}
}

// sorted puts marks into text order and drops marks that overlap an earlier one.
func sorted(marks []mark) []mark {
	slices.SortStableFunc(marks, func(a, b mark) int { return a.start - b.start })
	out := marks[:0]
	end := 0
	for _, m := range marks {
		if m.start >= end {
			out, end = append(out, m), m.end
		}
	}
	return out
}
