package hidden

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// resembling are letters of other scripts that look like a Latin one, those that
// occur in attacks out of https://www.unicode.org/Public/security/latest/confusables.txt.
var resembling = pairs("аaеeоoрpсcуyхxіiѕsјjһhԁdԛqԝwӏlкkтtвbнhмmгrпnиuАAВBЕEКKМMНHОOРPСCТTУYХXІIЅSЈJԌGԜWҮYӀI" +
	"οoνvρpαaιiυuκkτtχxηnεeΑAΒBΕEΖZΗHΙIΚKΜMΝNΟOΡPΤTΥYΧX" +
	"օoսuոnհhցgզqՕOՍUᎪAᏴBᏟCᎠDᎬEᏀGᎻHᎢIᎫJᏦKᏞLᎷMᏢPᏒRᏚSᎢTᏙVᎳWᏃZ" +
	"ꓮAꓐBꓚCꓓDꓰEꓝFꓖGꓧHꓲIꓙJꓗKꓡLꓟMꓠNꓳOꓑPꓣRꓢSꓔTꓴUꓦVꓪWꓫXꓬYꓜZ" +
	"ᴀaʙbᴄcᴅdᴇeꜰfɢgʜhɪiᴊjᴋkʟlᴍmɴnᴏoᴘpʀrꜱsᴛtᴜuᴠvᴡwʏyᴢzɑaɡgıi")

// closely are those of them with which a whole word can pass for a Latin one.
const closely = "аеорсухіѕјһԁԛԝӏАВЕКМНОРСТУХІЅЈΑΒΕΖΗΙΚΜΝΟΡΤΥΧοᎪᏴᏟᎠᎬᏀᎻᎢᎫᏦᏞᎷᏢᏒᏚᏙᎳᏃ"

// foreign are the scripts whose letters pass for Latin ones.
var foreign = []*unicode.RangeTable{unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Cherokee, unicode.Lisu, unicode.Coptic}

func pairs(text string) map[rune]rune {
	all := []rune(text)
	m := map[rune]rune{}
	for i := 0; i+1 < len(all); i += 2 {
		m[all[i]] = all[i+1]
	}
	return m
}

// Plain is what a text seems to say: in Latin letters of lower case, with tag
// characters spelt out, and without anything invisible. It is for matching, never
// for people; each line stays one line.
func Plain(text string) string {
	if !plain(strings.NewReplacer("\n", "", "\r", "").Replace(text)) {
		text = norm.NFKC.String(strings.Map(func(r rune) rune {
			switch {
			case isTag(r):
				if r -= 0xE0000; r < ' ' || r > '~' {
					return -1
				}
			case invisible(r), r >= 0x202A && r <= 0x202E, r >= 0x2066 && r <= 0x2069:
				return -1
			}
			return r
		}, text))
		// A capital can look like another letter than its small form does.
		text = strings.Map(skeleton, strings.ToLower(strings.Map(skeleton, norm.NFKD.String(text))))
	}
	return strings.ToLower(text)
}

// skeleton is the Latin letter that a letter looks like. Accents, which are put on
// letters to keep a program from reading them, are none.
func skeleton(r rune) rune {
	if latin, ok := resembling[r]; ok {
		return latin
	}
	if unicode.Is(unicode.Mn, r) {
		return -1
	}
	return r
}

// lookalikes marks words that show other letters than they have.
func (f *finder) lookalikes() {
	native := map[*unicode.RangeTable]bool{} // scripts that this line is really written in
	latinLine := false
	f.words(func(_, _ int, word string) {
		switch script, mixed := scriptOf(word); {
		case mixed:
		case script == unicode.Latin:
			latinLine = true
		case script != nil && !passes(word):
			native[script] = true
		}
	})
	if latinLine {
		f.signs(native)
	}
	f.words(func(start, end int, word string) {
		if lookalike(word, latinLine, native) || latinLine && f.names(start, end) && passes(word) {
			f.mark(start, end, Lookalike, fmt.Sprintf("%s, which is not %q", word, Plain(word)))
		}
	})
}

// sign is what passes for punctuation of ASCII: two slashes, the exclamation mark of
// an inequality, a semicolon that is a question mark in Greek.
var sign = regexp.MustCompile(`[\x{2044}\x{2215}\x{29F8}]{2}|\x{1C3}=|\x{37E}`)

func (f *finder) signs(native map[*unicode.RangeTable]bool) {
	for _, at := range sign.FindAllStringIndex(f.line, -1) {
		if found := f.line[at[0]:at[1]]; found != "\u037e" || !native[unicode.Greek] {
			f.mark(at[0], at[1], Lookalike, fmt.Sprintf("%+q, which is not ASCII", found))
		}
	}
}

// given is what follows a name in a program where it is given a value or called.
var given = regexp.MustCompile(`^(?:\(| ?:?= ?[^=> ])`)

// names reports whether a word of two letters or more names something in a program.
func (f *finder) names(start, end int) bool {
	before, _ := utf8.DecodeLastRuneInString(f.line[:start])
	word := f.line[start:end]
	return !isASCII(word) && utf8.RuneCountInString(word) >= 2 && !strings.ContainsRune("\"'`", before) && given.MatchString(f.line[end:])
}

// words calls do with each run of letters.
func (f *finder) words(do func(start, end int, word string)) {
	start := -1
	for i, r := range f.line + " " {
		letter := unicode.IsLetter(r) || unicode.IsMark(r) && start >= 0 && !invisible(r) || enclosed(r)
		switch {
		case letter && start < 0:
			start = i
		case !letter && start >= 0:
			do(start, i, f.line[start:i])
			start = -1
		}
	}
}

// scriptOf is the one script of a word's letters, if it is Latin or foreign.
func scriptOf(word string) (script *unicode.RangeTable, mixed bool) {
	for _, r := range word {
		var own *unicode.RangeTable
		switch {
		case unicode.Is(unicode.Latin, r):
			own = unicode.Latin
		default:
			for _, s := range foreign {
				if unicode.Is(s, r) {
					own = s
				}
			}
		}
		if own != nil && script != nil && own != script {
			return nil, true
		}
		if own != nil {
			script = own
		}
	}
	return script, false
}

// passes reports whether every letter of a word passes closely for a Latin one.
func passes(word string) bool {
	return !strings.ContainsFunc(word, func(r rune) bool { return unicode.IsLetter(r) && !strings.ContainsRune(closely, r) })
}

func lookalike(word string, latinLine bool, native map[*unicode.RangeTable]bool) bool {
	if isASCII(word) {
		return false
	}
	script, mixed := scriptOf(word)
	switch {
	case mixed:
		return mixture(word, native)
	case script == unicode.Latin || script == nil:
		return stylised(word)
	}
	return latinLine && !native[script] && passes(word) && utf8.RuneCountInString(word) >= 4
}

func isASCII(word string) bool {
	return !strings.ContainsFunc(word, func(r rune) bool { return r > unicode.MaxASCII })
}

// mixture reports whether a word of several scripts is made to be read as Latin.
// In a line that is really written in the other script it may be a loanword with
// an ending of that language; in a formula, a Greek letter with an index.
func mixture(word string, native map[*unicode.RangeTable]bool) bool {
	latins, switches, first := 0, 0, true
	var before *unicode.RangeTable
	other := unicode.Latin
	for _, r := range word {
		script, _ := scriptOf(string(r))
		if script == nil {
			continue
		}
		if script == unicode.Latin {
			latins++
		} else if other = script; resembling[r] == 0 || script == unicode.Greek && first && unicode.IsLower(r) && r != 'ο' {
			return false
		}
		if before != nil && before != script {
			switches++
		}
		before, first = script, false
	}
	if switches == 1 && before != unicode.Latin && native[other] {
		return false
	}
	return other != unicode.Greek || latins >= 3
}

// stylised reports whether a word is spelt in letters that are ornaments of
// others: mathematical, enclosed, small capitals, or wide ones amid narrow ones.
func stylised(word string) bool {
	ornaments, wide, narrow := 0, 0, 0
	for _, r := range word {
		switch {
		case r >= 0x1D400 && r <= 0x1D7FF, enclosed(r), r >= 0x1D00 && r <= 0x1D22, strings.ContainsRune("ʙɢʜɪʟɴʀʏꜰꜱ", r):
			ornaments++
		case r >= 0xFF21 && r <= 0xFF5A:
			wide++
		case r <= unicode.MaxASCII:
			narrow++
		}
	}
	return ornaments >= 4 || ornaments >= 2 && narrow >= 2 || wide > 0 && narrow > 0
}

// enclosed reports whether r is a letter in a circle, a square or parentheses.
func enclosed(r rune) bool {
	return r >= 0x249C && r <= 0x24E9 || r >= 0x1F110 && r <= 0x1F189 && r != 0x1F12F
}
