package code

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"touchstone/verdict/guard/change"
)

// altered is a test, a function that tests call, or the rest of a test file, which does not say what it said
// before.
type altered struct {
	pair
	was, is     int            // the first line of each side where they differ, 0 for none
	gone, fresh map[string]int // the words, literals and operators that it has less and more often
	asserts     bool           // an assertion is not there any more as it was
}

// telling calls do for each token that says something: no punctuation, local variable, own name or import.
func (u *unit) telling(do func(i int, says string)) {
	s, past := u.side, 0
	tell := func(i int) {
		t := s.of(i)
		switch kind := s.kindOf(i); {
		case i < past || i == u.at && u.body > 0 || s.isLocal(i) || kind == sign && !operators[t]:
		case kind == word && s.tokens[i].first && importing[t] && s.of(i+1) != "(":
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

// alter keeps in which way a part of a test file is not as before.
func (x *examination) alter(p pair) {
	if strings.HasSuffix(p.after.side.path, ".gradle.kts") { // says how a project is built, and package words reads it
		return
	}
	one := altered{pair: p, gone: map[string]int{}, fresh: map[string]int{}}
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
	if len(one.gone)+len(one.fresh) == 0 || x.passed(p.after) {
		return
	}
	first := func(u, other *unit, differs map[string]int) (line int) { // one that the other side has may say the word, too
		lines, said := other.lineTexts(), 0
		u.telling(func(i int, says string) {
			if line == 0 && differs[says] > 0 {
				at := u.side.line(i)
				if said = cmp.Or(said, at); !lines[u.side.lineText(at)] {
					line = at
				}
			}
		})
		return cmp.Or(line, said)
	}
	one.was, one.is = first(p.before, p.after, one.gone), first(p.after, p.before, one.fresh)
	one.asserts = len(p.before.side.without(p.before.assertions, p.after.assertions)) > 0
	x.altered = append(x.altered, one)
}

// lineTexts are the lines of a unit.
func (u *unit) lineTexts() map[string]bool {
	texts := map[string]bool{}
	if u.from < u.to {
		for n := u.side.line(u.from); n <= u.side.line(u.to-1); n++ {
			texts[u.side.lineText(n)] = true
		}
	}
	return texts
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
	var places []change.Place
	for _, a := range x.altered {
		if len(a.gone) == 0 && !a.asserts && !a.narrows() || a.isIn(named) {
			continue
		}
		b, s := a.before.side, a.after.side
		p := change.Place{Path: s.path, Line: cmp.Or(a.is, a.was)}
		if a.was > 0 {
			p.Before = b.lineText(a.was)
		}
		if a.is > 0 {
			p.After = s.lineText(a.is)
		}
		places = append(places, p)
	}
	if len(places) > 0 {
		slices.SortStableFunc(places, func(a, b change.Place) int { return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line)) })
		x.findings = append(x.findings, change.Changed(change.Assertion, "test/changed", "Existing tests do not say what they said", places))
	}
}

// narrows reports whether what is new in a part of a test file may pass over something: a condition, a part of one, another
// literal for an arm of Rust's match, or an argument of a call that was there before.
func (a altered) narrows() (narrows bool) {
	s := a.after.side
	a.after.telling(func(i int, says string) {
		open := int(s.outer[i])
		call := open > 0 && s.of(open) == "(" && s.kindOf(open-1) == word && a.fresh[s.normal(open-1)] == 0
		arm := s.lang.rust && s.kindOf(i) == text && (s.of(i-1) == "|" || s.of(i+1) == "|")
		narrows = narrows || a.fresh[says] > 0 && (deciding[says] || call || arm || s.inCondition(i))
	})
	return narrows
}

// maxCondition is the number of tokens within which a condition begins.
const maxCondition = 40

// inCondition reports whether a token is a part of a condition.
func (s *side) inCondition(i int) bool {
	for n := i; n > max(0, i-maxCondition); n-- {
		switch t := s.of(n); {
		case s.kindOf(n) == word && deciding[t]:
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
	path := func(u *unit, base bool) lines { return lines{u.side.path, base} }
	return a.after.hasOneOf(named[path(a.after, false)]) || a.before.hasOneOf(named[path(a.before, true)])
}

// hasOneOf reports whether one of some sorted lines belongs to a unit.
func (u *unit) hasOneOf(list []int) bool {
	last := len(u.side.tokens) - 1
	if last < 0 {
		return false
	}
	i, _ := slices.BinarySearch(list, u.side.line(min(u.from, last)))
	return i < len(list) && list[i] <= u.side.line(min(max(u.to-1, 0), last))
}

func sorted(says map[string]int) []string { return slices.Sorted(maps.Keys(says)) }
