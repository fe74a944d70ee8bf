package code

import (
	"cmp"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
)

// pair is a test, or a helper, of before and what stands for it.
type pair struct{ before, after *unit }

// same reports whether the two have the same text, so that only their marks can differ.
func (p pair) same() bool { return p.before.digest == p.after.digest }

// digestOf hashes a unit's own tokens; how they are formatted does not matter.
func (s *side) digestOf(u *unit) {
	h := fnv.New64a()
	u.size = 0
	u.own(func(i int) {
		t := s.of(i)
		if t == "," || t == ";" {
			if next := s.of(i + 1); s.lang.newlines && t == ";" || next == ")" || next == "]" || next == "}" {
				return
			}
		}
		u.size++
		h.Write([]byte(s.normal(i)))
		h.Write([]byte{0})
	})
	u.digest = h.Sum64()
}

// wordsOf are the words and literals of a unit, with those of the units within it.
func (s *side) wordsOf(u *unit) map[string]bool {
	if u.words == nil {
		u.words = map[string]bool{}
		for i := u.from; i < u.to && len(u.words) < 4000; i++ {
			if s.tokens[i].kind != sign && !common[s.of(i)] {
				u.words[s.normal(i)] = true
			}
		}
	}
	return u.words
}

// common are words by which no test is told from another.
var common = set("func t testing T def self assert assertEquals assertEqual expect it test describe async await const " +
	"let var val fn return if else for in of is not " +
	"true false nil null None True False new void public private static final class Test Fact use import from with as and " +
	"or toBe toEqual require Equal Error Errorf Fatal Fatalf err ok end do 0 1 2 string int")

// share is how much of one set stands in another one, 0 to 1.
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

// nameWords are the words that a test's name is made of, in lower case.
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

// pairing assigns what stood before to what stands after, all files together: first
// what is certain, then the most alike.
type pairing struct {
	before, after []*unit
	taken         map[*unit]*unit // both ways
	renamed       map[*side]*side // the same file before and after
}

// take pairs units of equal keys in their order.
func (p *pairing) take(key func(u *unit, after bool) any) {
	left := map[any][]*unit{}
	for _, a := range p.after {
		if k := key(a, true); p.taken[a] == nil && k != nil {
			left[k] = append(left[k], a)
		}
	}
	for _, b := range p.before {
		k := key(b, false)
		if p.taken[b] != nil || k == nil {
			continue
		}
		if list := left[k]; len(list) > 0 {
			p.taken[b], p.taken[list[0]] = list[0], b
			left[k] = list[1:]
		}
	}
}

// file is what a side is called on both sides of the change.
func (p *pairing) file(u *unit, after bool) *side {
	if after {
		return u.side
	}
	return p.renamed[u.side]
}

// assign pairs units: the same name and text in the same file, the same text anywhere,
// the same name in the same file, the same name elsewhere, and then by likeness.
func (p *pairing) assign() {
	p.taken = map[*unit]*unit{}
	type full struct {
		file   *side
		path   string
		digest uint64
	}
	p.take(func(u *unit, after bool) any { return full{p.file(u, after), u.path(), u.digest} })
	p.take(func(u *unit, after bool) any { return full{nil, u.name, u.digest} })
	p.take(func(u *unit, _ bool) any {
		if u.size < 8 {
			return nil
		}
		return u.digest
	})
	p.take(func(u *unit, after bool) any { return full{p.file(u, after), u.path(), 0} })
	p.take(func(u *unit, after bool) any { return full{p.file(u, after), u.name, 0} })
	p.alike()
}

// maxComparisons bounds how many pairs are compared word by word.
const maxComparisons = 60_000

// alike pairs what is left by how much its words and names share, the most alike first.
func (p *pairing) alike() {
	type candidate struct {
		before, after *unit
		score         float64
	}
	left := func(list []*unit) []*unit {
		return slices.DeleteFunc(slices.Clone(list), func(u *unit) bool { return p.taken[u] != nil })
	}
	before, after := left(p.before), left(p.after)
	all := len(before)*len(after) <= maxComparisons
	var found []candidate
	compared := 0
	for _, b := range before {
		names := nameWords(b.name)
		for _, a := range after {
			near := p.renamed[b.side] == a.side
			if !near && !all || compared > 2*maxComparisons || b.role != a.role {
				continue
			}
			compared++
			if score := likeness(b, a, names, near); score > 0 {
				found = append(found, candidate{b, a, score})
			}
		}
	}
	slices.SortStableFunc(found, func(x, y candidate) int { return cmp.Compare(y.score, x.score) })
	for _, c := range found {
		if p.taken[c.before] == nil && p.taken[c.after] == nil {
			p.taken[c.before], p.taken[c.after] = c.after, c.before
		}
	}
}

// likeness is how well a test stands for another one; 0 for not at all.
func likeness(b, a *unit, names map[string]bool, near bool) float64 {
	had, has := b.side.wordsOf(b), a.side.wordsOf(a)
	kept, common := share(had, has), share(has, had)
	named := min(share(names, nameWords(a.name)), share(nameWords(a.name), names))
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

// folded reports whether what a test says stands in another one at the head that is new or
// says more: as a part of it, a subtest or a row of its table.
func (x *examination) folded(b *unit) bool {
	had := maps.Clone(b.side.wordsOf(b))
	delete(had, b.name)
	if len(had) < 2 || x.gone > maxGone {
		return false
	}
	for _, a := range x.reworked[:min(len(x.reworked), maxGone)] {
		if a.side.lang == b.side.lang && a.to-a.from >= (b.to-b.from)/2 && share(had, a.side.wordsOf(a)) >= 0.75 {
			return true
		}
	}
	return false
}
