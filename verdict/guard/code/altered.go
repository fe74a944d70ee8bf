package code

import (
	"regexp"
	"strings"

	"touchstone/verdict/guard/change"
)

// limits matches parts of names near a number that is a limit: if it grows, less is checked.
var limits = regexp.MustCompile(`(?i)time_?out|within|less|at_?most|toleran|retr(?:y|ies)|attempt|second|minute` +
	`|millis|epsilon|delta|limit|max`)

// partial matches names and texts in conditions that hold on some systems or versions only.
var partial = regexp.MustCompile(`(?i)windows|win32|linux|darwin|mac_?os|osx|freebsd|jruby|pypy|version|_G[ET]_?\d|_L[ET]_?\d`)

// leaving matches names and texts of what leaves something out, besides skips, which are marks.
var leaving = regexp.MustCompile(`(?i)ignor|exclu|flak[ey]|retr(?:y|ies)|attempts|known_?(?:bug|fail)|quarantin|suppress`)

const (
	// aroundNumber is the number of tokens on both sides of a number that say what it is.
	aroundNumber = 6
	// minPart is the minimum length of a text that counts as a part of another one, in bytes.
	minPart = 4
	// maxCondition is the number of tokens within which a condition begins.
	maxCondition = 40
	// maxGrown is the number of tokens by which code may grow and still be what it was: further code may have
	// conditions of its own.
	maxGrown = 30
)

// alters returns a finding if code of tests may check less.
func (x *examination) alters(p pair) []change.Finding {
	why, line := p.altered()
	if line == 0 || x.passed(p.after) {
		return nil
	}
	a := p.after.side
	return []change.Finding{{Tier: change.Evidence, Kind: change.Assertion, Rule: "assertion/altered", Why: "Code of these tests " + why + ".",
		Place: change.Place{Path: a.path, Line: line, After: a.lineText(line)}}}
}

// altered says how code of tests may check less, although its assertions are as strong as before: by a larger
// limit, a shorter text, or a condition on the system or a version. The line is 0 if it does not.
func (p pair) altered() (why string, line int) {
	var was, is []int
	p.before.own(func(i int) { was = append(was, i) })
	p.after.own(func(i int) { is = append(is, i) })
	b, a := p.before.side, p.after.side
	alike, more, same := len(was) == len(is), map[string]int{}, 0
	for same < min(len(was), len(is)) && b.normal(was[same]) == a.normal(is[same]) {
		same++
	}
	for _, j := range is[same:] {
		more[a.normal(j)]++
	}
	for n, i := range was[same:] {
		n += same
		more[b.normal(i)]--
		alike = alike && b.kindOf(i) == a.kindOf(is[n]) && (b.normal(i) == a.normal(is[n]) || b.kindOf(i) == number || b.kindOf(i) == text)
	}
	for n, j := range is[same:] {
		n += same
		now := a.normal(j)
		added := more[now] > 0 && len(is)-len(was) <= maxGrown && a.kindOf(j) != sign
		switch {
		case added && partial.MatchString(now) && a.inCondition(j):
			return "depends on the system or on a version where it did not", a.line(j)
		case added && leaving.MatchString(now):
			return "leaves something out that it did not", a.line(j)
		case !alike || now == b.normal(was[n]):
		case a.kindOf(j) == number && larger(b.of(was[n]), now) &&
			limits.MatchString(a.plain(max(0, j-aroundNumber), min(len(a.tokens), j+aroundNumber))):
			return "has a larger limit than before", a.line(j)
		case a.kindOf(j) == text && len(contentOf(now)) >= minPart && len(now) < len(b.normal(was[n])) &&
			strings.Contains(b.normal(was[n]), contentOf(now)):
			return "has a shorter text than before", a.line(j)
		}
	}
	return "", 0
}

// inCondition reports whether a token is a part of a condition.
func (s *side) inCondition(i int) bool {
	for n := i + 1; n < i+aroundNumber; n++ {
		if t := s.of(n); t == "?" {
			return true
		} else if t == ";" || t == "," || t == "{" {
			break
		}
	}
	for n := i; n > max(0, i-maxCondition); n-- {
		switch t := s.of(n); {
		case t == "if" || t == "unless" || t == "elif" || t == "xfail" || t == "skipif":
			return true
		case t == "{" || t == "}" || t == ";" || s.lang.layout != braces && s.tokens[n].first && s.outer[n] < 0:
			return false
		}
	}
	return false
}

// larger reports whether both are numbers and the second is larger.
func larger(was, is string) bool {
	before, number := change.Number(was)
	after, both := change.Number(is)
	return number && both && after > before
}
