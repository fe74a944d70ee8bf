package code

import (
	"strings"

	"touchstone/verdict/guard/change"
)

// compareTests pairs the tests of before with those of the head and compares each pair.
func (x *examination) compareTests() {
	x.tests = pairing{renamed: x.renamed}
	for _, s := range x.before {
		x.tests.before = append(x.tests.before, s.having(test)...)
	}
	for _, s := range x.after {
		x.tests.after = append(x.tests.after, s.having(test)...)
	}
	x.tests.assign()
	var pairs []pair
	x.reworked = x.workedOn()
	for _, b := range x.tests.before {
		if a := x.tests.taken[b]; a != nil {
			pairs = append(pairs, pair{b, a})
		} else {
			x.lost(b)
		}
	}
	x.compareMarks(pairs)
	x.compareFocus()
	for _, p := range pairs {
		if !p.same() && !x.passed(p.after) {
			x.compareTest(p)
		}
	}
	x.compareMain()
	x.compareNames()
}

// having is the units of a role.
func (s *side) having(r role) []*unit {
	var out []*unit
	for _, u := range s.units {
		if u.role == r {
			out = append(out, u)
		}
	}
	return out
}

// holdsTests reports whether a file is one of tests, and not one of a folder that only
// sounds like it.
func (s *side) holdsTests() bool { return s != nil && s.tests && len(s.having(test)) > 0 }

// maxGone is how many tests that are gone are looked for in comments and in others.
const maxGone = 300

// lost judges a test that nothing stands for.
func (x *examination) lost(b *unit) {
	s := b.side
	if x.passed(b) {
		return
	}
	for p := b.parent; p != nil; p = p.parent {
		if p.role == test && x.tests.taken[p] == nil {
			return // said of the test around it
		}
	}
	for _, m := range b.effective() {
		if m.effect == skips && m.cond == "" {
			return
		}
	}
	say := func(tier change.Tier, rule, why string) {
		x.said[b] = true
		x.say(tier, change.Test, rule, why, s, nil, b.line(), 0)
	}
	now := x.renamed[s]
	x.gone++
	switch what := x.vanished.of(b, x.scope(b)); {
	case what == deleted:
	case x.idle(b):
		say(change.Hold, "test/not-run", "The test "+b.name+" is still written, and no runner takes it for a test any more.")
	case now != nil && x.gone < maxGone && now.comments(b.name) && !s.comments(b.name):
		say(change.Hold, "test/commented-out", "The test "+b.name+" is commented out.")
	case x.folded(b):
	case what == changed || x.replaced(b) || x.doubled(b) || x.subjectShrank(b):
		say(change.Evidence, "test/replaced", "The test "+b.name+" is gone; what it tests changed, or new tests may stand in its place.")
	case len(b.claims) == 0 && len(b.children) == 0:
		say(change.Evidence, "test/deleted", "The test "+b.name+" is gone; what it tests is not.")
	case x.vanished.touched: // not certain: what the test was of may be another now
		say(change.Evidence, "test/deleted", "The test "+b.name+" is gone, and what it tests is not, as far as its names tell.")
	default:
		say(change.Hold, "test/deleted", "The test "+b.name+" is gone, and what it tests is not.")
	}
}

// scope is what of the definitions around a test is gone with it, or the test itself.
func (x *examination) scope(b *unit) *unit {
	left := map[string]bool{}
	if now := x.renamed[b.side]; now != nil {
		for _, u := range now.units {
			left[u.path()] = true
		}
	}
	for b.parent != nil && b.parent.role == group && !left[b.parent.path()] {
		b = b.parent
	}
	return b
}

// workedOn are the tests at the head that are new, or that say more than they did.
func (x *examination) workedOn() []*unit {
	var out []*unit
	for _, a := range x.tests.after {
		b := x.tests.taken[a]
		if b == nil || b.digest != a.digest && len(a.claims)+len(a.rows) > len(b.claims)+len(b.rows) || len(a.rows) > len(b.rows) {
			out = append(out, a)
		}
	}
	return out
}

// replaced reports whether there are tests that may stand for one that is gone: any new
// one, or one of the same file that says more than it did.
func (x *examination) replaced(b *unit) bool {
	for _, a := range x.reworked {
		if x.tests.taken[a] == nil || a.side == x.renamed[b.side] {
			return true
		}
	}
	return false
}

// doubled reports whether another test that has a new name is nearly the same as one that is gone.
func (x *examination) doubled(b *unit) bool {
	words := b.side.wordsOf(b)
	for _, a := range x.tests.after {
		was, others := x.tests.taken[a], a.side.wordsOf(a)
		if was != nil && was.name != a.name && a.side == x.renamed[b.side] && min(share(words, others), share(others, words)) >= 0.75 {
			return true
		}
	}
	return false
}

// subjectShrank reports whether the source file that a file of tests is named after says
// less than it did: what was tested there may be gone with its test.
func (x *examination) subjectShrank(b *unit) bool {
	for was, is := range x.renamed {
		if !was.tests && stem(was.path) == stem(b.side.path) && len(is.tokens) < len(was.tokens) {
			return true
		}
	}
	return false
}

// idle reports whether a function at the head that is no test, and that nothing calls, has
// a test's text.
func (x *examination) idle(b *unit) bool {
	if x.texts == nil {
		x.texts = map[uint64]*unit{}
		for _, s := range x.after {
			for _, u := range s.having(definition) {
				if !s.lang.python || u.parent == nil || u.parent.word != "class" { // a base class of tests
					x.texts[u.digest] = u
				}
			}
		}
	}
	u := x.texts[b.digest]
	return u != nil && b.size >= 4 && u.side.lang == b.side.lang && !x.called(u)
}

// called reports whether the name of a definition at the head stands anywhere else there.
func (x *examination) called(u *unit) bool {
	if x.mentions == nil {
		x.mentions = map[string]int{}
		for _, s := range x.after {
			for i, t := range s.tokens {
				if t.kind == word {
					x.mentions[s.of(i)]++
				}
			}
		}
	}
	return x.mentions[u.name] > 1
}

// comments reports whether a name stands in a comment, or in a string that is a
// statement of its own.
func (s *side) comments(name string) bool {
	for _, n := range s.notes {
		if strings.Contains(s.text[n.from:n.to], name) {
			return true
		}
	}
	for i, t := range s.tokens {
		if t.kind == text && t.first && s.lang.python && strings.Contains(s.of(i), "def "+name) {
			return true
		}
	}
	return false
}

// effective is a test's marks and those of everything around it.
func (u *unit) effective() []mark {
	out := u.marks
	for p := u.parent; p != nil; p = p.parent {
		out = append(out[:len(out):len(out)], p.marks...)
	}
	return append(out[:len(out):len(out)], u.side.fileMarks()...)
}

// compareNames finds tests of Python that a later one of the same name replaces.
func (x *examination) compareNames() {
	for _, s := range x.after {
		if !s.lang.python {
			continue
		}
		type scope struct {
			parent *unit
			name   string
		}
		seen := map[scope]*unit{}
		for _, u := range s.having(test) {
			at := scope{u.parent, u.name}
			if first := seen[at]; first != nil && (x.tests.taken[u] == nil) != (x.tests.taken[first] == nil) {
				x.say(change.Hold, change.Test, "test/not-run", "Two tests are called "+u.name+", so the first one does not run.", nil, s, 0, u.line())
			}
			seen[at] = u
		}
	}
}

// compareMain finds a main function of Go's tests that changed and does not run them.
func (x *examination) compareMain() {
	had := map[uint64]bool{}
	for _, s := range x.before {
		for _, u := range s.having(definition) {
			had[u.digest] = had[u.digest] || u.name == "TestMain"
		}
	}
	for _, s := range x.after {
		for _, u := range s.units {
			if u.name != "TestMain" || s.lang.name != "Go" || !s.tests || had[u.digest] {
				continue
			}
			if text := s.plain(u.body, u.to); !strings.Contains(text, ". Run (") && !strings.Contains(text, "( m") && u.to-u.body < 100 {
				x.say(change.Hold, change.Test, "test/main", "The main function of the tests does not run them.", nil, s, 0, u.line())
			} else if strings.Contains(text, "Exit ( 0 )") {
				x.say(change.Evidence, change.Test, "test/main", "The main function of the tests can end well without them.", nil, s, 0, u.line())
			}
		}
	}
}
