package code

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"touchstone/verdict/guard/change"
)

// quotedWord matches a word in quotes.
var quotedWord = regexp.MustCompile(`["']\w+["']`)

// novel are what a change may begin to support, such as a processor, a system or a dialect: words that new files outside of the
// tests are named after, and that no changed file of before is.
func (x *examination) novel() map[string]bool {
	words := map[string]bool{}
	for _, f := range x.files {
		for _, w := range pathWords(f.Path) {
			words[w] = words[w] || f.OldPath == "" && !isTestPath(f.Path) && len(w) > 3 && !usualSystems[w]
		}
	}
	for _, f := range x.files {
		for _, w := range pathWords(f.OldPath) {
			delete(words, w)
		}
	}
	return words
}

// pathWords are the words of a path, in lower case.
func pathWords(name string) []string {
	return strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return strings.ContainsRune("/._- ", r) })
}

// usualSystems are systems that are rarely new to a project.
var usualSystems = set("linux windows darwin macos unix posix")

// fitsNot reports whether a condition is that of a system, an engine or a version, and not that the test lacks something, as it does
// on versions below one.
func fitsNot(cond string) bool {
	plain := remarks.ReplaceAllString(operator.ReplaceAllString(cond, " $1 "), "")
	older, newer := less.MatchString(plain), more.MatchString(plain)
	if running.MatchString(plain) {
		older, newer = newer, older
	}
	return (matchesAny(platform, plain) || matchesAny(setting, plain)) && !matchesAny(needing, namesIn(plain)) &&
		(newer || !older || !versioned.MatchString(plain))
}

// rewritten is the number of words that a mark may take the place of, as a skip on another condition does.
const rewritten = 2

// lost is the number of words that a file no longer has, however its lines are broken and whatever its comments say. One that has
// another name everywhere counts once: a word that was not there is at least as often there.
func (s *side) lost() (n int) {
	had, has := s.other.says(), s.says()
	only := func(here, there map[string]int) (counts []int) { // of the words that are only here
		for w, count := range here {
			if there[w] == 0 {
				counts = append(counts, count)
			}
		}
		slices.Sort(counts)
		return counts
	}
	gone, fresh := only(had, has), only(has, had)
	for _, count := range slices.Backward(gone) {
		if last := len(fresh) - 1; last >= 0 && fresh[last] >= count {
			fresh, count = fresh[:last], 1
		}
		n += count
	}
	for w, count := range has {
		n += max(had[w]-count, 0)
	}
	return n
}

// onlyLeavesOut reports whether a change does nothing but leave out tests: it is about tests only, has no further test, and all
// that was there still is, but for what a mark replaces. Nothing else in it makes that necessary, or tests the same in another way.
func (x *examination) onlyLeavesOut(all []gained) bool {
	marks := map[string]int{}
	for _, g := range all {
		marks[g.after.side.path]++
	}
	return !x.subject.beyond && !slices.ContainsFunc(x.pairs.after, func(u *unit) bool { return u.role == test && x.pairs.of[u] == nil }) &&
		!slices.ContainsFunc(x.files, func(f change.File) bool {
			return f.Path != f.OldPath && f.OldPath != "" || !bytes.Equal(f.Before, f.After) &&
				!slices.ContainsFunc(x.after, func(s *side) bool { return s.path == f.Path })
		}) &&
		!slices.ContainsFunc(x.after, func(s *side) bool { return s.other != nil && s.lost() > rewritten*marks[s.path] })
}
