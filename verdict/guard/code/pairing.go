package code

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
)

// pair is a test, or a function that tests call, at the base and its counterpart at the head.
type pair struct{ before, after *unit }

// pairing maps the units before to the units after, over all files.
type pairing struct {
	before, after []*unit
	of            map[*unit]*unit // both ways
	// reworked are the tests at the head that are new, or say more than before.
	reworked []*unit
}

// pairUnits pairs tests and helpers: first by name and text in the same file, then by text anywhere, then by
// name in the same file, then by likeness.
func pairUnits(before, after []*side) pairing {
	p := pairing{of: map[*unit]*unit{}}
	for _, s := range before {
		p.before = append(p.before, s.checked()...)
	}
	for _, s := range after {
		p.after = append(p.after, s.checked()...)
	}
	type key struct {
		role   role
		file   *side
		name   string
		digest uint64
	}
	p.take(func(u *unit, file *side) any { return key{u.role, file, u.path(), u.digest} })
	p.take(func(u *unit, _ *side) any { return key{u.role, nil, u.name, u.digest} })
	p.take(func(u *unit, _ *side) any {
		if u.size < 8 {
			return nil
		}
		return key{u.role, nil, "", u.digest}
	})
	p.take(func(u *unit, file *side) any { return key{u.role, file, u.path(), 0} })
	p.take(func(u *unit, file *side) any { return key{u.role, file, u.name, 0} })
	p.alike()
	for _, a := range p.after {
		if b := p.of[a]; a.role == test && (b == nil || a.says() > b.says()) {
			p.reworked = append(p.reworked, a)
		}
	}
	return p
}

// checked returns the compared units: tests and the functions that they call.
func (s *side) checked() []*unit {
	return slices.DeleteFunc(slices.Clone(s.units), func(u *unit) bool { return !u.compared() })
}

// compared reports whether a unit is one of these.
func (u *unit) compared() bool {
	return u.role == test || u.role == definition && (u.side.tests || u.within(group) || isAssertion(u.name))
}

// take pairs units with equal keys, in their order. A key is given the unit's file at the head.
func (p *pairing) take(key func(u *unit, file *side) any) {
	left := map[any][]*unit{}
	for _, a := range p.after {
		if k := key(a, a.side); p.of[a] == nil && k != nil {
			left[k] = append(left[k], a)
		}
	}
	for _, b := range p.before {
		k := key(b, b.side.other)
		if list := left[k]; p.of[b] == nil && len(list) > 0 {
			p.of[b], p.of[list[0]] = list[0], b
			left[k] = list[1:]
		}
	}
}

// maxComparisons bounds the pairs that are compared word by word.
const maxComparisons = 60_000

// alike pairs the remaining units by their shared words and names, the most alike first.
func (p *pairing) alike() {
	type candidate struct {
		pair
		score float64
	}
	left := func(list []*unit) []*unit {
		return slices.DeleteFunc(slices.Clone(list), func(u *unit) bool { return p.of[u] != nil })
	}
	before, after := left(p.before), left(p.after)
	all := len(before)*len(after) <= maxComparisons
	var found []candidate
	compared := 0
	for _, b := range before {
		for _, a := range after {
			if b.role != a.role || b.side.other != a.side && !all || compared > 2*maxComparisons {
				continue
			}
			compared++
			if score := likeness(b, a); score > 0 {
				found = append(found, candidate{pair{b, a}, score})
			}
		}
	}
	slices.SortStableFunc(found, func(x, y candidate) int { return cmp.Compare(y.score, x.score) })
	for _, c := range found {
		if p.of[c.before] == nil && p.of[c.after] == nil {
			p.of[c.before], p.of[c.after] = c.after, c.before
		}
	}
}

// likeness is how well a unit fits as the counterpart of another; 0 for not at all.
func likeness(b, a *unit) float64 {
	had, has, near := b.wordSet(), a.wordSet(), b.side.other == a.side
	kept, common := share(had, has), share(has, had)
	was, is := nameWords(b.name), nameWords(a.name)
	named := min(share(was, is), share(is, was))
	switch {
	case kept >= 0.55 && common >= 0.3, kept >= 0.4 && named >= 0.5, near && kept >= 0.3 && named >= 0.6, b.name == a.name && kept >= 0.2:
	default:
		return 0
	}
	score := kept + common/2 + named
	if near {
		score += 0.2
	}
	return score
}

// same reports whether both are certainly one test: by name, by text, or by most of what it said. Another one may only be like
// the one that is gone, and come with its marks.
func (p pair) same() bool {
	b, a := p.before, p.after
	return b.name == a.name || b.digest == a.digest || share(b.content(), a.wordSet()) >= most
}

// content is what a unit says but its name.
func (u *unit) content() map[string]bool {
	had := maps.Clone(u.wordSet())
	delete(had, u.name)
	delete(had, `"`+u.name+`"`)
	return had
}

// most is the share of a test's content that its replacement must contain.
const most = 0.75

// maxReworked is the number of tests at the head that are searched for the content of a removed test.
const maxReworked = 300

// saysElsewhere reports whether most of a test's content is new in another test at the head: as a part of it,
// a subtest or a row of its table.
func (p *pairing) saysElsewhere(b *unit) bool {
	had := b.content()
	if len(had) < 2 {
		return false
	}
	for _, a := range p.reworked[:min(len(p.reworked), maxReworked)] {
		was := p.of[a]
		if a.side.lang == b.side.lang && a.to-a.from >= (b.to-b.from)/2 && share(had, a.wordSet()) >= most &&
			(was == nil || float64(a.literals-was.literals) >= max(1, math.Floor(most*float64(b.literals)))) {
			return true
		}
	}
	return false
}

// assertsElsewhere reports whether each assertion of a test is in a test at the head that is new, or says more than before, and
// runs, and these tests say most of what it said: many tests assert only that there is no error.
func (p *pairing) assertsElsewhere(b *unit) bool {
	made, said := map[uint64]bool{}, map[string]bool{}
	for _, a := range p.reworked {
		if a.off() || !slices.ContainsFunc(a.assertions, func(c assertion) bool {
			return slices.ContainsFunc(b.assertions, func(o assertion) bool { return o.digest == c.digest })
		}) {
			continue
		}
		for _, c := range a.assertions {
			made[c.digest] = true
		}
		maps.Copy(said, a.wordSet())
	}
	return share(b.content(), said) >= most && !slices.ContainsFunc(b.assertions, func(c assertion) bool { return !made[c.digest] })
}

// twin reports whether another, unchanged test beside this one has the same text or says all that it says.
func (p *pairing) twin(b *unit) bool {
	return slices.ContainsFunc(b.side.units, func(u *unit) bool {
		a := p.of[u]
		return u != b && u.role == test && u.size > 3 && u.parent == b.parent && a != nil && a.digest == u.digest &&
			(u.digest == b.digest || len(b.assertions) > 0 && len(u.assertions) >= len(b.assertions) && b.saidBy(u))
	})
}

// saidBy reports whether another test says all that a test says but its title, in the same order and in any case.
func (u *unit) saidBy(other *unit) bool {
	said := other.sayings()
	for _, w := range u.sayings() {
		i := slices.Index(said, w)
		if i < 0 {
			return false
		}
		said = said[i+1:]
	}
	return true
}

// sayings are the words, literals and operators of a unit in lower case, without its title and its variables.
func (u *unit) sayings() (all []string) {
	s := u.side
	for i := u.from; i < u.to; i++ {
		kind := s.kindOf(i)
		if kind == sign && !operators[s.of(i)] || s.isLocal(i) || kind != sign && contentOf(s.normal(i)) == u.name {
			continue
		}
		all = append(all, strings.ToLower(s.normal(i)))
	}
	return all
}

// says is the number of a unit's assertions and literals.
func (u *unit) says() int { return len(u.assertions) + u.literals }

// wordSet is the set of words and literals of a unit, including the units within it. It distinguishes the
// unit from others.
func (u *unit) wordSet() map[string]bool {
	if u.words == nil {
		u.words = map[string]bool{}
		for i := u.from; i < u.to && len(u.words) < 4000; i++ {
			if u.side.tokens[i].kind != sign && !common[u.side.of(i)] && !u.side.isLocal(i) {
				u.words[u.side.normal(i)] = true
			}
		}
	}
	return u.words
}

// share is the share of one set that is in another one, from 0 to 1.
func share(a, b map[string]bool) float64 {
	if len(a) == 0 {
		return 0
	}
	n := 0
	for w := range a {
		if b[w] {
			n++
		}
	}
	return float64(n) / float64(len(a))
}

// nameWords are the words in a test's name, in lower case.
func nameWords(name string) map[string]bool {
	out, from := map[string]bool{}, 0
	add := func(w string) {
		if w = strings.ToLower(w); len(w) > 1 && w != "test" && w != "tests" && w != "should" {
			out[w] = true
		}
	}
	for i := 1; i <= len(name); i++ {
		if i == len(name) || !isWordByte(name[i]) || name[i] == '_' || name[i] >= 'A' && name[i] <= 'Z' && (name[i-1] < 'A' || name[i-1] > 'Z') {
			add(strings.Trim(name[from:i], "_ .,:;'\"()-"))
			from = i
		}
	}
	return out
}
