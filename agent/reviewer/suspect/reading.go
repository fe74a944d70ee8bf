package suspect

import (
	"bytes"
	"html"
	"net/url"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"touchstone/agent/reviewer/hidden"
)

// reading is one way to read a text: in lower case, with single blanks, and
// without what marks comments, quotations and lists at the beginning of lines.
type reading struct {
	text   string
	starts []int // where in text each line begins
	bare   bool  // without the signs between words
}

// line is the number of the line that a byte of the text is from.
func (r reading) line(at int) int {
	return max(1, sort.SearchInts(r.starts, at+1))
}

// leader is what a line begins with that is not part of its sentence.
const leader = " \t/*#>|;!%\"'`~+-_=.:·•{}()[],"

// same maps signs to those that they resemble.
var same = strings.NewReplacer("‐", "-", "‑", "-", "‒", "-", "–", "-", "—", "-", "−", "-", "‹", "<", "›", ">", "⟨", "<", "⟩", ">", "〈", "<", "〉", ">",
	"“", `"`, "”", `"`, "„", `"`, "«", `"`, "»", `"`, "‘", "'", "’", "'", "ʼ", "'", "ǃ", "!", "：", ":", "\u00a0", " ")

// read makes the plain reading of a text. In a bare one, a line without words does
// not end a sentence.
func read(text string, bare bool) reading {
	r := reading{bare: bare}
	var b strings.Builder
	for line := range strings.Lines(same.Replace(hidden.Plain(text))) {
		r.starts = append(r.starts, b.Len())
		// What could be the beginning of a marker or a fence stays.
		line = strings.TrimSpace(line)
		if rest := strings.TrimLeft(line, leader); rest == "" && bare {
			continue
		} else if rest == "" {
			line += " ." // a line without words ends a sentence
		} else if sign := line[:len(line)-len(rest)]; !strings.ContainsAny(sign, "`~[<!") {
			line = rest
		}
		for i, word := range strings.Fields(line) {
			if i > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(word)
		}
		b.WriteByte('\n')
	}
	r.text = b.String()
	return r
}

// signs are what a program has between words that stand apart in it, and bareTopic
// is what has to be there if they are to be an order.
var (
	signs     = regexp.MustCompile("[\"'`,;+*/#|&(){}\\[\\]\\\\—–-]+")
	bareTopic = regexp.MustCompile(`(?i)instructions|prompts|directives|approve`)
)

// maxDepth bounds how often what was decoded is decoded again.
const maxDepth = 2

// readings are all ways in which a text is read: as it stands, and with what is
// encoded in it decoded, since a model decodes without being asked twice.
func readings(t Text) []reading {
	var all []reading
	seen := map[string]bool{t.Text: true}
	texts := []string{t.Text}
	for depth := 0; len(texts) > 0; depth++ {
		var decoded []string
		for _, text := range texts {
			all = append(all, read(text, false))
			if t.Form == Code && bareTopic.MatchString(text) {
				all = append(all, read(signs.ReplaceAllString(text, " "), true))
			}
			if names := worded(text); names != "" {
				all = append(all, read(names, false))
			}
			for _, decode := range allDecoders {
				if next := decode(text, t.Form); next != "" && !seen[next] && depth < maxDepth {
					seen[next] = true
					decoded = append(decoded, next)
				}
			}
		}
		texts = decoded
	}
	return all
}

var allDecoders = slices.Concat(decoders, codes, spellings)

// decoders undo an encoding of a whole text, or return "". They keep its lines.
var decoders = []func(text string, form Form) string{
	blobs,
	func(text string, form Form) string {
		if form != Code {
			return join(hyphen, text)
		}
		return join(concatenation, text)
	},
	func(text string, _ Form) string {
		if !entity.MatchString(text) {
			return ""
		}
		return html.UnescapeString(text)
	},
	func(text string, _ Form) string {
		if strings.Count(text, "%20") < 3 {
			return ""
		}
		return percent.ReplaceAllStringFunc(text, func(s string) string {
			s, _ = url.PathUnescape(s)
			return s
		})
	},
	func(text string, _ Form) string {
		if !holds(text, `\x`, `\u`, `\1`, "=4", "=5", "=6", "=7") || !escapes.MatchString(text) {
			return ""
		}
		return escapes.ReplaceAllStringFunc(text, func(s string) string { return escape.ReplaceAllStringFunc(s, unescape) })
	},
	func(text string, _ Form) string {
		if !holds(text, backwards...) {
			return ""
		}
		lines := strings.Split(text, "\n")
		for i, line := range lines {
			lines[i] = reverse(line)
		}
		return strings.Join(lines, "\n")
	},
	func(text string, _ Form) string {
		if !holds(text, rotated...) {
			return ""
		}
		return strings.Map(rot13, text)
	},
	func(text string, form Form) string {
		if form != Markdown {
			return ""
		}
		return decoration.ReplaceAllString(text, "")
	},
	func(text string, form Form) string {
		if (form == Code || form == Output) && !disguised(text) {
			return ""
		}
		return spaced.ReplaceAllStringFunc(leet.ReplaceAllStringFunc(text, unleet), func(s string) string {
			return strings.Map(func(r rune) rune {
				if unicode.IsLetter(r) {
					return r
				}
				return -1
			}, s)
		})
	},
}

var (
	// decoration is what Markdown shows as a look of the text and not as text.
	decoration = regexp.MustCompile("</?[A-Za-z][^<>]{0,200}>|[*`]+|\\b__?|__?\\b")

	// concatenation is what stands between two parts of one string in a program, and
	// hyphen what divides a word at a line's end.
	concatenation = regexp.MustCompile("([\"'`])[ \t]*(?:[ \t\r\n]*(?:\\+|\\.{1,2}|<>|&|\\|\\||~|\\\\)[ \t\r\n]*|[ \t]*\r?\n[ \t]*)(?:[rbfuLR]?)[\"'`]")
	hyphen        = regexp.MustCompile(`-[ \t]*\r?\n[ \t]*`)

	entity  = regexp.MustCompile(`&(?:#[0-9xX]|[A-Za-z]{2,31};)`)
	percent = regexp.MustCompile(`(?:%[0-9A-Fa-f]{2})+`)
	// escapes are those of programs and of mail, of characters of ASCII.
	escapes = regexp.MustCompile(`(?:\\x[2-7][0-9A-Fa-f]|\\u00[2-7][0-9A-Fa-f]|\\u\{[2-7][0-9A-Fa-f]\}|\\[01]?[4-7][0-7]|\\1[0-7]{2}|=[2-7][0-9A-F]){4,}`)
	escape  = regexp.MustCompile(`\\(?:x|u00|u\{)?([0-9A-Fa-f]{2,3})\}?|=([0-9A-F]{2})`)
	leet    = regexp.MustCompile(`[A-Za-z013457@$]*(?:[A-Za-z][013457@$]|[013457@$][A-Za-z])[A-Za-z013457@$]*`)
	spaced  = regexp.MustCompile(`(?:\b[A-Za-z][ ._*|-]){5,}[A-Za-z]\b`)
)

// unescape is the character of one escape: octal behind a mere backslash, else hexadecimal.
func unescape(s string) string {
	base := 16
	if s[0] == '\\' && s[1] >= '0' && s[1] <= '9' {
		base = 8
	}
	m := escape.FindStringSubmatch(s)
	code, err := strconv.ParseUint(m[1]+m[2], base, 8)
	if err != nil {
		return s
	}
	return string(rune(code))
}

// stems are the beginnings of words without which no order gets by.
var stems = []string{"instruct", "approv", "verdict", "prompt", "review", "ignor", "previous", "finding", "disregard"}

var backwards, rotated = each(stems, reverse), each(stems, func(s string) string { return strings.Map(rot13, s) })

// disguise are some of them in other signs than their letters. One of the pieces is in
// each: to look for those is quick.
var (
	disguise = regexp.MustCompile(`(?i)[i1]gn[o0]r[e3]|[a4@]ppr[o0]v[e3]|[i1]n[s5$][t7]ruc[t7]|pr[e3]v[i1][o0]u[s5$]`)
	pieces   = strings.Fields("gnor gn0r ppro ppr0 ruct ruc7 previ pr3vi prev1 pr3v1")
)

// disguised reports whether a text may have them in such signs, or taken apart.
func disguised(text string) bool {
	return apart(text) || holds(text, pieces...) && disguise.MatchString(text)
}

// apart reports whether a text has a word's letters one by one, with a sign between them.
func apart(text string) bool {
	letter := func(i int) bool { return i >= 0 && i < len(text) && (text[i]|0x20 >= 'a' && text[i]|0x20 <= 'z') }
	n := 0
	for i := 0; i+1 < len(text); {
		if letter(i) && !letter(i-1) && strings.IndexByte(" ._*|-", text[i+1]) >= 0 {
			if n++; n > 5 {
				return true
			}
			i += 2
			continue
		}
		n = 0
		i++
	}
	return false
}

func each(words []string, do func(string) string) []string {
	var all []string
	for _, w := range words {
		all = append(all, do(w))
	}
	return all
}

// join is a text with nothing in its lines but those that a divider parts or stands
// in, joined into the first of them; "" if there are none.
func join(divider *regexp.Regexp, text string) string {
	found := divider.FindAllStringIndex(text, -1)
	if found == nil {
		return ""
	}
	var b strings.Builder
	at := 0
	for i := 0; i < len(found); {
		start, end := 1+strings.LastIndexByte(text[:found[i][0]], '\n'), found[i][0]
		b.WriteString(strings.Repeat("\n", strings.Count(text[at:start], "\n")))
		lines := 0
		for at = start; i < len(found) && found[i][0] <= end; i++ {
			b.WriteString(text[at:found[i][0]])
			lines += strings.Count(text[found[i][0]:found[i][1]], "\n")
			at = found[i][1]
			if end = strings.IndexByte(text[at:], '\n'); end < 0 {
				end = len(text)
			} else {
				end += at
			}
		}
		b.WriteString(text[at:end] + strings.Repeat("\n", lines))
		at = end
	}
	return b.String()
}

func unleet(s string) string {
	return strings.NewReplacer("0", "o", "1", "i", "3", "e", "4", "a", "5", "s", "7", "t", "@", "a", "$", "s").Replace(s)
}

// holds reports whether a text has one of some words in it, which are in lower case. It
// folds the letters of ASCII alone: that is quick.
func holds(text string, words ...string) bool {
	lower := []byte(text)
	for i, c := range lower {
		if c >= 'A' && c <= 'Z' {
			lower[i] = c | 0x20
		}
	}
	for _, w := range words {
		if bytes.Contains(lower, []byte(w)) {
			return true
		}
	}
	return false
}

func reverse(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeLastRuneInString(s)
		b.WriteRune(r)
		s = s[:len(s)-n]
	}
	return b.String()
}

func rot13(r rune) rune {
	switch {
	case r >= 'a' && r <= 'z':
		return 'a' + (r-'a'+13)%26
	case r >= 'A' && r <= 'Z':
		return 'A' + (r-'A'+13)%26
	}
	return r
}

// name is an identifier, a path or a branch that can hold a sentence.
var name = regexp.MustCompile(`[A-Za-z0-9_./+-]{16,}`)

// worded is the long names of a text, taken apart into their words, each on its
// own line; the lines of other text are left blank, so that they keep their number.
func worded(text string) string {
	if !holds(text, "ignore", "disregard", "approve", "instruction", "verdict", "prompt", "reviewer", "reviewbot", "forget") {
		return ""
	}
	var b strings.Builder
	some := false
	for line := range strings.Lines(text) {
		for _, n := range name.FindAllString(line, -1) {
			if words := splitName(n); strings.Count(words, " ") >= 2 {
				b.WriteString(words + " . ")
				some = true
			}
		}
		b.WriteByte('\n')
	}
	if !some {
		return ""
	}
	return b.String()
}

var hump = regexp.MustCompile(`([a-z0-9])([A-Z])`)

func splitName(n string) string {
	n = hump.ReplaceAllString(n, "$1 $2")
	return strings.Join(strings.FieldsFunc(n, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }), " ")
}
