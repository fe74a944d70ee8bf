package code

import (
	"path"
	"regexp"
	"slices"

	"touchstone/verdict/guard/change"
)

// taken match, by language, the names of files in which runners look for tests, if nobody tells them of others.
var taken = map[string]*regexp.Regexp{
	"PHP": regexp.MustCompile(`Test\.php$`), "Python": collected, "Dart": regexp.MustCompile(`_test\.dart$`),
	"Ruby": regexp.MustCompile(`^test_|_(?:test|spec)\.rb$`), "Elixir": regexp.MustCompile(`_test\.exs$`),
	"JavaScript": regexp.MustCompile(`[._](?:test|spec)\.[cm]?[jt]sx?$`),
}

// takes reports whether a file has a name by which a runner of its language takes it for one with tests.
func takes(name string) bool {
	lang := languageOf(name)
	return lang != nil && taken[lang.name] != nil && taken[lang.name].MatchString(path.Base(name))
}

// renamed notes the head of a file that no runner takes for one with tests any more, although it still has some of them.
func (x *examination) renamed(old, now *side) {
	if old == nil || now == nil || old.lang != now.lang || !takes(old.path) || takes(now.path) {
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

// compareFiles reports such files. It is certain if nothing but tests changed, which may tell a runner of the new name.
func (x *examination) compareFiles() {
	for _, u := range x.untaken {
		tier := change.Hold
		if x.subject.beyond {
			tier = change.Evidence
		}
		x.say(tier, change.Test, "test/not-run", "The tests of this file do not run by its new name: "+path.Base(u.side.path)+".", nil, u.side, 0,
			u.line())
	}
}
