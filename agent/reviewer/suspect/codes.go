package suspect

import (
	"regexp"
	"strconv"
	"strings"
)

// codes are the ways to write letters as something else that a model reads at sight.
// Like the other decoders they keep the lines of a text, and return "" where there is
// nothing of the kind.
var codes = []func(text string, form Form) string{numbers, morse, alphabets, turned, shifted}

// numeral is a character by its number, and numerals are many in a row.
var (
	numeral  = regexp.MustCompile(`\b(?:0x[2-7][0-9A-Fa-f]|[01]{8}|1[0-2]\d|[3-9]\d)\b`)
	numerals = regexp.MustCompile(`(?:\b(?:0x[2-7][0-9A-Fa-f]|[01]{8}|1[0-2]\d|[3-9]\d)\b[,;]?\s*){12,}`)
)

func numbers(text string, _ Form) string {
	if !numeric(text) {
		return ""
	}
	return replaced(numerals, text, func(run string) string {
		var b strings.Builder
		for _, n := range numeral.FindAllString(run, -1) {
			base := 10
			switch {
			case len(n) == 8:
				base = 2
			case n[0] == '0':
				n, base = n[2:], 16
			}
			code, _ := strconv.ParseUint(n, base, 8) // the expression lets nothing else through
			b.WriteByte(byte(code))
		}
		if !prose([]byte(b.String())) {
			return run
		}
		return b.String()
	})
}

// numeric reports whether a text has so many digits in a row as twelve numerals take.
// It is quick, as the expression is not.
func numeric(text string) bool {
	const least = 12 * len("99 ")
	run := 0
	for i := range len(text) {
		switch c := text[i]; {
		case c >= '0' && c <= '9', c|0x20 >= 'a' && c|0x20 <= 'f', c == 'x', c == ',', c == ';', c == ' ', c == '\t', c == '\r', c == '\n':
			if run++; run >= least-1 {
				return true
			}
		default:
			run = 0
		}
	}
	return false
}

// replaced is a text with another one for each match, and as many lines; "" if that
// changes nothing.
func replaced(pattern *regexp.Regexp, text string, by func(string) string) string {
	out := pattern.ReplaceAllStringFunc(text, func(s string) string {
		plain := by(s)
		return strings.ReplaceAll(plain, "\n", " ") + strings.Repeat("\n", strings.Count(s, "\n"))
	})
	if out == text {
		return ""
	}
	return out
}

// https://www.itu.int/rec/R-REC-M.1677-1-200910-I
var (
	morseLetters = byWord(".- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..- -.-- --..")
	morseRun     = regexp.MustCompile(`(?:[.·_-]{1,4}[ /]+){12,}[.·_-]{1,4}`)
)

func byWord(words string) map[string]string {
	m := map[string]string{}
	for i, w := range strings.Fields(words) {
		m[w] = string(rune('a' + i))
	}
	return m
}

func morse(text string, _ Form) string {
	if !holds(text, "- .", "– ·", "— ·", "- ·", "– .", "— .", "_ .", "− .", "- •") {
		return ""
	}
	return replaced(morseRun, strings.NewReplacer("–", "-", "—", "-", "−", "-", "•", ".").Replace(text), func(run string) string {
		run = strings.NewReplacer("·", ".", "_", "-", "/", " / ").Replace(run)
		var b strings.Builder
		for _, sign := range strings.Fields(run) {
			if sign == "/" {
				b.WriteByte(' ')
			}
			b.WriteString(morseLetters[sign])
		}
		return b.String()
	})
}

// others are the 26 letters in alphabets of signs: Braille, and the halves of flags.
var others = letters("⠁⠃⠉⠙⠑⠋⠛⠓⠊⠚⠅⠇⠍⠝⠕⠏⠟⠗⠎⠞⠥⠧⠺⠭⠽⠵", "🇦🇧🇨🇩🇪🇫🇬🇭🇮🇯🇰🇱🇲🇳🇴🇵🇶🇷🇸🇹🇺🇻🇼🇽🇾🇿")

func letters(alphabets ...string) map[rune]rune {
	m := map[rune]rune{}
	for _, all := range alphabets {
		for i, r := range []rune(all) {
			m[r] = 'a' + rune(i)
		}
	}
	return m
}

var (
	signRun = regexp.MustCompile(`(?:[\x{2801}-\x{28FF}\x{1F1E6}-\x{1F1FF}][ \t]*){8,}`)
	flags   = regexp.MustCompile(`([\x{1F1E6}-\x{1F1FF}]) ?`)
)

func alphabets(text string, _ Form) string {
	// The first bytes of their characters in UTF-8.
	if !holds(text, "\xe2\xa0", "\xf0\x9f\x87") {
		return ""
	}
	return replaced(signRun, text, func(run string) string {
		return strings.Map(func(r rune) rune {
			if letter, ok := others[r]; ok {
				return letter
			}
			return r
		}, flags.ReplaceAllString(run, "$1"))
	})
}

// upturned are letters that stand on their heads, behind those that they are.
var upturned = func() map[rune]rune {
	m := map[rune]rune{}
	all := []rune("aɐbqcɔdpeǝfɟgƃhɥiıjɾkʞmɯnuprqbrɹtʇunvʌwʍyʎ")
	for i := 0; i+1 < len(all); i += 2 {
		m[all[i+1]] = all[i]
	}
	m['p'], m['d'] = 'd', 'p'
	return m
}()

func turned(text string, _ Form) string {
	if !strings.ContainsAny(text, "ɹʇʌ") || !strings.ContainsAny(text, "ǝɔı") {
		return ""
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.Map(func(r rune) rune {
			if upright, ok := upturned[r]; ok {
				return upright
			}
			return r
		}, reverse(line))
	}
	return strings.Join(lines, "\n")
}

// maxShifted bounds the texts that are searched for shifted alphabets, in bytes.
const maxShifted = 64 << 10

// shifted undoes an alphabet that is shifted or turned round, if words come of it
// without which no order gets by. Rot13 has a decoder of its own, for any length.
func shifted(text string, _ Form) string {
	if len(text) > maxShifted {
		return ""
	}
	lower := strings.ToLower(text)
	for _, c := range ciphers {
		found := 0
		for _, word := range c.words {
			if strings.Contains(lower, word) {
				found++
			}
		}
		if found >= 2 {
			return strings.Map(c.undo, lower)
		}
	}
	return ""
}

type cipher struct {
	undo  func(rune) rune
	words []string // what the words become
}

var ciphers = func() []cipher {
	var all []cipher
	add := func(do, undo func(rune) rune) {
		all = append(all, cipher{undo, each([]string{"instruct", "previous", "approv", "ignore", "verdict", "finding", "review"}, func(w string) string { return strings.Map(do, w) })})
	}
	shift := func(by rune) func(rune) rune {
		return func(r rune) rune {
			if r < 'a' || r > 'z' {
				return r
			}
			return 'a' + (r-'a'+by)%26
		}
	}
	for by := rune(1); by < 26; by++ {
		add(shift(by), shift(26-by))
	}
	atbash := func(r rune) rune {
		if r < 'a' || r > 'z' {
			return r
		}
		return 'z' - (r - 'a')
	}
	add(atbash, atbash)
	return all
}()
