package code

import (
	"cmp"
	"slices"
	"strings"
)

// role is what a unit is to the guard.
type role uint8

const (
	definition role = iota // a function, class, type …
	test                   // what a runner runs and counts
	group                  // a class, module or call around tests
	condition              // an "if" around tests
)

// unit is a definition or a test with everything that belongs to it. The tokens from
// its first mark to its body are its head.
type unit struct {
	side           *side
	role           role
	name           string // an identifier, or the title of a test
	word           string // what introduces it: "class", "fn", "it"
	from, body, to int    // tokens: its first, the first of its body, one past its last
	at             int    // the token that names it
	chain          []int  // of a call: the words after dots, as in it.skip.each
	parent         *unit
	children       []*unit
	marks          []mark
	claims         []claim
	rows           []row
	dropped        bool   // it belongs to the text of what encloses it
	size           int    // how many tokens of its own it has
	digest         uint64 // of its own tokens, without its name and head
	words          map[string]bool
}

// line is where a unit is named.
func (u *unit) line() int { return int(u.side.tokens[u.at].line) }

// path is the unit's name behind the names of what encloses it.
func (u *unit) path() string {
	if u.parent == nil {
		return u.name
	}
	if u.parent.role == condition {
		return u.parent.path()[:max(0, len(u.parent.path())-len(u.parent.name))] + u.name
	}
	return u.parent.path() + "\x00" + u.name
}

// own calls do with each token of a body that belongs to no unit within it.
func (u *unit) own(do func(i int)) {
	i := u.body
	for _, c := range u.children {
		for ; i < c.from; i++ {
			do(i)
		}
		i = max(i, c.to)
	}
	for ; i < u.to; i++ {
		do(i)
	}
}

// within reports whether a unit stands somewhere in one of a role.
func (u *unit) within(r role) bool {
	for p := u.parent; p != nil; p = p.parent {
		if p.role == r {
			return true
		}
	}
	return false
}

// side is one side of a changed file.
type side struct {
	*source
	path   string
	units  []*unit
	tests  bool   // its name is that of a file of tests
	marks  []mark // on all tests of the file; read when they are first asked for
	marked bool
	// skippers are functions that skip the test that calls them.
	skippers map[string]bool
	lines    []int32 // where each line begins; made when the first is asked for
	// broken says that its language's own parser does not read it.
	broken bool
}

// finder looks for the units of a side.
type finder struct {
	*side
	closing map[int]int // in languages with "end": where a block that a token opens ends
}

// parse cuts a side into tokens and finds its units.
func parse(name string, content []byte, lang *language) *side {
	s := &side{source: lex(string(content), lang), path: name, tests: isTestPath(name)}
	f := &finder{side: s}
	switch {
	case lang.name == "Go":
		f.golang()
	case lang.layout == ends:
		f.closing = f.blocks()
		f.each(f.ended)
	case lang.layout == indent:
		f.each(f.indented)
	case !lang.shell:
		f.each(f.braced)
	}
	if lang.preprocessor {
		f.preprocessed()
	}
	s.nest()
	return s
}

// preprocessed makes a condition of each "#if" of a preprocessor.
func (f *finder) preprocessed() {
	var open []*unit
	for _, n := range f.notes {
		content := strings.TrimSpace(strings.TrimPrefix(f.text[n.from:n.to], "#"))
		switch word, rest, _ := strings.Cut(content, " "); {
		case word == "if" || word == "ifdef" || word == "ifndef":
			open = append(open, &unit{role: condition, name: "#if " + strings.TrimSpace(rest), at: n.next, from: n.next, body: n.next})
		case word == "endif" && len(open) > 0:
			u := open[len(open)-1]
			open = open[:len(open)-1]
			if u.to = n.next; u.to > u.from {
				f.units = append(f.units, u)
			}
		}
	}
}

func (f *finder) each(find func(i int) *unit) {
	for i := range f.tokens {
		if f.tokens[i].kind != word {
			continue
		}
		if u := find(i); u != nil {
			f.units = append(f.units, u)
		}
	}
}

// local reports whether a definition stands within a test or a function, to whose text
// it then belongs.
func (u *unit) local() bool {
	p := u.parent
	return p != nil && (p.dropped || p.role == test || p.role == definition && !holders[p.word])
}

var holders = set(containers + "defmodule")

// maxDepth is how deep units may nest.
const maxDepth = 40

// nest sorts the units, gives each its parent and its role, and drops conditions that
// no test stands under.
func (s *side) nest() {
	slices.SortStableFunc(s.units, func(a, b *unit) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to), cmp.Compare(b.role, a.role))
	})
	var open, nested []*unit
	for _, u := range s.units {
		u.side = s
		for len(open) > 0 && open[len(open)-1].to <= u.from {
			open = open[:len(open)-1]
		}
		for len(open) > 0 && open[len(open)-1].to < u.to { // crosses: no nesting
			open = open[:len(open)-1]
		}
		if len(open) > 0 {
			u.parent = open[len(open)-1]
		}
		if len(open) < maxDepth { // what is deeper belongs to what stands around it
			open = append(open, u)
			nested = append(nested, u)
		}
	}
	s.units = nested
	around := map[*unit]bool{}
	for _, u := range s.units {
		if u.role == definition && s.lang.tests != nil && s.lang.tests(u) {
			u.role = test
		}
		for p := u.parent; u.role == test && p != nil && !around[p]; p = p.parent {
			around[p] = true
		}
	}
	kept := s.units[:0]
	for _, u := range s.units {
		if u.role == condition && (!around[u] || u.within(test)) || u.role == definition && !around[u] && u.local() {
			u.dropped = true
			continue
		}
		if u.role == definition && around[u] {
			u.role = group
		}
		for u.parent != nil && u.parent.dropped {
			u.parent = u.parent.parent
		}
		if u.parent != nil {
			u.parent.children = append(u.parent.children, u)
		}
		kept = append(kept, u)
	}
	s.units = kept
}

// plain is the text of some tokens with one blank between them.
func (s *source) plain(from, to int) string {
	var b strings.Builder
	for i := from; i < min(to, len(s.tokens)) && b.Len() < 400; i++ {
		if i > from {
			b.WriteByte(' ')
		}
		b.WriteString(s.normal(i))
	}
	return b.String()
}

// normal is the text of a token; strings have the same quotes.
func (s *source) normal(i int) string {
	t := s.of(i)
	if s.tokens[i].kind != text || len(t) < 2 {
		return t
	}
	return `"` + contentOf(t) + `"`
}

// contentOf is a string literal without its prefix and quotes.
func contentOf(literal string) string {
	if i := strings.IndexAny(literal, "\"'`/"); i > 0 && i < 4 {
		literal = literal[i:]
	}
	for len(literal) >= 2 && strings.IndexByte("\"'`", literal[0]) >= 0 && literal[len(literal)-1] == literal[0] {
		literal = literal[1 : len(literal)-1]
	}
	return literal
}
