package code

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// kind is the kind of a token.
type kind uint8

const (
	word   kind = iota
	number      // a literal number
	text        // a literal string, character or regular expression, with its quotes
	sign        // brackets and operators
)

// token is one lexical token. Comments and preprocessor lines are kept separately.
type token struct {
	from, to int32  // byte offsets in the source
	mate     int32  // the matching bracket's index, or -1
	column   uint16 // bytes from the beginning of the line, at most what fits
	kind     kind
	first    bool // nothing but space precedes it in its line
}

// note is a comment or a preprocessor line.
type note struct {
	from, to int
	line     int
	alone    bool // no code precedes it in its line
	next     int  // the index of the next token
}

// source is one side of a file, cut into tokens.
type source struct {
	text   string
	lang   *language
	starts []int32 // the offsets of its lines
	tokens []token
	outer  []int32 // for each token the innermost bracket around it, or -1
	notes  []note
	local  map[int32]string // tokens that name a local variable, if the language's parser tells; "t" for the test's own argument
	unsure []int            // lines of which it is not certain what is code and what a comment or a text
}

// of is the text of a token; "" outside the range.
func (s *source) of(i int) string {
	if i < 0 || i >= len(s.tokens) {
		return ""
	}
	return s.text[s.tokens[i].from:s.tokens[i].to]
}

// mate is the bracket that belongs to a bracket; -1 for a token without.
func (s *source) mate(i int) int { return int(s.tokens[i].mate) }

// line is the line of a token, counted from 1; that of the last token behind it, and 1 if there is none.
func (s *source) line(i int) int {
	if i = min(i, len(s.tokens)-1); i < 0 {
		return 1
	}
	n, found := slices.BinarySearch(s.starts, s.tokens[i].from)
	if found {
		n++
	}
	return n
}

// lineStarts returns the offsets at which the lines of a text begin.
func lineStarts(content string) []int32 {
	starts := make([]int32, 1, strings.Count(content, "\n")+1)
	for i := range len(content) {
		if content[i] == '\n' {
			starts = append(starts, int32(i+1))
		}
	}
	return starts
}

// kindOf is the kind of a token; outside the range it is sign.
func (s *source) kindOf(i int) kind {
	if i < 0 || i >= len(s.tokens) {
		return sign
	}
	return s.tokens[i].kind
}

// lexer cuts a source into tokens in one pass. It never looks back over more than one token, and turns a byte
// that it cannot read into a sign. So its time is linear in the length of the source.
type lexer struct {
	*source
	at, line, start int       // position, its line, and where that line begins
	heredocs        []heredoc // the here-documents that begin after this line
	heads           []bool    // for each open parenthesis, whether it is the head of a statement
	afterHead       bool      // the last closing parenthesis ends such a head
	wasted          int       // bytes read for literals that did not end
	fresh           bool      // only space so far in this line
}

// rooms are reusable buffers for tokens, so that a kept list of tokens takes no more memory than it needs.
var rooms = sync.Pool{New: func() any { return new([]token) }}

const (
	// bytesPerToken is the size of a token in dense code, so that a room rarely grows.
	bytesPerToken = 3
	// maxRoom is the capacity, in tokens, above which a room is not reused.
	maxRoom = 1 << 18
)

// lex cuts a text into tokens.
func lex(content string, lang *language) *source {
	l := &lexer{source: &source{lang: lang}, line: 1, fresh: true}
	l.text = l.logical(content)
	l.starts = lineStarts(l.text)
	room := rooms.Get().(*[]token)
	l.tokens = slices.Grow((*room)[:0], len(l.text)/bytesPerToken)
	if lang.closing != "" && strings.Index(l.text, "<?") > 0 { // without any, all is code
		l.outside()
	}
	for l.at < len(l.text) {
		l.step()
	}
	*room, l.tokens = l.tokens, slices.Clone(l.tokens)
	if cap(*room) <= maxRoom {
		rooms.Put(room)
	}
	l.match()
	return l.source
}

func (l *lexer) step() {
	c := l.text[l.at]
	switch {
	case c == '\n':
		l.newline()
	case c == ' ' || c == '\t' || c == '\f' || c == '\v':
		l.at++
	case (c == '\r' || l.breaks(l.at)) && l.lineBreak():
	case l.comment():
	case c == '?' && l.lang.closing != "" && strings.HasPrefix(l.text[l.at:], l.lang.closing):
		l.outside()
	case isWordStart(c) || (c == '$' || c == '@' && l.lang.heredoc == "<<") && isWordStart(l.byteAt(l.at+1)):
		l.word()
	case c >= '0' && c <= '9':
		l.number()
	case l.literal():
	default:
		l.sign()
	}
}

func (l *lexer) byteAt(i int) byte {
	if i < 0 || i >= len(l.text) {
		return 0
	}
	return l.text[i]
}

func isWordStart(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf
}

func isWordByte(c byte) bool { return isWordStart(c) || c >= '0' && c <= '9' }

// newline ends a line, and skips the here-documents that begin after it.
func (l *lexer) newline() {
	l.at++
	l.line, l.start, l.fresh = l.line+1, l.at, true
	for _, doc := range l.heredocs {
		l.document(doc)
	}
	l.heredocs = nil
}

// advance moves to a position and counts the lines up to it.
func (l *lexer) advance(to int) {
	passed := l.text[l.at:to]
	if n := strings.Count(passed, "\n"); n > 0 {
		l.line += n
		l.start = l.at + strings.LastIndexByte(passed, '\n') + 1
		l.fresh = to == l.start
	}
	l.at = to
}

// add makes a token from the text up to a position.
func (l *lexer) add(k kind, to int) {
	l.tokens = append(l.tokens, token{from: int32(l.at), to: int32(to),
		column: uint16(min(l.at-l.start, math.MaxUint16)), mate: -1, kind: k, first: l.fresh})
	l.advance(to)
	l.fresh = false
}

// comment reads a comment or a preprocessor line.
func (l *lexer) comment() bool {
	end := -1
	rest := l.text[l.at:]
	switch {
	case l.lang.preprocessor && l.fresh && rest[0] == '#' && (l.lang.name != "Swift" || conditionOfSwift.MatchString(rest)):
		end = l.preprocessing(rest)
	case l.lang.ruby && l.at == l.start && strings.HasPrefix(rest, "=begin"):
		end = blockEnd(rest, "\n=end")
	case l.lang.ruby && l.at == l.start && strings.HasPrefix(rest, "__END__\n"):
		end = len(rest)
	default:
		for _, open := range l.lang.line {
			if strings.HasPrefix(rest, open) && !(open == "#" && l.attribute(rest)) {
				end = l.lineComment(rest)
				break
			}
		}
		if end < 0 && l.lang.block != "" && strings.HasPrefix(rest, l.lang.block) {
			end = l.blockComment(rest)
		}
	}
	if end < 0 {
		return false
	}
	l.notes = append(l.notes, note{l.at, l.at + end, l.line, l.fresh, len(l.tokens)})
	fresh := l.fresh
	l.advance(l.at + end)
	l.fresh = l.fresh || fresh
	return true
}

// conditionOfSwift matches the beginning of a condition of the Swift compiler, and no macro.
var conditionOfSwift = regexp.MustCompile(`^#(?:if|else|endif)`)

// attribute reports whether a text only looks like a comment: "#[Test]" in PHP, and "#" within a word in
// shell.
func (l *lexer) attribute(rest string) bool {
	return l.lang.attributes && strings.HasPrefix(rest, "#[") ||
		l.lang.shell && l.at > l.start && l.text[l.at-1] != ' ' && l.text[l.at-1] != '\t' && l.text[l.at-1] != ';'
}

func blockEnd(rest, closing string) int {
	if i := strings.Index(rest, closing); i >= 0 {
		return i + len(closing)
	}
	return len(rest)
}

func (l *lexer) blockComment(rest string) int {
	open, closing := l.lang.block, "*/"
	if open == "<#" {
		closing = "#>"
	}
	if !l.lang.nested {
		return len(open) + blockEnd(rest[len(open):], closing)
	}
	depth := 0
	for i := 0; i < len(rest); i++ {
		switch {
		case strings.HasPrefix(rest[i:], open):
			depth++
			i++
		case strings.HasPrefix(rest[i:], closing):
			depth--
			i++
			if depth == 0 {
				return i + 1
			}
		}
	}
	return len(rest)
}

func (l *lexer) word() {
	end := l.at + 1
	for end < len(l.text) && (isWordByte(l.text[end]) && !l.breaks(end) || l.text[end] == '$' && l.lang.dollar ||
		l.lang.dashes && l.text[end] == '-' && isWordStart(l.byteAt(end+1)) && l.text[l.at] != '$') {
		end++
	}
	if l.lang.layout == ends && end < len(l.text) && (l.text[end] == '?' || l.text[end] == '!') && l.byteAt(end+1) != '=' {
		end++
	}
	prefix := l.text[l.at:end]
	if q := l.byteAt(end); (q == '"' || q == '\'' || q == '#' && prefix != "" && l.lang.rust) && len(prefix) <= 3 {
		if to := l.prefixed(prefix, end); to > 0 {
			l.add(text, to)
			return
		}
	}
	l.add(word, end)
}

// prefixed is the end of a string that begins with prefix letters; 0 if it is not a string.
func (l *lexer) prefixed(prefix string, quote int) int {
	if !slices.Contains(l.lang.prefixes, strings.ToLower(prefix)) {
		return 0
	}
	raw := strings.ContainsAny(prefix, "rR")
	switch {
	case l.lang.rust && raw:
		hashes := 0
		for l.byteAt(quote+hashes) == '#' {
			hashes++
		}
		if l.byteAt(quote+hashes) != '"' {
			return 0
		}
		from := quote + hashes + 1
		return from + blockEnd(l.text[from:], `"`+strings.Repeat("#", hashes))
	case l.lang.preprocessor && strings.Contains(prefix, "R") && l.text[quote] == '"':
		open := strings.IndexByte(l.text[quote:], '(')
		if open < 0 || open > 17 {
			return 0
		}
		return quote + blockEnd(l.text[quote:], ")"+l.text[quote+1:quote+open]+`"`)
	}
	for _, q := range l.lang.quotes {
		if strings.HasPrefix(l.text[quote:], q.open) {
			q.raw = q.raw || raw && !l.lang.python
			if end, ok := l.scan(quote, q, 0); ok {
				return end
			}
		}
	}
	return 0
}

func (l *lexer) number() {
	end := l.at + 1
	for end < len(l.text) {
		c := l.text[end]
		point := c == '.' && l.byteAt(end+1) >= '0' && l.byteAt(end+1) <= '9'
		exponent := (c == '+' || c == '-') && (l.text[end-1] == 'e' || l.text[end-1] == 'E') && l.byteAt(l.at+1) != 'x'
		separated := c == '\'' && l.lang.preprocessor && isWordByte(l.byteAt(end+1))
		if !isWordByte(c) && !point && !exponent && !separated {
			break
		}
		end++
	}
	l.add(number, end)
}

// signs are the operators of more than one byte that matter, longest first. Their second bytes distinguish
// them from most other signs.
var signs = []string{"===", "!==", "...", "==", "!=", "<=", ">=", "&&", "||", "::", "->", "=>", ":=", "?."}

func (l *lexer) sign() {
	switch l.text[l.at] {
	case '(':
		n := len(l.tokens)
		head := statements[l.of(n-1)] && l.of(n-2) != "." || l.of(n-1) == "await" && l.of(n-2) == "for"
		l.heads = append(l.heads, head)
	case ')':
		if n := len(l.heads) - 1; n >= 0 {
			l.heads, l.afterHead = l.heads[:n], l.heads[n]
		}
	}
	second := strings.IndexByte("=.>&|:", l.byteAt(l.at+1)) >= 0
	for _, s := range signs {
		if second && strings.HasPrefix(l.text[l.at:], s) {
			l.add(sign, l.at+len(s))
			return
		}
	}
	l.add(sign, l.at+1)
}

// match finds the mate of each bracket and the innermost bracket around each token. It ignores a closing
// bracket that fits none of the innermost open ones.
func (l *lexer) match() {
	var open []int32
	l.outer = make([]int32, len(l.tokens))
	innermost := func() int32 {
		if len(open) == 0 {
			return -1
		}
		return open[len(open)-1]
	}
	for i, t := range l.tokens {
		l.outer[i] = innermost()
		if t.kind != sign || t.to-t.from != 1 {
			continue
		}
		switch c := l.text[t.from]; c {
		case '(', '[', '{':
			open = append(open, int32(i))
		case ')', ']', '}':
			want := byte('(')
			if c != ')' {
				want = c - 2
			}
			for n := len(open) - 1; n >= max(0, len(open)-maxUnclosed); n-- {
				if b := open[n]; l.text[l.tokens[b].from] == want {
					l.tokens[b].mate, l.tokens[i].mate = int32(i), b
					open = open[:n]
					l.outer[i] = innermost()
					break
				}
			}
		}
	}
}

// maxUnclosed is the number of open brackets that one closing bracket may close.
const maxUnclosed = 8
