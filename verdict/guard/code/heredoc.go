package code

import "strings"

// heredoc is a here-document that begins after its line.
type heredoc struct {
	end string
	// indented are the characters that may precede the end.
	indented string
}

// maxArithmetic is the number of bytes of a line before "<<" in which two parentheses may begin arithmetic.
const maxArithmetic = 200

// hereDocument records a here-document, whose text begins in the next line.
func (l *lexer) hereDocument() bool {
	if l.lang.shell && strings.HasPrefix(l.text[l.at:], "<<<") { // a string
		l.add(sign, l.at+3)
		return true
	}
	i := l.at + len(l.lang.heredoc)
	doc := heredoc{}
	switch c := l.byteAt(i); {
	case l.lang.heredoc == "<<<":
		doc.indented = " \t"
	case c == '-' && l.lang.shell:
		doc.indented = "\t"
		i++
	case c == '~' || c == '-':
		doc.indented = " \t"
		i++
	}
	for (l.byteAt(i) == ' ' || l.byteAt(i) == '\t') && (l.lang.shell || l.lang.heredoc == "<<<") {
		i++
	}
	var plain bool
	doc.end, i, plain = l.delimiter(i)
	switch first, name := l.byteAt(l.at+len("<<")), doc.end; {
	case name == "" || name[0] >= '0' && name[0] <= '9':
		if first == '`' && l.lang.ruby {
			l.doubt(l.line)
		}
		return false
	case len(l.heredocs) > maxNesting, l.lang.shell && strings.Contains(l.text[max(l.start, l.at-maxArithmetic):l.at], "(("):
		l.doubt(l.line)
		return false
	case l.lang.ruby && plain && doc.indented == "" && (first < 'A' || first > 'Z' || !l.operand()):
		if l.operand() { // or a name is appended to something
			l.doubt(l.line)
		}
		return false
	}
	l.heredocs = append(l.heredocs, doc)
	l.add(text, i)
	return true
}

// delimiter reads the word that ends a here-document, and says whether it is written without quotes.
func (l *lexer) delimiter(at int) (name string, end int, plain bool) {
	if q := l.byteAt(at); q == '"' || q == '\'' {
		if n := strings.IndexByte(l.text[at+1:], q); n >= 0 && !strings.Contains(l.text[at+1:at+1+n], "\n") {
			return l.text[at+1 : at+1+n], at + n + 2, false
		}
		return "", at, false
	}
	if l.lang.shell && l.byteAt(at) == '\\' {
		at++
	}
	end = at
	for isWordByte(l.byteAt(end)) || l.lang.shell && end < len(l.text) && !strings.ContainsRune(" \t\n;&|<>()'\"\\`$", rune(l.text[end])) {
		end++
	}
	if l.lang.shell && strings.IndexByte("'\"\\`$", l.byteAt(end)) >= 0 { // quoted in parts
		l.doubt(l.line)
	}
	return l.text[at:end], end, true
}

// document passes over a here-document. In a shell it is a text, since commands may compare with it.
func (l *lexer) document(doc heredoc) {
	to := l.at
	for to < len(l.text) {
		start := to
		line, _, _ := strings.Cut(l.text[to:], "\n")
		to = min(to+len(line)+1, len(l.text))
		rest, ends := strings.CutPrefix(strings.TrimLeft(strings.TrimRight(line, "\r"), doc.indented), doc.end)
		if ends && rest == "" {
			break
		}
		if ends && l.lang.heredoc == "<<<" && !isWordByte(rest[0]) { // code follows
			to = start + len(line) - len(rest)
			break
		}
	}
	if l.lang.shell && to > l.at {
		l.add(text, to)
		l.fresh = true
		return
	}
	l.advance(to)
}
