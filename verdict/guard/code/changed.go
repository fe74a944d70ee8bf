package code

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"touchstone/verdict/guard/change"
	"touchstone/verdict/guard/words"
)

// altered is a test, a function that tests call, or the rest of a test file, which does not say what it said
// before.
type altered struct {
	pair
	gone, fresh map[string]int // the words, literals and operators that it has less and more often
	inside      int            // the line of an assertion that is inside of something further now; 0 for none
	asserts     bool           // an assertion is not there any more as it was, or not where it was
}

// telling calls do for each token that says something: no punctuation, local variable, own name or import.
func (u *unit) telling(do func(i int, says string)) {
	s, past := u.side, 0
	tell := func(i int) {
		t := s.of(i)
		switch kind := s.kindOf(i); {
		case i < past || i == u.at && u.body > 0 || s.isLocal(i) || kind == sign && !operators[t], s.marksTest(i), t == "self":
		case s.documents(i):
		case kind == word && s.tokens[i].first && importing[t] && (s.of(i+1) != "(" || s.lang.name == "Go" && t == "import") &&
			!strings.Contains(s.of(i+1), "/autorun"): // with which Minitest runs the tests
			past = s.statementEnd(i)
		case s.lang.python && t == "if" && s.onlyTypes(i):
			past = s.statementEnd(i)
		case kind == number:
			if n, is := change.Number(t); is {
				t = fmt.Sprint(n)
			}
			do(i, t)
		case kind == text: // however it is broken into lines
			do(i, strings.Join(strings.Fields(strings.ReplaceAll(s.normal(i), "\\\n", " ")), " "))
		default:
			do(i, s.normal(i))
		}
	}
	for i := u.from; i < u.body; i++ {
		tell(i)
	}
	u.own(tell)
}

// helping matches names of files and folders that help tests.
var helping = regexp.MustCompile(`(?i)support|help|harness|match|expect|should|must`)

// documents reports whether a token is a string of Python that documents what it is in, and tests nothing itself.
func (s *side) documents(i int) bool {
	return s.lang.python && s.kindOf(i) == text && s.tokens[i].first && s.outer[i] < 0 && (i == 0 || s.of(i-1) == ":") &&
		(i+1 >= len(s.tokens) || s.tokens[i+1].first) && !strings.Contains(s.of(i), ">>>")
}

// onlyTypes reports whether all that a condition of Python holds is imports for whoever checks types.
func (s *side) onlyTypes(i int) bool {
	if s.of(i+1) != "TYPE_CHECKING" || s.of(i+2) != ":" {
		return false
	}
	n := i + 3
	for ; n < len(s.tokens) && (n == i+3 || !s.tokens[n].first || s.outer[n] >= 0 || s.tokens[n].column > s.tokens[i].column); n++ {
		if begins := s.tokens[n].first && s.outer[n] < 0 && !s.closes(n) || n == i+3; begins && !importing[s.of(n)] {
			return false
		}
	}
	return s.of(n) != "else"
}

// alter keeps in which way a part of a test file is not as before.
func (x *examination) alter(p pair) {
	s := p.after.side
	if strings.HasSuffix(s.path, ".gradle.kts") { // says how a project is built, and package words reads it
		return
	}
	if !s.tests && !p.after.within(group) && p.after.role != test && !words.Checks(s.path) && !helping.MatchString(s.path) {
		return // code of the product, which is only called like an assertion
	}
	one := altered{pair: p, gone: map[string]int{}, fresh: map[string]int{}, inside: p.deeper()}
	count := map[string]int{}
	p.after.telling(func(_ int, says string) { count[says]++ })
	p.before.telling(func(_ int, says string) { count[says]-- })
	for says, n := range count {
		if n < 0 {
			one.gone[says] = -n
		} else if n > 0 {
			one.fresh[says] = n
		}
	}
	if len(one.gone)+len(one.fresh)+one.inside == 0 || x.passed(p.after) {
		return
	}
	one.asserts = one.inside > 0 || len(p.before.side.without(p.before.assertions, p.after.assertions)) > 0
	x.altered = append(x.altered, one)
}

// deeper is the line of an assertion that is inside of something further, such as a function that is called later or never; 0 for none.
func (p pair) deeper() int {
	depths := func(u *unit) func(c assertion) int {
		functions := u.functions()
		return func(c assertion) int {
			n := functions[int(c.from)]
			for open := int(u.side.outer[c.from]); open >= u.body; open = int(u.side.outer[open]) {
				n++
			}
			return n
		}
	}
	was, is := depths(p.before), depths(p.after)
	had := map[uint64]int{}
	for _, c := range p.before.assertions {
		had[c.digest] = max(had[c.digest], 1+was(c))
	}
	for _, c := range p.after.assertions {
		if had[c.digest] > 0 && 1+is(c) > had[c.digest] {
			return p.after.side.line(int(c.from))
		}
	}
	return 0
}

// functions are, of a unit of Python, how many functions within it are around each of its assertions, by the token that begins it.
func (u *unit) functions() map[int]int {
	if !u.side.lang.python || len(u.assertions) == 0 {
		return nil
	}
	in, columns := map[int]int{}, []int{}
	for _, c := range u.assertions {
		in[int(c.from)] = 0
	}
	for i := u.body; i < u.to; i++ {
		if t := u.side.tokens[i]; t.first && u.side.outer[i] < 0 {
			for len(columns) > 0 && int(t.column) <= columns[len(columns)-1] {
				columns = columns[:len(columns)-1]
			}
			if u.side.of(i) == "def" {
				columns = append(columns, int(t.column))
			}
		}
		if _, asserts := in[i]; asserts {
			in[i] = len(columns)
		}
	}
	return in
}

// unmarked reports whether nothing but the head of a unit is another one, and has a mark less.
func (p pair) unmarked() bool {
	return p.before.digest == p.after.digest && slices.ContainsFunc(p.before.marks, func(m mark) bool {
		return !slices.ContainsFunc(p.after.marks, m.like)
	})
}

// maxRenames bounds the pairs of names that are compared to find out what is only called otherwise. What is not
// compared counts as changed.
const maxRenames = 2_000_000

// rename removes what is only called otherwise: what is gone more than once, and always for the same other name. Another number
// is no other name.
func (x *examination) rename() {
	gone, in, left := map[string]int{}, map[string][]altered{}, map[string]bool{}
	for _, a := range x.altered {
		for was, n := range a.gone {
			gone[was] += n
			in[was] = append(in[was], a)
		}
		for is := range a.fresh {
			left[is] = true
		}
	}
	compared := 0
	always := func(was, is string) bool {
		return !slices.ContainsFunc(in[was], func(a altered) bool {
			compared++
			return a.gone[was] != a.fresh[is]
		})
	}
	renamed := make([]map[string]string, len(x.altered)) // from what it is called now
	for i, a := range x.altered {
		renamed[i] = map[string]string{}
		names := sorted(a.fresh)
		for _, was := range sorted(a.gone) {
			if _, is := change.Number(was); is || gone[was] < 2 || left[was] {
				continue
			}
			for _, is := range names {
				if compared++; compared > maxRenames {
					break
				}
				if renamed[i][is] == "" && a.gone[was] == a.fresh[is] && always(was, is) {
					renamed[i][is] = was
					break
				}
			}
		}
	}
	for i, a := range x.altered { // only now, because all of them are compared as they were
		for is, was := range renamed[i] {
			delete(a.gone, was)
			delete(a.fresh, is)
		}
	}
}

// changes finds what existing tests say otherwise than before and no other finding names. It is one finding for
// all of them.
func (x *examination) changes() {
	x.rename()
	named := x.namedLines()
	var spots []change.Spot
	for _, p := range x.shadowing() {
		spots = append(spots, change.Spot{Place: p, What: "redefinition of what tests use", Weight: 2})
	}
	names := testNames(x.pairs.before)
	for _, a := range x.altered {
		narrowed := 0
		if len(a.gone) == 0 && !a.asserts {
			if narrowed = a.narrows(names); narrowed == 0 {
				continue
			}
		}
		if !a.isIn(named) {
			spots = append(spots, a.spot(narrowed))
		}
	}
	if len(spots) > 0 {
		slices.SortStableFunc(spots, func(a, b change.Spot) int { return byLine(a.Place, b.Place) })
		x.findings = append(x.findings, change.Changed(change.Assertion, "test/changed", spots))
	}
}

// says counts the words of a file outside of comments.
func (s *side) says() map[string]int {
	if s.wordsSaid == nil {
		s.wordsSaid = map[string]int{}
		for i := range s.tokens {
			for _, w := range wordsIn(s.of(i)) {
				s.wordsSaid[w]++
			}
		}
	}
	return s.wordsSaid
}

// wordsIn are the words of a text.
func wordsIn(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r < 128 && !isWordByte(byte(r)) })
}

// testNames are the names of the functions that are tests.
func testNames(units []*unit) map[string]bool {
	names := map[string]bool{}
	for _, u := range units {
		if u.role == test && len(u.name) >= minSubject && !u.side.lang.calls[u.word] {
			names[u.name] = true
		}
	}
	return names
}

// macro matches what defines or takes away a macro of C.
var macro = regexp.MustCompile(`^#\s*(?:define|undef)\s+(\w+)`)

// shadow notes where a file of tests gives a name that it used another meaning: by an import from elsewhere, or by a macro.
func (x *examination) shadow(old, now *side) {
	add := func(line int) { x.shadows = append(x.shadows, now.headAt(line)) }
	had := old.imports()
	for name, is := range now.imports() {
		was := had[name]
		known := isAssertion(name) || now.lang.name == "Go" && (receivers[name] || elsewhere(was.from, is.from)) ||
			now.lang.calls[name] || testMarks[name] || was.from != "" && replacing.MatchString(is.from)
		if known && is.from != was.from && old.mentions(name) || strings.HasPrefix(name, ".") && was.from == "" {
			add(now.line(is.at))
		}
	}
	for name := range had {
		if _, is := now.imports()[name]; !is && now.lang.name == "Go" && now.uses(name) && old.uses(name) {
			add(now.line(now.places(name)[0])) // whatever else is called so now
		}
	}
	tests := testNames(old.units)
	for i := range now.tokens {
		name := now.of(i)
		mark := strings.TrimSuffix(name, "Attribute")
		if known := tests[name] || strings.HasPrefix(name, "assert") || testMarks[mark]; known && now.of(i+1) == "=" &&
			old.mentions(mark) && !old.gives(name) {
			add(now.line(i))
		}
	}
	for _, n := range now.notes {
		found := macro.FindStringSubmatch(now.text[n.from:n.to])
		if now.lang.preprocessor && found != nil && old.mentions(found[1]) && !strings.Contains(old.text, found[0]) {
			add(n.line)
		}
	}
}

// elsewhere reports whether Go imports a package from another place, and not just another version or folder of it.
func elsewhere(was, is string) bool {
	place := func(from string) string {
		return strings.Join(strings.Split(from, "/")[:min(3, strings.Count(from, "/")+1)], "/")
	}
	return was != "" && place(was) != place(is)
}

// packageOf is the name of the package that Go imports from a path, by what is usual.
func packageOf(from string) string {
	if base := path.Base(from); !majorVersion.MatchString(base) {
		return unprefixed.ReplaceAllString(base, "")
	}
	return packageOf(path.Dir(from))
}

var (
	majorVersion = regexp.MustCompile(`^v\d+$`)
	unprefixed   = regexp.MustCompile(`^go-|[-.]go$|\.v\d+$`)
)

// shadowing notes, in addition, each new function or class of that kind.
func (x *examination) shadowing() []change.Place {
	type of struct {
		side *side
		name string
	}
	had := map[of]bool{}
	for _, u := range x.pairs.before {
		had[of{u.side, u.name}] = true
	}
	for _, u := range x.pairs.after {
		s, old := u.side, u.side.other
		if x.pairs.of[u] == nil && u.role == definition && s.of(u.from) != "import" && old != nil && !s.lang.shell && !had[of{old, u.name}] &&
			(old.uses(u.name) || isAssertion(u.name) && strengths[strings.ToLower(u.name)] != unknown) {
			x.shadows = append(x.shadows, u.head())
		}
	}
	slices.SortFunc(x.shadows, byLine)
	return slices.Compact(x.shadows)
}

func byLine(a, b change.Place) int {
	return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line))
}

// gives reports whether a file gives a value to a name.
func (s *side) gives(name string) bool {
	return slices.ContainsFunc(s.places(name), func(i int) bool { return s.of(i+1) == "=" })
}

// uses reports whether a file calls something of a name, or a part of it.
func (s *side) uses(name string) bool {
	return slices.ContainsFunc(s.places(name), func(i int) bool { return s.of(i+1) == "(" || s.of(i+1) == "!" || s.of(i+1) == "." })
}

// origin is from where a file imports a name, and at which token.
type origin struct {
	from string
	at   int
}

// imports are the names that a file imports, by its last statement that does.
func (s *side) imports() map[string]origin {
	if s.imported != nil {
		return s.imported
	}
	all := map[string]origin{}
	s.imported = all
	for i := range s.tokens {
		if s.kindOf(i) != word || !s.tokens[i].first || !importing[s.of(i)] || s.lang.name == "Go" && s.of(i) != "import" {
			continue
		}
		if s.of(i+1) == "(" {
			for n := i + 2; s.lang.name == "Go" && n < s.mate(i+1); n++ {
				switch from := contentOf(s.of(n)); {
				case s.kindOf(n) != text:
				case s.of(n-1) == ".":
					all["."+from] = origin{from, n}
				case s.kindOf(n-1) == word:
					all[s.of(n-1)] = origin{from, n}
				default:
					all[packageOf(from)] = origin{from, n}
				}
			}
			continue
		}
		end := s.statementEnd(i)
		var names []int
		var from strings.Builder
		for n := i + 1; n < end; n++ {
			next := s.of(min(n+1, end-1))
			switch {
			case s.of(n) == "as", s.of(n) == "import", s.of(n) == "type" && s.lang.name == "JavaScript":
			case s.kindOf(n) == text, next == ".", next == "::", next == `\`, next == "as", next == "import":
				from.WriteString(s.normal(n) + " ")
			case s.kindOf(n) == word:
				names = append(names, n)
			}
		}
		for _, n := range names {
			all[s.of(n)] = origin{from.String(), n}
		}
	}
	return all
}

// closureFrom reports whether a function that ends in a word, such as one of Elixir, begins among some tokens of a bracket, and does not
// end there.
func (s *side) closureFrom(from, to int) bool {
	depth := 0
	for i := from; i < to && s.lang.layout == ends; i++ {
		switch t := s.of(i); {
		case s.outer[i] != int32(from-1):
		case t == "fn", t == "do" && s.of(i+1) != ":":
			depth++
		case t == "end":
			depth--
		}
	}
	return depth > 0
}

// maxCondition is the number of tokens within which a condition begins.
const maxCondition = 40

// inCondition reports whether a token is a part of a condition.
func (s *side) inCondition(i int) bool {
	for n := i; n > max(0, i-maxCondition); n-- {
		switch t := s.of(n); {
		case s.kindOf(n) == word && deciding[t] && !s.annotation(n) && s.of(n-1) != ".": // #[case(1)], pattern.match(…)
			return true
		case t == "{" || t == "}" || t == ";" || s.lang.layout != braces && s.tokens[n].first && s.outer[n] < 0:
			return false
		}
	}
	return false
}

// lines are the lines of a file that findings name: at the base if what they name is gone, otherwise at the head.
type lines struct {
	path string
	base bool
}

// namedLines are the lines of all findings, sorted.
func (x *examination) namedLines() map[lines][]int {
	all := map[lines][]int{}
	for _, f := range x.findings {
		of := lines{f.Path, f.After == "" && f.Before != ""}
		all[of] = append(all[of], f.Line)
	}
	for _, list := range all {
		slices.Sort(list)
	}
	return all
}

// isIn reports whether a finding is about a part of a test file.
func (a altered) isIn(named map[lines][]int) bool {
	return a.after.hasOneOf(named[lines{a.after.side.path, false}]) || a.before.hasOneOf(named[lines{a.before.side.path, true}])
}

// hasOneOf reports whether one of some sorted lines belongs to a unit.
func (u *unit) hasOneOf(list []int) bool {
	i, _ := slices.BinarySearch(list, u.side.line(u.from))
	return len(u.side.tokens) > 0 && i < len(list) && list[i] <= u.side.line(max(u.to-1, 0))
}

func sorted(says map[string]int) []string { return slices.Sorted(maps.Keys(says)) }
