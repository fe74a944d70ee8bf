package suspect

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"touchstone/verdict"
)

const (
	// part bounds one text out of a binary file, in bytes, and overlap is how much of
	// it the next one repeats, so that no sentence is cut in two.
	part    = 1 << 20
	overlap = 4 << 10
	// shortest is the length of what counts as words amid bytes that are none.
	shortest = 4
)

// Binary is what a session can read in a file of which git shows no lines: the
// lines of one that is text all the same (in UTF-16, or because an attribute says
// that it is binary), and the words amid the bytes of another. What the file held
// before is left out.
func Binary(path string, before, after []byte) []Text {
	form, text := legible(after)
	if text == "" {
		return nil
	}
	_, old := legible(before)
	text = fresh(old, text)
	var texts []Text
	for line := 1; ; {
		t := Text{Form: form, What: "the binary file", Path: path, Line: line, Text: text}
		if len(text) <= part {
			return append(texts, t)
		}
		t.Text = text[:part]
		texts = append(texts, t)
		next := part - overlap
		for !utf8.RuneStart(text[next]) {
			next--
		}
		line += strings.Count(text[:next], "\n")
		text = text[next:]
	}
}

// Unread is the hold of a binary file that is too large to be looked into.
func Unread(path string, max int64) verdict.Hold {
	return verdict.Hold{Kind: verdict.HiddenText, Rule: rule, Path: path, Detail: fmt.Sprintf("The binary file could not be looked into: it is larger than %d MiB, or the change's binary files are too large together.", max>>20)}
}

// legible is what can be read in a file, and how it reaches its readers.
func legible(data []byte) (Form, string) {
	if text := wide(data); text != "" {
		return Code, text
	}
	if utf8.Valid(data) && bytes.IndexByte(data, 0) < 0 {
		return Code, string(data)
	}
	return Output, words(data)
}

// fresh blanks the lines of a text that were there before.
func fresh(before, text string) string {
	if before == "" {
		return text
	}
	known := map[string]bool{}
	for line := range strings.Lines(before) {
		known[strings.TrimRight(line, "\r\n")] = true
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		if known[strings.TrimRight(line, "\r\n")] {
			line = line[len(strings.TrimRight(line, "\r\n")):]
		}
		b.WriteString(line)
	}
	return b.String()
}

// wide is the text that is written in UTF-16, by a byte order mark or since one byte
// of most pairs is 0, or "".
func wide(data []byte) string {
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(data, []byte{0xFF, 0xFE}):
		order = binary.LittleEndian
	case bytes.HasPrefix(data, []byte{0xFE, 0xFF}):
		order = binary.BigEndian
	default:
		order = orderByZeros(data[:min(len(data), 4<<10)])
	}
	if order == nil {
		return ""
	}
	units := make([]uint16, len(data)/2)
	for i := range units {
		units[i] = order.Uint16(data[2*i:])
	}
	runes := utf16.Decode(units)
	odd := 0
	for _, r := range runes {
		if unicode.IsControl(r) && !unicode.IsSpace(r) || r == utf8.RuneError {
			odd++
		}
	}
	if odd*20 > len(runes) {
		return "" // numbers, sounds or pictures
	}
	return string(runes)
}

func orderByZeros(data []byte) binary.ByteOrder {
	var zeros [2]int
	for i, c := range data {
		if c == 0 {
			zeros[i%2]++
		}
	}
	switch pairs := len(data) / 2; {
	case pairs < shortest:
	case zeros[1]*10 >= pairs*6 && zeros[0]*20 <= pairs:
		return binary.LittleEndian
	case zeros[0]*10 >= pairs*6 && zeros[1]*20 <= pairs:
		return binary.BigEndian
	}
	return nil
}

// words are the runs of characters amid other bytes, each on its own line. A few
// zeros between two characters are how UTF-16 and UTF-32 write Latin ones.
func words(data []byte) string {
	var all []byte
	start, zeros := 0, 0 // where in all the run began; zeros since its last character
	end := func() {
		if len(all)-start < shortest {
			all = all[:start]
		} else {
			all = append(all, '\n')
		}
		start = len(all)
	}
	for len(data) > 0 {
		r, size := utf8.DecodeRune(data)
		data = data[size:]
		switch {
		case r == 0 && zeros < 3:
			zeros++
			continue
		case r != utf8.RuneError && (unicode.IsPrint(r) || r == '\t'):
			all = utf8.AppendRune(all, r)
		case len(all) > start:
			end()
		}
		zeros = 0
	}
	end()
	return string(all)
}
