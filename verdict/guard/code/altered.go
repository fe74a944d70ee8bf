package code

import (
	"regexp"
	"slices"
	"strings"

	"touchstone/verdict/guard/change"
)

var (
	// limits matches parts of names near a number that is a limit: if it grows, less is checked.
	limits = regexp.MustCompile(`(?i)time_?out|within|less|at_?most|\b[ar]_?tol\b|toleran|retr(?:y|ies)|attempt|second|minute` +
		`|millis|epsilon|precision|delta|limit|max`)
	// amounts matches parts of names near a number of what is tried: if it falls, less is checked.
	amounts = regexp.MustCompile(`(?i)iterations|samples|examples|\bruns\b|rounds|repeat|size_?limit|max_?(?:len|size|depth|examples)`)
	// partial matches names and texts in conditions that hold on some systems or versions only.
	partial = regexp.MustCompile(`(?i)windows|win32|linux|darwin|mac_?os|osx|freebsd|jruby|pypy|version|_G[ET]_?\d|_L[ET]_?\d`)
	// leaving matches names and texts of what leaves something out, besides skips, which are marks.
	leaving = regexp.MustCompile(`(?i)ignor|exclu|flak[ey]|retr(?:y|ies)|attempts|known_?(?:bug|fail)|quarantin|suppress`)
	// retrying matches the names among them with which a new function of tests tries again.
	retrying = regexp.MustCompile(`(?i)flak[ey]|retr(?:y|ies|ying)|attempts|known_?(?:bug|fail)|quarantin`)
)

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

// altered says how code of tests may check less, although its assertions are as strong as before. The line is 0 if
// it does not.
func (p pair) altered() (why string, line int) {
	var was, is []int
	p.before.own(func(i int) { was = append(was, i) })
	p.after.own(func(i int) { is = append(is, i) })
	b, a := p.before.side, p.after.side
	alike, more, same := len(was) == len(is), map[string]int{}, 0
	for same < min(len(was), len(is)) && b.normal(was[same]) == a.normal(is[same]) {
		same++
	}
	if at := p.lost(was, is, same); at >= 0 {
		return "has one case or element less", a.line(is[min(at, len(is)-1)])
	}
	for _, j := range is[same:] {
		more[a.normal(j)]++
	}
	for n, i := range was[same:] {
		n += same
		more[b.normal(i)]--
		alike = alike && n < len(is) && b.kindOf(i) == a.kindOf(is[n]) &&
			(b.normal(i) == a.normal(is[n]) || b.kindOf(i) == number || b.kindOf(i) == text)
	}
	for n, j := range is[same:] {
		n += same
		now := a.normal(j)
		added := more[now] > 0 && len(is)-len(was) <= maxGrown && a.kindOf(j) != sign
		around := func() string { return a.plain(max(0, j-aroundNumber), min(len(a.tokens), j+aroundNumber)) }
		switch {
		case added && partial.MatchString(now) && a.inCondition(j):
			return "depends on the system or on a version where it did not", a.line(j)
		case added && (leaving.MatchString(now) || a.givenTo(j, leaving)):
			return "leaves something out that it did not", a.line(j)
		case added && p.after.role == definition && leavesEarly[now] && a.endsHere(j):
			return "ends early or passes over something where it did not", a.line(j)
		case !alike && n > same || n >= len(was) || now == b.normal(was[n]): // after another change, tokens have no partner
		case a.kindOf(j) == number && larger(b.of(was[n]), now) && limits.MatchString(around()):
			return "has a larger limit than before", a.line(j)
		case a.kindOf(j) == number && larger(now, b.of(was[n])) && amounts.MatchString(around()):
			return "tries less than before", a.line(j)
		case a.kindOf(j) == text && len(contentOf(now)) >= minPart && len(now) < len(b.normal(was[n])) &&
			strings.Contains(b.normal(was[n]), contentOf(now)):
			return "has a shorter text than before", a.line(j)
		}
	}
	return "", 0
}

// leavesEarly are the words with which a function ends early, or passes over a case.
var leavesEarly = set("return break continue next")

// lost is where one element of a list is gone and nothing else is changed, given the number of tokens that are the
// same before that; -1 if that is not so.
func (p pair) lost(was, is []int, same int) int {
	n := len(was) - len(is)
	if n <= 0 || len(is) == 0 || !slices.EqualFunc(was[same+n:], is[same:], func(i, j int) bool {
		return p.before.side.normal(i) == p.after.side.normal(j)
	}) {
		return -1
	}
	for at := same; at > 0; at-- { // elements that begin in the same way
		if p.before.side.element(was[at-1 : at+n]) {
			return at
		}
		if p.before.side.normal(was[at-1]) != p.before.side.normal(was[at-1+n]) {
			break
		}
	}
	return -1
}

// element reports whether tokens, with the one before them, are elements of a list that have data.
func (s *side) element(tokens []int) bool {
	if len(tokens) < 2 {
		return false
	}
	before, first, last := s.of(tokens[0]), s.of(tokens[1]), s.of(tokens[len(tokens)-1])
	begins := strings.Contains("[{(,", before) && before != ""
	return (first == "," || begins && last == ",") && s.outer[tokens[1]] >= 0 &&
		slices.ContainsFunc(tokens[1:], func(i int) bool { return s.kindOf(i) == text || s.kindOf(i) == number })
}

// givenTo reports whether a token is an argument of a function whose name matches a pattern.
func (s *side) givenTo(i int, name *regexp.Regexp) bool {
	open := int(s.outer[i])
	return open > 0 && s.of(open) == "(" && s.kindOf(open-1) == word && name.MatchString(s.of(open-1))
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
