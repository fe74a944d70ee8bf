package impact

import (
	"bytes"
	"slices"
)

// word is the hash of a word, which consists of letters, digits and underscores. Two words can have the same
// hash, so an index says where to look and not what is there.
type word uint32

const (
	hashStart = 2166136261 // FNV-1a
	hashPrime = 16777619
	// asDefinition marks the words that a file defines, in addition to those that it contains.
	asDefinition word = 0x9e3779b9
)

// wordByte are the bytes of words. Non-ASCII bytes count as letters.
var wordByte [256]bool

func init() {
	for c := range wordByte {
		wordByte[c] = c == '_' || c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
	}
}

func hash(text string) word {
	h := uint32(hashStart)
	for i := range len(text) {
		h = (h ^ uint32(text[i])) * hashPrime
	}
	return word(h)
}

// defined returns the word for a definition of a name.
func defined(name string) word { return hash(name) ^ asDefinition }

// definers are the words that begin a definition.
var definers = map[word]bool{}

func init() {
	for _, text := range []string{"def", "defp", "func", "fun", "fn", "function", "class", "interface", "struct", "enum", "trait", "type",
		"object", "record", "protocol", "val", "const"} {
		definers[hash(text)] = true
	}
}

// wordsOf returns the words of at least two bytes in a text, sorted, each once. A word that is being defined
// is also included as a definition.
func wordsOf(text []byte, into []word) []word {
	into = into[:0]
	var before word // the preceding word, if only a space separates it
	method := false // in a line that begins with func and a receiver
	for i := 0; i < len(text); {
		c := text[i]
		if !wordByte[c] {
			if c == '\n' {
				before, method = 0, false
			} else if c != ' ' {
				method = method && c != '{' || c == '(' && before == funcWord
				before = 0
				if c == ')' && method && i+1 < len(text) && text[i+1] == ' ' {
					before, method = funcWord, false
				}
			}
			i++
			continue
		}
		h := uint32(hashStart)
		start := i
		for ; i < len(text) && wordByte[text[i]]; i++ {
			h = (h ^ uint32(text[i])) * hashPrime
		}
		if i-start < 2 {
			before = 0
			continue
		}
		into = append(into, word(h))
		if before != 0 && definers[before] {
			into = append(into, word(h)^asDefinition)
		}
		before = word(h)
	}
	slices.Sort(into)
	return slices.Compact(into)
}

var funcWord = hash("func")

// parts returns the words of a name; a route or a flag may have several.
func parts(name string) []string {
	var all []string
	for part := range bytes.FieldsFuncSeq([]byte(name), func(r rune) bool { return r < 0x80 && !wordByte[byte(r)] }) {
		if len(part) >= 2 {
			all = append(all, string(part))
		}
	}
	return all
}
