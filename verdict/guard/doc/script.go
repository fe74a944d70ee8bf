package doc

import (
	"bytes"
	"strings"
)

// parseScript reads the data in a script: the object literals of JavaScript and TypeScript configurations,
// and the blocks of Gradle files. "key: value", "key = value", "key { … }", "key(…)" and "key value" are
// members; computed values are left out.
func parseScript(content []byte) (*Node, error) {
	s := script{}
	for _, t := range Tokens(content) {
		if t.Kind != Space && t.Kind != Comment {
			s.tokens = append(s.tokens, t)
		}
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

type script struct {
	tokens []Token
	at     int
}

func (s *script) is(ahead int, texts string) bool {
	i := s.at + ahead
	return i < len(s.tokens) && len(s.tokens[i].Text) == 1 && strings.Contains(texts, s.tokens[i].Text)
}

// members reads up to the bracket that closes a block, and stops at that bracket.
func (s *script) members(to *Node, depth int) {
	var last *Token
	for ; s.at < len(s.tokens) && depth > 0; s.at++ {
		t := &s.tokens[s.at]
		switch {
		case s.is(0, "}])"):
			return
		case (t.Text == "set" || t.Text == "add" || t.Text == "addAll") && last != nil && s.is(-1, ".") && s.is(1, "("):
			// a property of Gradle, which the brackets are for
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
			s.add(to, last, &Node{Value: unquote(t.Text)})
			last = nil
		case t.Kind != Mark:
			s.flag(to, last)
			last = t
		}
	}
}

// flag adds a list element: a literal that is not a key.
func (s *script) flag(to *Node, last *Token) {
	if last != nil && to.Kind == List && isLiteral(*last) {
		to.Items = append(to.Items, &Node{Value: unquote(last.Text), Line: last.Line})
	}
}

func (s *script) add(to *Node, key *Token, value *Node) {
	value.Key, value.Line = unquote(key.Text), key.Line
	to.Items = append(to.Items, value)
}

func isLiteral(t Token) bool {
	return t.Kind == String || t.Kind == Number || t.Text == "true" || t.Text == "false"
}

// value reads one value and stops at its last token.
func (s *script) value(depth int) *Node {
	t := s.tokens[s.at]
	switch {
	case depth <= 0:
		return &Node{Line: t.Line}
	case s.is(0, "{[("):
		out := &Node{Kind: Map, Line: t.Line}
		s.at++
		from := s.at
		if t.Text == "[" || from < len(s.tokens) && isLiteral(s.tokens[from]) && s.is(1, ",") { // a list, or the arguments of a call
			out.Kind = List
		}
		s.members(out, depth)
		switch {
		case out.Kind == List:
			s.trailing(out)
		case s.at == from+1 && isLiteral(s.tokens[from]):
			return &Node{Value: unquote(s.tokens[from].Text), Line: s.tokens[from].Line}
		}
		return out
	case !isLiteral(t) && s.is(1, "("): // a call: read its arguments
		s.at++
		return s.value(depth)
	case !isLiteral(t):
		return &Node{Line: t.Line, Value: t.Text}
	}
	return &Node{Value: unquote(t.Text), Line: t.Line}
}

// trailing adds a list's last element, which has no comma after it.
func (s *script) trailing(list *Node) {
	if s.at > 0 && s.at < len(s.tokens) && isLiteral(s.tokens[s.at-1]) {
		last := s.tokens[s.at-1]
		if n := len(list.Items); n == 0 || list.Items[n-1].Value != unquote(last.Text) || list.Items[n-1].Line != last.Line {
			list.Items = append(list.Items, &Node{Value: unquote(last.Text), Line: last.Line})
		}
	}
}
