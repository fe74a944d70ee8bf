package code

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"maps"
	"path"
	"slices"
	"strings"

	"touchstone/verdict/guard/change"
)

// compareTests pairs the tests of base and head, and the functions that they call, and applies the rules to
// each pair and to each test without a partner.
func (x *examination) compareTests() {
	x.pairs = pairUnits(x.before, x.after)
	var pairs []pair
	for _, b := range x.pairs.before {
		if a := x.pairs.of[b]; a != nil {
			pairs = append(pairs, pair{b, a})
		} else if b.role == test {
			x.lost(b)
		}
	}
	x.tellDeleted()
	x.compareMarks(pairs)
	for _, p := range pairs {
		if x.passed(p.after) {
			continue
		}
		if p.before.whole != p.after.whole && !p.unmarked() {
			x.alter(p)
		}
		if p.before.digest != p.after.digest {
			x.compareAssertions(p)
		}
	}
	x.compareMain()
	x.compareNames()
}

// maxJudged bounds the tests without a partner that are looked for elsewhere in a change: each of them is compared with all
// others. The rest are held, unless they go with their package: one that must not go could be hidden behind them.
const maxJudged = 1000

// deleted is the rule of tests that are gone.
const deleted = "test/deleted"

// GoneWithCode is the rule of tests that are gone together with what they test. It is shown, because a check of the product
// may be taken out with its test: whether it was to go is for the review to say.
const GoneWithCode = "test/gone-with-code"

// lost judges a test without a partner at the head. That a test is deleted is only evidence, since code cannot
// tell whether what a test stood for is still wanted, or is tested elsewhere. It is certain if the change does
// nothing else, and the code still has a name that only this test mentioned.
func (x *examination) lost(b *unit) {
	for p := b.parent; p != nil; p = p.parent {
		if p.role == test && x.pairs.of[p] == nil {
			return // the finding is about the test around it
		}
	}
	if slices.ContainsFunc(b.effective(), func(m mark) bool {
		return (m.effect == skips || m.effect == leaves) && m.cond == "" && !(m.at == b.at && b.unlisted()) // a runtime may have found it
	}) {
		return
	}
	say := func(tier change.Tier, rule, why string) {
		x.said[b] = true
		x.say(tier, change.Test, rule, "The test "+b.name+" "+why, b.side.baseAt(b.line()))
	}
	now := b.side.other
	x.judged++
	switch {
	case x.passed(b):
	case x.judged > maxJudged:
		say(change.HoldIf(!x.dissolved(b.side.path)), deleted, "is gone, beside more than a thousand others.")
	case x.subject.goneWith(b):
		if !fixture.MatchString(b.side.path) {
			x.together = append(x.together, b)
		}
	case x.idle(b) != nil:
		say(x.idle(b).idleness(b), "test/not-run", "is still written, and no runner takes it for a test any more.")
	case b.side.left != nil && slices.ContainsFunc(b.side.left.units, func(u *unit) bool { return u.digest == b.digest }):
		say(change.Hold, "test/not-run", "is still written, in a file that is no source any more.")
	case now != nil && now.comments(b) && !b.side.comments(b):
		say(change.HoldIf(!x.subject.takes(b.wordSet())), "test/commented-out", "is commented out.")
	case x.pairs.saysElsewhere(b), x.pairs.twin(b):
	default:
		if name := x.standing.untested(b); name != "" {
			say(change.Hold, deleted, "is gone, and no other test mentions "+name+", which the code still has.")
			return
		}
		x.said[b] = true
		x.deleted = append(x.deleted, b)
	}
}

// tellDeleted is one finding for all tests of a file that are gone for no known reason.
func (x *examination) tellDeleted() {
	for left := x.deleted; len(left) > 0; {
		first, n := left[0], 1
		for n < len(left) && left[n].side == first.side {
			n++
		}
		why := "The test " + first.name + " is gone, and what it tests may not be."
		if n > 1 {
			why = fmt.Sprintf("%d tests of this file are gone, and what they test may not be: %s.", n, namesOf(left[:n], maxGone))
		}
		x.say(change.Evidence, change.Test, deleted, why, first.side.baseAt(first.line()))
		left = left[n:]
	}
}

// maxTogether bounds the tests that the finding about those that are gone with their code names, maxGone those of any other: whoever
// answers it has to know them.
const (
	maxTogether = 8
	maxGone     = 100
)

// namesOf are the names of some tests, of at most so many.
func namesOf(tests []*unit, most int) string {
	var names []string
	for _, b := range tests[:min(len(tests), most)] {
		names = append(names, b.name)
	}
	text := strings.Join(names, ", ")
	if more := len(tests) - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more tests", more)
	}
	return text
}

// goneTogether is one finding for all tests that are gone together with what they test. It is made after all others: it says
// least, and no other finding is left out for it.
func (x *examination) goneTogether() {
	if len(x.together) == 0 {
		return
	}
	first := x.together[0]
	x.say(change.Evidence, change.Test, GoneWithCode,
		"Gone together with what is tested, which may still be wanted: "+namesOf(x.together, maxTogether)+".", first.side.baseAt(first.line()))
}

// dissolved reports whether a test file is in a package that is gone: its manifest is deleted with its code, most of which is
// nowhere else, and no file of its folder changes or moves. That another one stays unchanged is not known here.
func (x *examination) dissolved(name string) bool {
	if x.packages == nil {
		x.packages = map[string]bool{}
		for _, f := range x.files {
			if dir := path.Dir(f.OldPath); f.Path == "" && dir != "." && change.IsManifest(f.OldPath) {
				x.packages[dir] = true
			}
		}
		lost := map[string]int{} // by folder: files of code that are gone, less those whose definitions are left somewhere
		for _, f := range x.files {
			switch {
			case f.Path != "":
				above(f.OldPath, func(dir string) { delete(x.packages, dir) })
				above(f.Path, func(dir string) { delete(x.packages, dir) })
			case languageOf(f.OldPath) == nil || isTestPath(f.OldPath):
			case x.subject.stems[stem(f.OldPath)]:
				above(f.OldPath, func(dir string) { lost[dir]++ })
			default:
				above(f.OldPath, func(dir string) { lost[dir]-- })
			}
		}
		maps.DeleteFunc(x.packages, func(dir string, _ bool) bool { return lost[dir] <= 0 })
	}
	gone := false
	above(name, func(dir string) { gone = gone || x.packages[dir] })
	return gone
}

// above calls a function with each folder that a file is in, but the root.
func above(name string, see func(dir string)) {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		see(dir)
	}
}

// idle finds a function at the head with the text of a test, which is not a test itself and which nothing
// calls; nil if there is none.
func (x *examination) idle(b *unit) *unit {
	for _, s := range x.after {
		for _, u := range s.units {
			if u.role != definition || u.digest != b.digest || b.size < 4 || s.lang != b.side.lang ||
				s.lang.python && u.parent != nil && u.parent.word == "class" && !s.collected(u.parent) { // a base class of tests
				continue
			}
			if x.called(u) {
				return nil
			}
			return u
		}
	}
	return nil
}

// idleness is the tier of the finding that no runner takes a function for a test. It is only evidence if the function has another
// annotation, is where pytest does not look, has a name that older runners of its language accept, or overrides one, whose
// attributes C# inherits: it may still be a test. Nor is it more if the test could be left out before, by a mark that is gone, too.
func (u *unit) idleness(was *unit) change.Tier {
	marked := among(u.from, u.at, func(i int) bool { return u.side.kindOf(i) == word && u.side.annotation(i) })
	elsewhere := u.side != was.side.other || u.side.lang.python && !matches(taken, u.side.lang, path.Base(u.side.path))
	inherits := u.side.lang.name == "C#" && u.overrides()
	return change.HoldIf(!marked && !elsewhere && !inherits && !u.spared(was, mark{effect: skips}) &&
		!(u.side.lang.junit && strings.HasPrefix(u.name, "test")))
}

// called reports whether the name of a definition at the head occurs a second time there.
func (x *examination) called(u *unit) bool {
	n := 0
	for _, s := range x.after {
		n += len(s.places(u.name))
	}
	return n > 1
}

// comments reports whether the definition of a test, by its name and its first assertion, is in a comment, or
// in a Python string that is a statement of its own.
func (s *side) comments(u *unit) bool {
	var first []string
	named, asserts := false, false
	if len(u.assertions) > 0 {
		first = u.side.wordsOf(u.assertions[0])
	} else if strings.Contains(u.name, " ") { // a title may be a sentence in any comment
		return false
	}
	see := func(text string) {
		_, behind, found := strings.Cut(text, u.name)
		named = named || found && (behind == "" || strings.ContainsRune("(\"'`:\n", rune(behind[0])) || strings.HasPrefix(behind, " = "))
		asserts = asserts || !slices.ContainsFunc(first, func(w string) bool { return !strings.Contains(text, w) })
	}
	for _, n := range s.notes {
		see(s.text[n.from:n.to])
	}
	for i, t := range s.tokens {
		if t.kind == text && t.first && s.lang.python {
			see(s.of(i))
		}
	}
	return named && asserts
}

// wordsOf are the words and literals in the first line of an assertion, without those of its own variables.
func (s *side) wordsOf(c assertion) (all []string) {
	for i := int(c.from); i < int(c.to) && s.line(i) == s.line(int(c.from)); i++ {
		if s.kindOf(i) != sign && !s.isLocal(i) {
			all = append(all, contentOf(s.of(i)))
		}
	}
	return all
}

// compareNames finds tests of Python and Ruby that a later test of the same name replaces.
func (x *examination) compareNames() {
	for _, s := range x.after {
		seen := map[string]*unit{}
		for _, u := range s.having(test) {
			name := u.path()
			named := s.lang.python || s.lang.ruby && u.word == "def"
			if first := seen[name]; named && first != nil && (x.pairs.of[u] == nil) != (x.pairs.of[first] == nil) {
				sure := !slices.ContainsFunc(s.conditionsAt(u.from, 0), func(c condition) bool { return namesIn(c.text) != "" })
				x.say(change.HoldIf(sure), change.Test, "test/not-run", "Two tests are called "+u.name+", so the first one does not run.", u.head())
			}
			seen[name] = u
		}
	}
}

// compareMain finds a main function of Go tests that changed and does not run the tests, and an init that ends before them.
func (x *examination) compareMain() {
	for _, a := range x.pairs.after {
		b := x.pairs.of[a]
		begins := a.name == "init" && a.side.tests && a.side.of(a.at-1) == "func" // no method
		if a.name != "TestMain" && !begins || a.side.lang.name != "Go" || b != nil && b.digest == a.digest {
			continue
		}
		switch text := a.side.plain(a.body, a.to); {
		case begins || a.runsTests():
			if a.exits(begins) > 0 {
				x.say(change.HoldIf(a.endsWell() && (b == nil || !b.endsWell())), change.Test, "test/main",
					"The tests of this package can end well whatever they find.", a.head())
			}
		case (b == nil || b.runsTests()) && !strings.Contains(text, "( m") && a.to-a.body < 100:
			x.say(change.Hold, change.Test, "test/main", "The main function of the tests does not run them.", a.head())
		case strings.Contains(text, "Exit ( 0 )"):
			x.say(change.Evidence, change.Test, "test/main", "The main function of the tests can end well without them.", a.head())
		}
	}
}

// endsWell reports whether a function of Go has one end, which says that all is well.
func (u *unit) endsWell() bool {
	otherwise := func(i int) bool { return u.side.of(i) == "{" || u.side.of(i) == "panic" }
	return u.exits(false) == 1 && u.exits(true) == 1 && !among(u.body, u.to, otherwise)
}

// exits counts the calls of Exit in a function of Go that say that all is well or, if maybe, that may do so.
func (u *unit) exits(maybe bool) (n int) {
	s := u.side
	for i := u.body; i < u.to; i++ {
		if s.of(i) == "Exit" && s.of(i+1) == "(" && (s.of(i+2) == "0" && s.of(i+3) == ")" || maybe && s.kindOf(i+2) != number) {
			n++
		}
	}
	return n
}

// compareResult finds a program of C or C++ that ended as its tests did, and takes no notice of their result now.
func (x *examination) compareResult(before, after *side) {
	lost := func(s *side) (at []int) {
		for _, name := range []string{"RUN_ALL_TESTS", "UNITY_END"} {
			at = append(at, slices.DeleteFunc(slices.Clone(s.places(name)), func(i int) bool {
				return !slices.Contains([]string{"{", "}", ";"}, s.of(i-1)) || s.of(i+1) != "(" || s.of(s.mate(i+1)+1) != ";"
			})...)
		}
		return at
	}
	uses := func(s *side) int { return len(s.places("RUN_ALL_TESTS")) + len(s.places("UNITY_END")) }
	if now := lost(after); after.lang.name == "C" && len(now) > len(lost(before)) && uses(before) == uses(after) {
		x.say(change.Hold, change.Test, "test/main", "The result of the tests decides nothing any more.", after.headAt(after.line(now[0])))
	}
}

// runsTests reports whether a main function calls the method that runs the tests.
func (u *unit) runsTests() bool {
	return among(u.body, u.to, func(i int) bool { return u.side.of(i) == "Run" && u.side.of(i-1) == "." && u.side.of(i+1) == "(" })
}

// subject is what a change does to the code that is not a test. A test may go together with the code that it
// tests.
type subject struct {
	beyond  bool            // something changed that is no test and in no test file
	defined map[string]bool // the names defined at the head
	bodies  map[uint64]bool // the digests of the definitions at the head
	base    []defined
	gone    map[string]bool     // names that are no longer defined, in lower case
	stems   map[string]bool     // the stems of files of which nothing is left
	taken   map[string][]uint64 // the bodies of what a file defined and does not define any more, by name
}

// defined is a definition of the base.
type defined struct {
	name, file string // file is the stem of a deleted file, "" for others
	digest     uint64
	size       int
}

// see adds the definitions of both sides of a file that are not tests. Either side may be nil.
func (v *subject) see(before, after *side) {
	if !cmp.Or(before, after).tests && (before == nil || after == nil || before.apart() != after.apart()) {
		v.beyond = true
	}
	here := map[string]bool{}
	if after != nil {
		for _, u := range after.units {
			if u.isSubject() {
				name := strings.Clone(u.name)
				v.defined[name], v.bodies[u.digest], here[name] = true, true, true
			}
		}
	}
	if before != nil {
		file := ""
		if after == nil && !before.tests {
			file = stem(before.path)
			v.stems[file] = true
		}
		for _, u := range before.units {
			if u.isSubject() {
				name := strings.Clone(u.name)
				v.base = append(v.base, defined{name, file, u.digest, u.size})
				if !here[name] {
					v.taken[name] = append(v.taken[name], u.digest)
				}
			}
		}
	}
}

// ofTests reports whether a unit is a test, or a module of tests within its source, as in Rust.
func (u *unit) ofTests() bool { return u.role == test || u.role == group && u.word == "mod" }

func (u *unit) isSubject() bool {
	return u.role == definition && !u.within(test) && (u.parent == nil || !u.parent.ofTests())
}

// apart is a hash of the tokens of a side that belong to no test.
func (s *side) apart() uint64 {
	h := fnv.New64a()
	i := 0
	upTo := func(end int) {
		for ; i < end; i++ {
			h.Write([]byte(s.normal(i)))
		}
	}
	for _, u := range s.units {
		if u.ofTests() && u.from >= i {
			upTo(u.from)
			i = u.to
		}
	}
	upTo(len(s.tokens))
	return h.Sum64()
}

// takes reports whether a file does not define any more what one of some words names, and its body is not left elsewhere or
// under another name: what needs it could not stay.
func (v *subject) takes(words map[string]bool) bool {
	for w := range words {
		if len(w) > 4 && slices.ContainsFunc(v.taken[w], func(body uint64) bool { return !v.bodies[body] }) {
			return true // shorter names are those of many things
		}
	}
	return false
}

// settle decides which definitions are gone: those whose name is not left, and whose body is not left under
// another name.
func (v *subject) settle() {
	for _, d := range v.base {
		if v.defined[d.name] || d.size > 6 && v.bodies[d.digest] {
			delete(v.stems, d.file)
		} else {
			v.gone[strings.ToLower(d.name)] = true
		}
	}
}

// minNamed is the length above which the name of a test can mention the whole name of a definition.
const minNamed = 10

// goneWith reports whether a test is gone together with what it tests: the file that it is named after,
// something that its name mentions, or all definitions that it uses.
func (v *subject) goneWith(u *unit) bool {
	if v.stems[stem(u.side.path)] {
		return true
	}
	for w := range nameWords(u.name) {
		if len(w) > 4 && v.gone[w] {
			return true
		}
	}
	name := strings.ToLower(u.name)
	for w := range v.gone {
		if len(w) > minNamed && strings.Contains(name, w) {
			return true
		}
	}
	gone, left := false, false
	for w := range u.wordSet() {
		for _, part := range wordsIn(w) {
			left = left || v.defined[part]
			gone = gone || !v.defined[part] && len(part) > 3 && v.gone[strings.ToLower(part)]
		}
	}
	return gone && !left
}

// stem is the common part of the names of a source file and its test file.
func stem(name string) string {
	base, _, _ := strings.Cut(strings.ToLower(path.Base(name)), ".")
	for _, affix := range []string{"tests", "test", "specs", "spec"} {
		base = strings.TrimSuffix(strings.TrimPrefix(base, affix), affix)
	}
	return strings.Trim(base, "_-")
}
