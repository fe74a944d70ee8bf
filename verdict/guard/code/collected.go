package code

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"touchstone/verdict/guard/change"
)

// crate matches the files of Rust that are crates of tests.
var crate = regexp.MustCompile(`(?:^|/)tests/[^/]+\.rs$`)

// testFolder matches the folders in which runners of JavaScript, such as Mocha, take all files.
var testFolder = regexp.MustCompile(`(?:^|/)tests?/`)

// reaches reports whether a runner may look for tests in a file that had another name before.
func reaches(name, before string) bool {
	lang := languageOf(name)
	return takes(name) || matches(takenByOthers, lang, name) ||
		lang.name == "JavaScript" && testFolder.MatchString(name) && !testFolder.MatchString(before)
}

// takes reports whether a file has a name by which a runner of its language takes it for one with tests.
func takes(name string) bool {
	lang := languageOf(name)
	switch {
	case lang == nil:
		return false
	case lang.rust:
		return crate.MatchString(name)
	}
	return matches(taken, lang, path.Base(name)) && !matches(passedOver, lang, name)
}

// untaken reports whether a runner takes a file for one with tests, and took none of its former name, which says so. Of another name
// a runner may have been told, and Gradle takes classes of any.
func untaken(name, before string) bool {
	lang := languageOf(before)
	return lang != nil && taken[lang.name] != nil && !lang.junit && matchesAny(setAside, path.Base(before)) && reaches(name, before) &&
		!takes(before) && !matches(takenByOthers, lang, before) && !(lang.name == "JavaScript" && testFolder.MatchString(before))
}

func matches(by map[string]*regexp.Regexp, lang *language, name string) bool {
	return by[lang.name] != nil && by[lang.name].MatchString(name)
}

// renamed notes the head of a file that no runner takes for one with tests any more, although it still has some of them, and
// a deleted file of tests that has none itself: it calls those of another file.
func (x *examination) renamed(old, now *side) {
	if old != nil && now == nil && takes(old.path) && len(old.having(test)) == 0 && len(old.tokens) > 0 {
		x.gone = append(x.gone, old)
	}
	if old == nil || now == nil || old.lang != now.lang || !takes(old.path) || reaches(now.path, old.path) {
		return
	}
	for _, u := range now.having(test) {
		shared := false // a base class of tests, which others run
		for p := u.parent; p != nil; p = p.parent {
			shared = shared || p.word == "trait" || p.word == "mixin" || containsWord(p.side, p.from, p.at, "abstract")
		}
		if !shared && slices.ContainsFunc(old.having(test), func(b *unit) bool { return b.name == u.name }) {
			x.untaken = append(x.untaken, u)
			return
		}
	}
}

// compareFiles reports such files. A new name is certain if nothing but tests changed, which may tell a runner of the new name, and
// no file that a runner takes names it, which may run its tests.
func (x *examination) compareFiles() {
	for _, s := range x.gone {
		if !x.subject.stems[stem(s.path)] {
			x.say(change.Evidence, change.Test, deleted, "The file of tests "+path.Base(s.path)+" is gone, and what it tests may not be.",
				s.baseAt(1))
		}
	}
	for _, u := range x.untaken {
		base := path.Base(u.side.path)
		stem := regexp.QuoteMeta(strings.ToValidUTF8(strings.TrimSuffix(base, path.Ext(base)), "\uFFFD")) // as patterns read other bytes
		imported := regexp.MustCompile(`["'/]` + stem + `(?:\.\w+)?["']`)
		named := slices.ContainsFunc(x.after, func(s *side) bool { return s != u.side && takes(s.path) && imported.MatchString(s.text) })
		module := regexp.MustCompile(`(?m)^\s*(?:pub )?mod ` + stem + `;`)
		if u.side.lang.rust && slices.ContainsFunc(x.after, func(s *side) bool {
			return path.Dir(s.path) == path.Dir(u.side.path) && module.MatchString(s.text)
		}) {
			continue
		}
		moved := takes(path.Join(path.Dir(u.side.other.path), base))        // where it is now, another file may name it
		sure := !x.subject.beyond && !named && !moved && !u.side.lang.junit // Gradle takes classes of any name
		x.say(change.HoldIf(sure), change.Test, "test/not-run", "The tests of this file do not run by its new name: "+base+".", u.head())
	}
}
