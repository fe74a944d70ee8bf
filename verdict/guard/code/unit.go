package code

import (
	"cmp"
	"hash/fnv"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"touchstone/verdict/guard/change"
)

// role is the role of a unit in the comparison.
type role uint8

const (
	definition role = iota // a function, class, type …
	test                   // what a runner runs and counts
	group                  // a class, module or call around tests
)

// unit is a definition or a test with everything that belongs to it. Its head is the tokens from its first
// mark to its body.
type unit struct {
	side           *side
	role           role
	name           string // an identifier, or the title of a test
	word           string // the word that introduces it: "class", "fn", "it"
	from, body, to int    // tokens: its first one, the first one of its body, the index after its last one
	at             int    // the token that names it
	chain          []int  // of a call: the words after dots, as in it.skip.each
	parent         *unit
	children       []*unit
	marks          []mark
	assertions     []assertion
	made           bool   // it is a class of Python with a constructor of its own
	dropped        bool   // it belongs to the text of the unit around it
	size           int    // the number of its own tokens
	literals       int    // the number of its literals
	digest         uint64 // of its own tokens, without its name and head
	whole          uint64 // of these and the tokens of its head, without its name
	words          map[string]bool
}

// line is the line of a unit's name.
func (u *unit) line() int { return u.side.line(u.at) }

// head is the place of its name at the head.
func (u *unit) head() change.Place { return u.side.headAt(u.line()) }

// path is the unit's name after the names of the units around it.
func (u *unit) path() string {
	if u.parent == nil {
		return u.name
	}
	return u.parent.path() + "\x00" + u.name
}

// own calls do for each token of a unit's body that belongs to no unit within it.
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

// within reports whether a unit is inside a unit of a role.
func (u *unit) within(r role) bool {
	return u.parent != nil && (u.parent.role == r || u.parent.within(r))
}

// side is one side of a changed file.
type side struct {
	*source
	path   string
	other  *side // the same file on the other side of the change, nil if there is none
	units  []*unit
	guards []guard // the conditions of the preprocessor
	// commands are the tokens that begin a command of a shell, branches what such commands run under a condition.
	commands map[int]bool
	branches []guard
	closing  map[int]int      // in languages with "end": the end of the block that a token opens
	tests    bool             // its name is that of a test file
	marks    []mark           // marks on all tests of the file
	aliases  map[string]alias // in a script
	// skippers are functions that skip the test that calls them, and whether they certainly do.
	skippers map[string]bool
	// leavers are functions that may end without having done anything.
	leavers map[string]bool
	// These are filled on first use: names are those of a file of Python, and where each begins.
	wordsOfAll map[string][]int
	wordsSaid  map[string]int
	imported   map[string]origin
	names      map[string]int
	defines    map[string]bool
	loops      *bool
	// left is the file at the head if it is there under a name that no source has.
	left *side
	// broken says that the language's own parser cannot read it.
	broken bool
}

// finder finds the units of a side.
type finder struct{ *side }

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
	case lang.shell:
		f.bats()
	default:
		if s.aliases = map[string]alias{}; lang.name == "JavaScript" {
			f.aliased()
		}
		f.each(f.braced)
	}
	if lang.preprocessor {
		s.preprocessed()
	}
	s.nest()
	s.describe()
	return s
}

// maxCalls is the length of a chain of functions through which a test may be skipped.
const maxCalls = 4

// describe computes the properties that units are compared by.
func (s *side) describe() {
	s.skippers, s.leavers = map[string]bool{}, map[string]bool{}
	for range maxCalls {
		for _, u := range s.units {
			if s.tests && u.role == definition {
				returned := sync.OnceValue(u.returned)
				s.bodyMarks(u, func(e effect, cond string, i int) {
					if e == skips && (leavesOut.MatchString(u.name) || !u.asks(cond)) {
						s.skippers[u.name] = s.skippers[u.name] || s.certain(cond) && returned() > i
					}
				})
				u.own(func(i int) {
					if s.of(i) == "return" && s.endsHere(i) {
						s.leavers[u.name] = true
					}
				})
			}
		}
		if len(s.skippers) == 0 {
			break
		}
	}
	s.markFile()
	for _, u := range s.units {
		s.digestOf(u)
		switch {
		case u.role != definition:
			s.markUnit(u)
		case u.inherits(), s.tests && u.overrides():
			s.headMarks(u)
		}
		if u.setsUp() {
			s.setUpMarks(u)
		}
		if u.compared() {
			s.assertionsOf(u)
		}
	}
}

// asks reports whether a condition depends on a parameter of a function of Java, Kotlin, C# or Swift: its callers, or the cases
// of a test, do not all meet it.
func (u *unit) asks(cond string) bool {
	s := u.side
	if !slices.Contains([]string{"Java", "Kotlin", "C#", "Swift"}, s.lang.name) || s.of(u.at+1) != "(" {
		return false
	}
	for i := u.at + 2; i < s.mate(u.at+1); i++ {
		if end := s.of(i + 1); s.kindOf(i) == word && (end == "," || end == ")" || end == ":") && slices.Contains(strings.Fields(cond), s.of(i)) {
			return true
		}
	}
	return false
}

// having returns the units of a role.
func (s *side) having(r role) []*unit {
	return slices.DeleteFunc(slices.Clone(s.units), func(u *unit) bool { return u.role != r })
}

// holdsTests reports whether a file has tests, and not just the name of a test file.
func (s *side) holdsTests() bool { return s != nil && s.tests && len(s.having(test)) > 0 }

// digestOf hashes and counts a unit's own tokens. Their formatting does not matter.
func (s *side) digestOf(u *unit) {
	h, locals := fnv.New64a(), map[string]string{}
	add := func(i int, as string) {
		if kind := s.kindOf(i); kind == text || kind == number {
			u.literals++
		}
		h.Write([]byte(as + "\x00"))
	}
	u.own(func(i int) {
		if !s.trails(i) {
			u.size++
			add(i, s.named(i, locals))
		}
	})
	u.digest = h.Sum64()
	for i := u.from; i < u.body; i++ { // the data that it runs with may be in its head
		if i != u.at && !s.trails(i) && contentOf(s.of(i)) != u.name {
			add(i, s.normal(i))
		}
	}
	u.whole = h.Sum64()
}

// guard is a preprocessor condition and the range of tokens that it encloses.
type guard struct {
	cond     string
	from, to int
}

var (
	// preprocessing matches a directive of a preprocessor that begins, turns or ends a condition.
	preprocessing = regexp.MustCompile(`^#\s*(ifn?def|if|else|endif)\b(.*)`)
	// beside matches a comment beside a condition.
	beside = regexp.MustCompile(`//.*|/\*.*?\*/`)
	// brackets writes the parentheses of a condition in one way.
	brackets = strings.NewReplacer("defined (", "defined(", "( ", "(", " )", ")")
)

// preprocessed finds each "#if" and "#else" of a preprocessor.
func (s *side) preprocessed() {
	var open []guard
	for _, n := range s.notes {
		found := preprocessing.FindStringSubmatch(s.text[n.from:n.to])
		if found == nil {
			continue
		}
		switch cond := brackets.Replace(strings.Join(strings.Fields(beside.ReplaceAllString(found[2], "")), " ")); found[1] {
		case "ifndef":
			cond = "! " + cond
			fallthrough
		case "if", "ifdef":
			open = append(open, guard{cond: "#if " + cond, from: n.next})
		default:
			if len(open) == 0 {
				continue
			}
			g := open[len(open)-1]
			open, g.to = open[:len(open)-1], n.next
			if g.cond != "#if true" && g.cond != "#if 1" { // that is no condition
				s.guards = append(s.guards, g)
			}
			if found[1] == "else" {
				open = append(open, guard{cond: "#if ! " + strings.TrimPrefix(g.cond, "#if "), from: n.next})
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

// local reports whether a definition is inside a test or a function, and so belongs to its text.
func (u *unit) local() bool {
	p := u.parent
	return p != nil && (p.dropped || p.role == test || p.role == definition && !holders[p.word])
}

var holders = set(containers + "defmodule")

// maxDepth is the maximum nesting depth of units.
const maxDepth = 40

// nest sorts the units and sets the parent and the role of each.
func (s *side) nest() {
	slices.SortStableFunc(s.units, func(a, b *unit) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to), cmp.Compare(b.role, a.role))
	})
	var open, nested []*unit
	for _, u := range s.units {
		u.side = s
		for len(open) > 0 && open[len(open)-1].to < max(u.to, u.from+1) { // it ended before, or they overlap: no nesting
			open = open[:len(open)-1]
		}
		if len(open) > 0 {
			u.parent = open[len(open)-1]
			u.parent.made = u.parent.made || u.name == "__init__"
		}
		if len(open) < maxDepth { // a deeper unit belongs to the one around it
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
		switch {
		case u.role != definition:
		case around[u]:
			u.role = group
		case u.local():
			u.dropped = true
			continue
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

// maxPlain bounds the text of some tokens, in bytes: no token follows behind it.
const maxPlain = 400

// plain is the text of some tokens, separated by single spaces.
func (s *source) plain(from, to int) string { return s.join(from, to, s.normal) }

// canonical is [source.plain] with numbers in place of local variables' names.
func (s *source) canonical(from, to int) string {
	locals := map[string]string{}
	return s.join(from, to, func(i int) string { return s.named(i, locals) })
}

func (s *source) join(from, to int, text func(i int) string) string {
	var b strings.Builder
	for i := from; i < min(to, len(s.tokens)) && b.Len() < maxPlain; i++ {
		if s.trails(i) {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(text(i))
	}
	return b.String()
}

// closes reports whether a token is a bracket that closes what another one opens.
func (s *source) closes(i int) bool { mate := s.mate(i); return mate >= 0 && mate < i }

// trails reports whether a comma or a semicolon says nothing: one that ends a line, or stands before a closing bracket. In
// Python a comma in brackets that call nothing makes a tuple, which is true whatever is in it: assert (x == 1,).
func (s *source) trails(i int) bool {
	if t := s.of(i); t != "," && t != ";" {
		return false
	} else if t == ";" && s.lang.newlines {
		return true
	}
	switch open := int(s.outer[i]); s.of(i + 1) {
	case "]", "}":
		return true
	case ")":
		called := open > 0 && s.kindOf(open-1) == word && !beforeOperand[s.of(open-1)] && s.of(open-1) != "assert"
		return !s.lang.python || called || open > 0 && s.closes(open-1)
	}
	return false
}

func (s *source) isLocal(i int) bool {
	_, is := s.local[int32(i)]
	return is
}

// named is the text of a token; for a local variable, its number among those seen so far.
func (s *source) named(i int, locals map[string]string) string {
	as, local := s.local[int32(i)]
	if !local || locals == nil {
		return cmp.Or(as, s.normal(i))
	}
	if as != "" {
		return as
	}
	name := s.of(i)
	if locals[name] == "" {
		locals[name] = "local" + strconv.Itoa(len(locals))
	}
	return locals[name]
}

// normal is the text of a token; all strings have the same quotes.
func (s *source) normal(i int) string {
	t := s.of(i)
	if s.kindOf(i) != text || len(t) < 2 {
		return t
	}
	return `"` + contentOf(t) + `"`
}

// contentOf is the content of a string literal, without prefix and quotes.
func contentOf(literal string) string {
	if i := strings.IndexAny(literal, "\"'`/"); i > 0 && i < 4 {
		literal = literal[i:]
	}
	for len(literal) >= 2 && strings.IndexByte("\"'`", literal[0]) >= 0 && literal[len(literal)-1] == literal[0] {
		literal = literal[1 : len(literal)-1]
	}
	return literal
}
