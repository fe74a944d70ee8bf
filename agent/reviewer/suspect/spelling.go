package suspect

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/ascii85"
	"encoding/base64"
	"encoding/binary"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// spellings are ways to write words that a model reads as if they were spelled right.
// Like the other decoders they keep the lines of a text, and return "" where there is
// nothing of the kind.
var spellings = []func(text string, form Form) string{misspelt, turnedRound, pigLatin, letterNumbers, utf7, printable}

// meant are words that orders are made of, by their consonants.
var meant = func() map[consonants]string {
	m := map[consonants]string{}
	for _, w := range strings.Fields("ignore disregard previous instructions approve verdict findings reviewer guidelines") {
		m[consonantsOf(w)] = w
	}
	return m
}()

// consonants are those of a word, as a set of bits: what is left of it to a reader when
// letters are doubled, swapped or missing.
type consonants uint32

func consonantsOf(word string) (set consonants) {
	for i := range len(word) {
		if c := word[i] | 0x20; c >= 'a' && c <= 'z' && !vowel(c) {
			set |= 1 << (c - 'a')
		}
	}
	return set
}

func vowel(c byte) bool { return strings.IndexByte("aeiou", c) >= 0 }

// near is how far apart, in bytes, two words of one order stand at most.
const near = 100

// misspelt rights the words that orders are made of, if two of them are spelled wrong near
// each other: one may be an error, or another word.
func misspelt(text string, _ Form) string {
	var b strings.Builder
	last, at, two := "", 0, false
	for start := 0; start < len(text); {
		end := start
		for end < len(text) && (text[end]|0x20 >= 'a' && text[end]|0x20 <= 'z' || text[end] == '*') {
			end++
		}
		if end-start >= 4 {
			if right := rightOf(text[start:end]); right != "" {
				two = two || last != "" && last != right && start-at <= near
				b.WriteString(text[at:start])
				b.WriteString(right)
				last, at = right, end
			}
		}
		start = end + 1
	}
	if !two {
		return ""
	}
	return b.String() + text[at:]
}

// rightOf is the word that another one may be meant to be, or "": it has the same
// consonants, and begins with the same letter unless it has no vowels at all.
func rightOf(word string) string {
	right, ok := meant[consonantsOf(word)]
	if !ok || len(word) > 2*len(right) || strings.EqualFold(word, right) {
		return ""
	}
	vowels := slices.ContainsFunc([]byte(strings.ToLower(word)), vowel)
	if vowels && word[0]|0x20 != right[0] || strings.Trim(word, "*") != word {
		return ""
	}
	return right
}

// turnedRound are lines whose words stand in reverse order.
func turnedRound(text string, _ Form) string {
	if !holds(text, "instructions previous", "instructions prior", "instructions all", "prompts previous", "instructions your", "request pull", "instructions earlier", "instructions above") {
		return ""
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		words := strings.Fields(line)
		slices.Reverse(words)
		lines[i] = strings.Join(words, " ")
	}
	return strings.Join(lines, "\n")
}

// latin is a word of Pig Latin: its first consonants at its end, and ay behind them.
var latin = regexp.MustCompile(`\b([A-Za-z]+?)(?:w|([bcdfghjklmnpqrstvxyz]{1,3}))ay\b`)

func pigLatin(text string, _ Form) string {
	if !holds(text, "instructionsway", "eviouspray", "ignoreway", "approveway", "omptspray") {
		return ""
	}
	return replaced(latin, text, func(word string) string {
		m := latin.FindStringSubmatch(word)
		return m[2] + m[1]
	})
}

// lettered are letters by their place in the alphabet.
var lettered = regexp.MustCompile(`(?:\b(?:1\d|2[0-6]|[1-9])\b[-–., /]*){15,}`)
var place = regexp.MustCompile(`\d+|/`)

func letterNumbers(text string, _ Form) string {
	// "ns" ends instructions, "pp" stands in approve, "gn" in ignore.
	if !holds(text, "14-19", "16-16", "7-14", "14 19", "16 16", "7 14", "14,19", "16,16", "7,14", "14.19", "16.16", "7.14") {
		return ""
	}
	return replaced(lettered, text, func(run string) string {
		var b strings.Builder
		for _, p := range place.FindAllString(run, -1) {
			if n, err := strconv.Atoi(p); err == nil {
				b.WriteByte('a' + byte(n-1))
			} else {
				b.WriteByte(' ')
			}
		}
		return b.String()
	})
}

// shift7 is a character in UTF-7 (https://www.rfc-editor.org/rfc/rfc2152).
var shift7 = regexp.MustCompile(`\+([A-Za-z0-9/]{3,})-`)

func utf7(text string, _ Form) string {
	if !strings.Contains(text, "+AG") {
		return ""
	}
	return replaced(shift7, text, func(s string) string {
		data, err := base64.RawStdEncoding.DecodeString(s[1 : len(s)-1])
		if err != nil {
			return s
		}
		var b strings.Builder
		for ; len(data) > 1; data = data[2:] {
			b.WriteRune(rune(binary.BigEndian.Uint16(data)))
		}
		return b.String()
	})
}

// alphabet85 are the 85 signs of one way to write bytes; encoding/ascii85 has those of
// the other (https://www.rfc-editor.org/rfc/rfc1924).
const alphabet85 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"

// token is what may be text in such signs.
var token = regexp.MustCompile(`\S{40,}`)

func printable(text string, form Form) string {
	if form == Output || !signed(text) {
		return ""
	}
	return replaced(token, text, func(s string) string {
		for _, spelled := range []string{s, to85(s)} {
			data := make([]byte, len(spelled)*4)
			n, _, err := ascii85.Decode(data, []byte(strings.TrimSuffix(strings.TrimPrefix(spelled, "<~"), "~>")), true)
			if err == nil && n > 0 && prose(data[:n]) {
				return string(data[:n])
			}
		}
		return s
	})
}

// signed reports whether a text has a token with so many signs in it that are no letters.
func signed(text string) bool {
	length, signs := 0, 0
	for i := range len(text) {
		switch c := text[i]; {
		case c <= ' ':
			length, signs = 0, 0
			continue
		case c >= '0' && c <= '9', c|0x20 >= 'a' && c|0x20 <= 'z', c == '/', c == '.', c == '_', c == '-':
		default:
			signs++
		}
		if length++; length >= 40 && signs >= 4 {
			return true
		}
	}
	return false
}

// to85 is a text in alphabet85 as encoding/ascii85 would have written it, or "".
func to85(s string) string {
	b := []byte(s)
	for i, c := range b {
		n := strings.IndexByte(alphabet85, c)
		if n < 0 {
			return ""
		}
		b[i] = '!' + byte(n)
	}
	return string(b)
}

// maxInflated bounds what is read of a packed text, in bytes.
const maxInflated = 64 << 10

// inflate is the text that was packed by gzip or zlib, or the data as it is.
func inflate(data []byte) []byte {
	var r io.Reader
	var err error
	switch {
	case bytes.HasPrefix(data, []byte{0x1f, 0x8b}):
		r, err = gzip.NewReader(bytes.NewReader(data))
	case len(data) > 2 && data[0] == 0x78 && binary.BigEndian.Uint16(data)%31 == 0:
		r, err = zlib.NewReader(bytes.NewReader(data))
	default:
		return data
	}
	if err != nil {
		return data
	}
	text, _ := io.ReadAll(io.LimitReader(r, maxInflated)) // one that is cut is read as far as it goes
	return text
}
