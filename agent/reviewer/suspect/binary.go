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

// Binary returns the text of a file for which git shows no lines but which is text, in UTF-16 or because an
// attribute declares it binary. It leaves out the lines that the file contained before.
func Binary(path string, before, after []byte) []Text {
	text := legible(after)
	if text == "" {
		return nil
	}
	return []Text{{Form: Code, Path: path, Line: 1, Text: fresh(legible(before), text)}}
}

// Unread is the hold for a binary file that is too large to be examined.
func Unread(path string, max int64) verdict.Hold {
	return verdict.Hold{Kind: verdict.HiddenText, Rule: rule, Path: path,
		Detail: fmt.Sprintf("The binary file could not be looked into: it is larger than %d MiB, or the change's binary files are too large "+
			"together.", max>>20)}
}

// legible returns a file's content as text, or "" if the file is not text.
func legible(data []byte) string {
	if text := wide(data); text != "" {
		return text
	}
	if utf8.Valid(data) && bytes.IndexByte(data, 0) < 0 {
		return string(data)
	}
	return ""
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

// wide decodes a text in UTF-16, which it recognises by a byte order mark or because one byte of most pairs
// is 0. It returns "" if there is none.
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
	text := string(utf16.Decode(units))
	if noise(text) {
		return "" // numbers, sounds or pictures
	}
	return text
}

// noise reports whether more than a few characters are not those of a text.
func noise(text string) bool {
	odd, all := 0, 0
	for _, r := range text {
		if all++; unicode.IsControl(r) && !unicode.IsSpace(r) || r == utf8.RuneError {
			odd++
		}
	}
	return odd*20 > all
}

func orderByZeros(data []byte) binary.ByteOrder {
	var zeros [2]int
	for i, c := range data {
		if c == 0 {
			zeros[i%2]++
		}
	}
	switch pairs := len(data) / 2; {
	case pairs < 4:
	case zeros[1]*10 >= pairs*6 && zeros[0]*20 <= pairs:
		return binary.LittleEndian
	case zeros[0]*10 >= pairs*6 && zeros[1]*20 <= pairs:
		return binary.BigEndian
	}
	return nil
}
