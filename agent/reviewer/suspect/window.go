package suspect

import (
	"strings"
	"unicode/utf8"
)

const (
	// reach is how far from a topic, in bytes, a sentence about it is looked for.
	reach = 400
	// small is the length of a text, in bytes, that is matched whole.
	small = 4 << 10
)

// topics are the beginnings of words. Whatever is said to a reviewing machine has
// one of them in it, and most code has none: matching sentences is slow.
var topics = index(append([]string{
	"approv", "lgtm", "instruct", "prompt", "directiv", "verdict", "review", "finding", "dimension", "touchstone", "untrusted", "quoted",
	"assistant", "llm", "gpt", "claude", "gemini", "copilot", "chatbot", "anthropic", "openai", "deepmind", "nonce", "waive", "preapprov", "exempt",
	"disregard", "obey", "jailbreak", "told", "im_start", "im_end", "inst", "sys", "eot_id", "endoftext", "reminder", "function_result", "tool_result",
	"rot13", "decode", "decrypt", "decipher", "unscramble", "encoded", "your", "machine", "robot", "automat", "language", "evaluat", "neural", "remark", "favour", "favor", "software",
	"guidelines", "task", "nothing", "already",
}, foreignTopics()...))

// whole are topics that are words of their own.
var whole = map[string]bool{"ai": true, "ais": true, "bot": true, "bots": true, "agent": true, "agents": true, "model": true, "models": true, "sys": true, "inst": true}

// foreignTopics are those of orders in other languages, the first words of them.
func foreignTopics() []string {
	var all []string
	for _, p := range foreign() {
		for _, w := range p.words {
			first, _, _ := strings.Cut(w, " ")
			all = append(all, first)
		}
	}
	return all
}

func index(words []string) map[string][]string {
	m := map[string][]string{}
	for _, w := range words {
		if !whole[w] && len(w) >= 3 {
			m[w[:3]] = append(m[w[:3]], w)
		}
	}
	return m
}

func isTopic(word string) bool {
	if len(word) < 3 || whole[word] {
		return whole[word]
	}
	for _, t := range topics[word[:3]] {
		if strings.HasPrefix(word, t) {
			return true
		}
	}
	return false
}

// span is a part of a reading.
type span struct{ start, end int }

// windows are the parts of a reading around its topics, in order and apart.
func windows(text string) []span {
	if len(text) <= small {
		return []span{{0, len(text)}}
	}
	var all []span
	add := func(at int) {
		start, end := max(0, at-reach), min(len(text), at+reach)
		for start > 0 && !utf8.RuneStart(text[start]) {
			start--
		}
		for end < len(text) && !utf8.RuneStart(text[end]) {
			end++
		}
		if n := len(all); n > 0 && all[n-1].end >= start {
			all[n-1].end = end
			return
		}
		all = append(all, span{start, end})
	}
	word := -1
	for i := 0; i <= len(text); i++ {
		inside := i < len(text) && (text[i] >= 'a' && text[i] <= 'z' || text[i] >= '0' && text[i] <= '9' || text[i] == '_' || text[i] >= utf8.RuneSelf)
		switch {
		case inside && word < 0:
			word = i
		case !inside && word >= 0:
			if isTopic(text[word:i]) || text[word] >= utf8.RuneSelf && holdsUnspaced(text[word:i]) {
				add(word)
			}
			word = -1
		}
	}
	return all
}

// holdsUnspaced reports whether a text without spaces has one of the topics in it.
func holdsUnspaced(text string) bool {
	for _, w := range unspacedTopics {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}
