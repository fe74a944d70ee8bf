package code

import (
	"bytes"
	"go/build"
	"io"
	"path"
	"slices"
	"strings"

	"touchstone/verdict/guard/change"
)

// effects say what a mark does, as a sentence.
var effects = map[effect]string{
	skips:  "does not run any more, or not always.",
	fails:  "may fail now without being seen.",
	focus:  "runs, and the others of its file do not.",
	retry:  "may fail before it passes.",
	tag:    "has a mark by which runners can leave it out.",
	leaves: "ends before it checks anything.",
}

// manyMarked is from how many tests on the same new condition is taken for a new way to
// run them, which some cannot run in yet, rather than for a way to keep them from running.
const manyMarked = 6

// found is a mark that a test did not have.
type found struct {
	pair
	mark
	tier change.Tier
}

// compareMarks finds tests that existed and are now kept from running, or from failing.
func (x *examination) compareMarks(pairs []pair) {
	var all []found
	same := map[string]int{}
	for _, p := range pairs {
		had, has := p.before.effective(), p.after.effective()
		for _, m := range has {
			if tier := worse(had, has, m); tier != "" && !x.passed(p.after) {
				all = append(all, found{p, m, tier})
			}
		}
	}
	type place struct {
		mark
		side *side
	}
	seen := map[place]bool{}
	all = slices.DeleteFunc(all, func(f found) bool {
		at := place{f.mark, f.after.side}
		defer func() { seen[at] = true }()
		if !seen[at] {
			same[f.cond]++
		}
		return seen[at]
	})
	told := map[string]bool{}
	for _, f := range all {
		x.said[f.before] = true
		if f.effect == fails && f.after.side.lang.rust && !f.same() {
			f.tier = change.Evidence // a panic is what the test asserts now
		}
		if same[f.cond] >= manyMarked && f.cond != "" && told[f.cond] {
			continue // one place tells of all
		}
		told[f.cond] = true
		if f.cond != "" && (same[f.cond] >= manyMarked || unknownWords(f.cond, f.before.side)) {
			f.tier = change.Evidence
		}
		x.say(f.tier, change.Test, "test/"+string(f.effect), "The test "+f.after.name+" "+effects[f.effect], nil, f.after.side, 0, f.line)
	}
	for _, s := range x.before {
		x.platforms(s, x.renamed[s])
	}
	x.compareSetup()
}

// compareSetup finds files without tests that keep others from running.
func (x *examination) compareSetup() {
	before := map[*side]*side{}
	for old, now := range x.renamed {
		before[now] = old
	}
	for _, s := range x.after {
		if len(s.having(test)) > 0 {
			continue
		}
		var had []mark
		if old := before[s]; old != nil {
			had = old.fileMarks()
		}
		for _, m := range s.fileMarks() {
			known := slices.ContainsFunc(had, func(h mark) bool { return h.effect == m.effect && h.cond == m.cond })
			if !known && (m.effect == retry || s.lang.python) {
				x.say(change.Evidence, change.Test, "test/setup", "Tests that this file sets up can be left out, or tried again.", nil, s, 0, m.line)
			}
		}
	}
}

// worse is the tier of a mark that a test has and that those it had do not cover; ""
// when they do.
func worse(had, has []mark, m mark) change.Tier {
	tier := change.Hold
	if m.effect == retry && m.cond != "" || m.effect == tag || m.effect == leaves && m.cond != "" {
		tier = change.Evidence
	}
	for _, h := range had {
		if h.effect != m.effect {
			continue
		}
		switch {
		case h.cond == "" || h.cond == m.cond:
			return ""
		case m.cond == "":
		case strings.HasPrefix(h.cond, "#if") && strings.HasPrefix(m.cond, "#if") && !widened(h.cond, m.cond):
			return "" // the list of platforms changed
		case widened(h.cond, m.cond), slices.ContainsFunc(has, func(o mark) bool { return o.effect == h.effect && o.cond == h.cond }):
		default:
			tier = change.Evidence
		}
	}
	return tier
}

// widened reports whether a condition is another one with a further alternative.
func widened(before, after string) bool {
	return len(after) > len(before) && strings.Contains(after, strings.TrimSuffix(before, " )")) &&
		(strings.Contains(after, "||") || strings.Contains(after, " or "))
}

// unknownWords reports whether a condition asks for something that the file did not know:
// a new way to run the tests.
func unknownWords(cond string, before *side) bool {
	if strings.Contains(strings.ToLower(cond), "env") { // what is not set keeps the test from running
		return false
	}
	for w := range strings.FieldsSeq(cond) {
		mark := strings.HasPrefix(w, "Disabled") || strings.HasPrefix(w, "Enabled")
		if isWordStart(w[0]) && !usualWords[w] && !mark && !strings.Contains(before.text, w) {
			return true
		}
	}
	return false
}

// usualWords are how conditions ask for the system that tests run on.
var usualWords = set("if not and or in reason sys platform os process env environ getenv Getenv LookupEnv runtime " +
	"GOOS GOARCH CI win32 linux darwin windows macos " +
	"version_info testing Short miri target_os target_arch feature unix all any True true getProperty System name value " +
	"RuntimeInformation IsOSPlatform OSPlatform else of assumeTrue assumeFalse")

// compareFocus finds new tests beside which the old ones do not run.
func (x *examination) compareFocus() {
	for _, a := range x.tests.after {
		if x.tests.taken[a] != nil {
			continue
		}
		for _, m := range a.effective() {
			if m.effect == focus && x.beside(a.side) {
				x.say(change.Hold, change.Test, "test/focus", "The test "+a.name+" "+effects[focus], nil, a.side, 0, m.line)
			}
		}
	}
}

// beside reports whether a file at the head holds tests that existed.
func (x *examination) beside(s *side) bool {
	for _, u := range s.units {
		if u.role == test && x.tests.taken[u] != nil {
			return true
		}
	}
	return false
}

// fileMarks are the marks that a file puts on all of its tests.
func (s *side) fileMarks() []mark {
	if s.marked {
		return s.marks
	}
	s.marked = true
	add := func(e effect, cond string, i int) {
		if len(s.marks) < maxMarks {
			s.marks = append(s.marks, mark{e, cond, int(s.tokens[i].line)})
		}
	}
	for i, t := range s.tokens {
		if t.kind != word {
			continue
		}
		name := s.of(i)
		switch {
		case s.lang.python && name == "pytestmark" && t.column == 0:
			s.moduleMarks(i, add)
		case s.lang.python && strings.HasPrefix(name, "collect_ignore") && t.column == 0,
			s.lang.python && name == "add_marker" && strings.Contains(s.lineOf(i), "skip"):
			add(skips, s.lineOf(i), i)
		case s.lang.python && name == "allow_module_level":
			add(skips, s.moduleCondition(i), i)
		case s.lang.rust && name == "cfg" && s.of(i-2) == "!" && s.of(i+1) == "(" && s.tokens[i+1].mate > 0:
			add(skips, s.plain(i+2, int(s.tokens[i+1].mate)), i)
		case s.lang.name == "JavaScript" && name == "retryTimes" && s.of(i-1) == ".":
			add(retry, "", i)
		case s.lang.name == "Elixir" && name == "moduletag" && (s.of(i+2) == "skip" || s.of(i+1) == "skip"):
			add(skips, "", i)
		case s.lang.name == "Kotlin" && s.of(i-1) == ":" && s.of(i-2) == "file" && annotations[strings.ToLower(name)] != "":
			add(annotations[strings.ToLower(name)], "", i)
		}
	}
	return s.marks
}

// moduleMarks reads "pytestmark = pytest.mark.skip".
func (s *side) moduleMarks(i int, add func(effect, string, int)) {
	last := i + 1
	for last < min(len(s.tokens), i+maxHead) && !(s.tokens[last].first && s.outer[last] < 0) {
		last++
	}
	for n := i; n < last; n++ {
		if s.of(n-1) != "." || s.of(n-2) != "mark" {
			continue
		}
		name := s.of(n)
		switch {
		case annotations[name] != "":
			add(annotations[name], "", n)
		case annotations[name+"?"] != "":
			add(skips, s.plain(n, last), n)
		case !usualMarks[name]:
			add(tag, name, n)
		}
	}
}

// moduleCondition is the "if" around a call at the top of a module of Python.
func (s *side) moduleCondition(i int) string {
	for least := i - maxHead; i > max(0, least) && !(s.tokens[i].first && s.outer[i] < 0); {
		i--
	}
	if s.tokens[i].column == 0 {
		return ""
	}
	for n := i - 1; n >= max(0, i-4*maxHead); n-- {
		if s.tokens[n].first && s.outer[n] < 0 && s.tokens[n].column < s.tokens[i].column {
			return s.lineOf(n)
		}
	}
	return ""
}

// platforms finds files of tests that Go builds for fewer systems than before, although
// no other file of their folder went the same way.
func (x *examination) platforms(before, after *side) {
	if after == nil || before.lang.name != "Go" || !before.tests || !after.tests || len(after.having(test)) == 0 {
		return
	}
	had, has := systems(before.path, []byte(before.text)), systems(after.path, []byte(after.text))
	if had&^has == 0 {
		return
	}
	for old, now := range x.renamed {
		beside := !old.tests && old.lang == before.lang && path.Dir(now.path) == path.Dir(after.path)
		if beside && systems(now.path, []byte(now.text)) == has {
			return
		}
	}
	x.say(change.Hold, change.Test, "test/build-constraint", "The tests of this file are built for fewer systems, or only with a tag.",
		nil, after, 0, 1)
}

// systems is the set of systems that Go builds a file for: Linux, macOS and Windows.
func systems(name string, content []byte) (set uint8) {
	if !strings.HasSuffix(name, ".go") {
		return 0
	}
	for i, system := range []string{"linux", "darwin", "windows"} {
		context := build.Context{GOOS: system, GOARCH: "amd64", Compiler: "gc", CgoEnabled: true, ReleaseTags: build.Default.ReleaseTags,
			OpenFile: func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }}
		if ok, err := context.MatchFile("", path.Base(name)); err == nil && ok {
			set |= 1 << i
		}
	}
	return set
}
