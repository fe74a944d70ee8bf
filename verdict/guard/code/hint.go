package code

import (
	"regexp"
	"slices"
	"strings"

	"touchstone/verdict/guard/change"
	"touchstone/verdict/guard/words"
)

// hints examines test files without any other finding, and finds changes that may leave something out: code
// that is built under a new condition, and words in shared test code that say so.
func (x *examination) hints() {
	said := map[string]bool{}
	for _, f := range x.findings {
		said[f.Path] = true
	}
	for _, u := range x.pairs.after {
		if x.pairs.of[u] == nil && u.role == definition && u.side.tests && u.side.other != nil && !said[u.side.path] {
			x.vague = append(x.vague, u.tries()...)
		}
	}
	for _, f := range x.vague {
		if !said[f.Path] {
			x.findings, said[f.Path] = append(x.findings, f), true
		}
	}
	for _, a := range x.after {
		b := a.other
		if !a.tests || said[a.path] {
			continue
		}
		if b == nil {
			if len(a.having(test)) == 0 { // a new file that sets up tests
				x.findings = append(x.findings, (&unit{side: a, to: len(a.tokens)}).tries()...)
			}
			continue
		}
		i := slices.IndexFunc(a.guards, func(g guard) bool {
			return !slices.ContainsFunc(b.guards, func(h guard) bool { return h.cond == g.cond })
		})
		switch {
		case i >= 0 && len(a.guards) >= len(b.guards):
			x.say(change.Evidence, change.Test, "test/built-on", "Code of these tests is built on a new condition.",
				a.headAt(a.line(a.guards[i].from)))
		case len(a.having(test)) == 0:
			if f, is := words.Look(change.File{Path: a.path, After: []byte(a.text)}, b.text, a.text); is {
				x.findings = append(x.findings, f)
			}
		}
	}
}

// hooking matches the names with which a function of tests tries again, or changes what runners do. Turning matches these, and the
// names with which a test gets round what it checks, replacing those of stand-ins.
var (
	hooking   = anyOf(vocabulary.Words("hooks"))
	turning   = anyOf(slices.Concat(vocabulary.Words("hooks"), vocabulary.Words("evasions")))
	replacing = anyOf(vocabulary.Words("stand-ins"))
)

// anyOf matches what one of some patterns does.
func anyOf(patterns []string) *regexp.Regexp {
	return regexp.MustCompile("(?:" + strings.Join(patterns, ")|(?:") + ")")
}

// tries returns a finding if new code that tests use has a name in it that says that it tries again, or changes what runners do.
func (u *unit) tries() (found []change.Finding) {
	if strings.HasSuffix(u.name, "Timeout") && containsWord(u.side, u.from, u.at, "override") {
		return u.side.evidence(u.at, "New code that tests use sets "+u.name+": they may wait for longer.")
	}
	for i := u.from; i < u.to && len(found) == 0; i++ {
		if name := u.side.of(i); u.side.kindOf(i) == word && u.side.turns(hooking, i) && !u.side.reads(i) {
			found = u.side.evidence(i, "New code that tests use has "+name+": it may try again what failed, or leave it out.")
		}
	}
	return found
}

// reads reports whether a name of a result is not given a value, or one of pytest's is another package's.
func (s *side) reads(i int) bool {
	switch s.of(i) {
	case "exitCode", "exitstatus":
		end := i + 1
		for end < len(s.tokens) && !s.tokens[end].first {
			end++
		}
		return !among(i+1, end, func(n int) bool {
			return s.outer[n] == s.outer[i] && strings.HasSuffix(s.of(n), "=") && !operators[s.of(n)]
		})
	case "hookimpl":
		from := s.imports()[s.of(i-2)].from + s.imports()["hookimpl"].from
		return s.of(i-2) != "pytest" && !strings.Contains(from, "pytest")
	}
	return false
}

// turns reports whether a pattern matches a word, alone or with the member of it that follows, or as a member of a text.
func (s *side) turns(pattern *regexp.Regexp, i int) bool {
	name := s.of(i)
	return pattern.MatchString(name) || s.of(i+1) == "." && pattern.MatchString(name+"."+s.of(i+2)) ||
		s.of(i-1) == "." && s.kindOf(i-2) == text && pattern.MatchString(`"`+"."+name)
}

// evidence is a finding about a test file that is only evidence.
func (s *side) evidence(i int, why string) []change.Finding {
	return []change.Finding{{Tier: change.Evidence, Kind: change.Test, Rule: "test/setup", Why: why, Place: s.headAt(s.line(i))}}
}
