package doc

import (
	"bytes"
	"strings"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
)

// parseScript reads what is written as data in a script: the object literals of
// JavaScript and TypeScript configurations, and the blocks of Gradle's. "key: value",
// "key = value", "key { … }", "key(…)" and "key value" are members; computed values are
// left out.
func parseScript(content []byte) (*Node, error) {
	s := script{}
	tokens, err := chroma.Tokenise(lexers.Get("typescript"), nil, string(content))
	if err != nil {
		return nil, err
	}
	line := 1
	for _, t := range tokens {
		text := strings.TrimSpace(t.Value)
		switch {
		case t.Type.InCategory(chroma.Comment), t.Type == chroma.Error && text == "":
		case text != "" && t.Type.InSubCategory(chroma.LiteralString) && len(s.tokens) > 0 && s.joins(t, text, line):
		case text != "" && (t.Type == chroma.Punctuation || t.Type == chroma.Operator):
			for _, c := range text {
				s.tokens = append(s.tokens, word{string(c), t.Type, line})
			}
		case text != "":
			s.tokens = append(s.tokens, word{text, t.Type, line + strings.Count(t.Value[:strings.Index(t.Value, text)], "\n")})
		}
		line += strings.Count(t.Value, "\n")
	}
	root := &Node{Kind: Map, Line: 1}
	for s.at < len(s.tokens) {
		s.members(root, maxDepth)
		s.at++
	}
	return root, nil
}

// parseSbt reads sbt's settings, "scope / key := value", without their scopes.
func parseSbt(content []byte) (*Node, error) {
	return parseScript(bytes.ReplaceAll(content, []byte(" / "), []byte("; ")))
}

type word struct {
	text string
	kind chroma.TokenType
	line int
}

type script struct {
	tokens []word
	at     int
}

// joins puts the parts of one string literal together, which the lexer gives one by one.
func (s *script) joins(t chroma.Token, text string, line int) bool {
	last := &s.tokens[len(s.tokens)-1]
	if !last.kind.InSubCategory(chroma.LiteralString) || last.line != line || len(last.text) > 1 &&
		last.text[0] == last.text[len(last.text)-1] {
		return false
	}
	last.text += t.Value
	return true
}

func (s *script) is(ahead int, texts string) bool {
	i := s.at + ahead
	return i < len(s.tokens) && len(s.tokens[i].text) == 1 && strings.Contains(texts, s.tokens[i].text)
}

// members reads up to the bracket that closes a block, which it leaves.
func (s *script) members(to *Node, depth int) {
	var last *word
	for ; s.at < len(s.tokens) && depth > 0; s.at++ {
		t := &s.tokens[s.at]
		switch {
		case s.is(0, "}])"):
			return
		case s.is(0, ":") && s.is(1, "="): // sbt writes := for =
		case s.is(0, ":="):
			if last != nil && s.at+1 < len(s.tokens) && !s.is(1, ">=") {
				s.at++
				s.add(to, last, s.value(depth-1))
			}
			last = nil
		case s.is(0, "{[("):
			value := s.value(depth - 1)
			if last != nil {
				s.add(to, last, value)
			} else {
				to.Items = append(to.Items, value)
			}
			last = nil
		case s.is(0, ",;"):
			s.flag(to, last)
			last = nil
		case last != nil && isLiteral(*t) && !isLiteral(*last):
			s.add(to, last, &Node{Value: unquote(t.text)})
			last = nil
		case t.kind != chroma.Operator && t.kind != chroma.Punctuation:
			s.flag(to, last)
			last = t
		}
	}
}

// flag adds an element of a list: a literal that is no key.
func (s *script) flag(to *Node, last *word) {
	if last != nil && to.Kind == List && isLiteral(*last) {
		to.Items = append(to.Items, &Node{Value: unquote(last.text), Line: last.line})
	}
}

func (s *script) add(to *Node, key *word, value *Node) {
	value.Key, value.Line = unquote(key.text), key.line
	to.Items = append(to.Items, value)
}

func isLiteral(t word) bool {
	return t.kind.InCategory(chroma.Literal) || t.kind.InSubCategory(chroma.LiteralString) ||
		t.kind.InSubCategory(chroma.LiteralNumber) || t.text == "true" || t.text == "false"
}

// value reads one value and stops on its last token.
func (s *script) value(depth int) *Node {
	t := s.tokens[s.at]
	switch {
	case depth <= 0:
		return &Node{Line: t.line}
	case s.is(0, "{[("):
		out := &Node{Kind: Map, Line: t.line}
		if t.text == "[" {
			out.Kind = List
		}
		s.at++
		from := s.at
		s.members(out, depth)
		switch {
		case t.text == "[":
			s.trailing(out)
		case t.text == "(" && s.at == from+1 && isLiteral(s.tokens[from]):
			return &Node{Value: unquote(s.tokens[from].text), Line: s.tokens[from].line}
		}
		return out
	case !isLiteral(t) && s.is(1, "("): // a call: what it is given
		s.at++
		return s.value(depth)
	case !isLiteral(t):
		return &Node{Line: t.line, Value: t.text}
	}
	return &Node{Value: unquote(t.text), Line: t.line}
}

// trailing adds a list's last element, after which no comma stands.
func (s *script) trailing(list *Node) {
	if s.at > 0 && s.at < len(s.tokens) && isLiteral(s.tokens[s.at-1]) {
		last := s.tokens[s.at-1]
		if n := len(list.Items); n == 0 || list.Items[n-1].Value != unquote(last.text) || list.Items[n-1].Line != last.line {
			list.Items = append(list.Items, &Node{Value: unquote(last.text), Line: last.line})
		}
	}
}
