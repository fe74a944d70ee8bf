package suspect

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"iter"
	"strings"
)

// shortestBlob is the length of what may be text in base64 or in hexadecimal digits.
const shortestBlob = 16

// runs are the parts of a line that may be such text.
func runs(line string) iter.Seq[string] {
	return func(yield func(string) bool) {
		start := 0
		for i := 0; i <= len(line); i++ {
			if i < len(line) && coding[line[i]] {
				continue
			}
			if i-start >= shortestBlob && !yield(line[start:i]) {
				return
			}
			start = i + 1
		}
	}
}

// coding are the characters of such text.
var coding = func() (set [256]bool) {
	for _, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-") {
		set[c] = true
	}
	return set
}()

// blobs is a text with nothing in its lines but what the blobs there decode to, or
// "" if none of them decodes to words.
func blobs(text string, _ Form) string {
	var b strings.Builder
	some := false
	for line := range strings.Lines(text) {
		for found := range runs(line) {
			if plain := decodeBlob(found); plain != "" {
				b.WriteString(strings.ReplaceAll(plain, "\n", " ") + " . ")
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

// decodeBlob is the text that a blob stands for, or "".
func decodeBlob(b string) string {
	if data, err := hex.DecodeString(b); err == nil && prose(data) {
		return string(data)
	}
	b = strings.TrimRight(strings.NewReplacer("-", "+", "_", "/").Replace(b), "=")
	if data, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(b); err == nil && prose(data) {
		return string(data)
	}
	data, err := base64.RawStdEncoding.DecodeString(b[:len(b)-len(b)%4])
	if err != nil {
		return ""
	}
	data = inflate(data)
	if text := wide(data); text != "" {
		data = []byte(text)
	}
	if !prose(data) {
		return ""
	}
	return string(data)
}

// prose reports whether bytes look like words.
func prose(data []byte) bool {
	letters := 0
	for _, c := range data {
		switch {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == ' ':
			letters++
		case c >= 0x7f || c < ' ' && c != '\n' && c != '\r' && c != '\t':
			return false
		}
	}
	return letters*10 >= len(data)*8
}
