package impact

import (
	"bytes"
	"slices"
	"strings"
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

// definers are the words that begin a definition. notTypes are words that can precede a call, so they are no
// type of a function's result. controls begin a line that ends in a brace and defines nothing.
var definers, notTypes, controls = hashes(`def defp defmacro defmodule func fun fn function class interface struct enum union trait type typealias
		object record protocol module mod namespace val const`),
	hashes(`return new else await throw throws case in and or not yield assert delete goto of puts raise import when if elif unless until while do
		print echo typeof is as where with from select lambda go defer extends implements use include require co_return co_await sizeof instanceof
		then end begin the a an see by to`),
	hashes(`if for while switch catch function foreach with match until unless when synchronized lock using`)

func hashes(text string) map[word]bool {
	all := map[word]bool{}
	for each := range strings.FieldsSeq(text) {
		all[hash(each)] = true
	}
	return all
}

// wordsOf returns the words of at least two bytes in a text, sorted, each once. A word that looks like the name
// of a definition is also included as a definition, so that a definition is hardly ever missed.
func wordsOf(text []byte, into []word) []word {
	into = into[:0]
	var before word    // the preceding word, if only a space separates it
	method := false    // in a line that begins with func and a receiver
	parted := false    // in a name of several parts that is being defined
	line, end := 0, -1 // where the line began, and where the preceding word ended
	var last word
	for i := 0; i < len(text); {
		c := text[i]
		if !wordByte[c] {
			switch {
			case c == '\n':
				before, method, parted, line, end = 0, false, false, i+1, -1
			case parted && (c == '.' || c == ':'):
			case c != ' ':
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
			before, end, last = 0, i, 0
			continue
		}
		into = append(into, word(h))
		if before != 0 && definers[before] || begins(text, line, start, i, end, last, word(h)) {
			into = append(into, word(h)^asDefinition)
		}
		last, end = word(h), i
		// The name of a module or of a class can have several parts.
		if parted = definers[before] && i+1 < len(text) && (text[i] == '.' || text[i] == ':' && text[i+1] == ':'); !parted {
			before = word(h)
		}
	}
	slices.Sort(into)
	return slices.Compact(into)
}

// begins reports whether a word looks like the name of a definition without a keyword: a function after the
// type of its result, a method whose line ends in a brace, or a constant. last is the word before it in its
// line, which ended at end.
func begins(text []byte, line, start, stop, end int, last, name word) bool {
	if stop == len(text) {
		return false
	}
	first := end < 0
	switch next := text[stop]; {
	case next == '(' || next == '<' && generic(text[stop:]):
		if first {
			return next == '(' && start > line && !controls[name] && braced(text[stop:])
		}
		if text[start-1] == ':' { // a method of C++ outside of its class
			return wordByte[text[line]]
		}
		typed := end
		for typed < start && (text[typed] == '>' || text[typed] == ']' || text[typed] == '?') {
			typed++
		}
		return typed < start && text[typed] == ' ' && strings.Trim(string(text[typed:start]), " *&") == "" && (typed > end || !notTypes[last])
	case next == ' ' && stop+1 < len(text) && text[stop+1] == '=':
		return first && start == line || upper(text[start:stop])
	}
	return false
}

// generic reports whether type parameters and a parenthesis follow.
func generic(text []byte) bool {
	text = text[:min(len(text), 60)]
	closing := bytes.Index(text, []byte(">("))
	return closing > 0 && !bytes.ContainsAny(text[:closing], "\n;(")
}

// braced reports whether the rest of a line ends in an opening brace.
func braced(text []byte) bool {
	rest := text[:min(len(text), maxLine)]
	if at := bytes.IndexByte(rest, '\n'); at >= 0 {
		rest = rest[:at]
	}
	return bytes.HasSuffix(bytes.TrimRight(rest, " \r"), []byte("{"))
}

// upper reports whether a name is written like a constant.
func upper(name []byte) bool {
	return !bytes.ContainsFunc(name, func(r rune) bool { return 'a' <= r && r <= 'z' })
}

var funcWord = hash("func")

// parts returns the words of a name; a route or a flag may have several.
func parts(name string) []string {
	return slices.DeleteFunc(strings.FieldsFunc(name, noWord), func(part string) bool { return len(part) < 2 })
}

// hashesOf returns the words of a name as an index has them.
func hashesOf(name string) (all []word) {
	for _, part := range parts(name) {
		all = append(all, hash(part))
	}
	return all
}
