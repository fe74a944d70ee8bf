package code

import (
	"regexp"
	"slices"
	"strings"
)

// unattended match conditions that hold where checks run by themselves, or name an issue.
var unattended = []*regexp.Regexp{
	regexp.MustCompile(`(?i)GITHUB_?ACTIONS|(?:\b|_|In|Is|CIRCLE|CIRRUS)CI\b|OnCI|^skip_?(?:tests?\b|long|flaky)`),
	regexp.MustCompile(`\b(?:` + strings.Join(vocabulary.Words("services"), "|") + `)\b`),
	regexp.MustCompile(`https?://|^(?:ActiveIssue|AwaitsFix|Quarantine\w*|skipUntil)\b`),
	regexp.MustCompile(`^if ! \w+ \. Short \( \)$`), // Go's tests are short only if somebody asks for it
}

var (
	// remarks match the reasons behind a condition, in further arguments.
	remarks = regexp.MustCompile(` , (?:\w+ = )?"[^"]*"(?: (?:\+ )?"[^"]*")*`)
	// parting matches what joins two conditions.
	parting = regexp.MustCompile(` (?:\|\||&&|or|and) `)
	// alternative matches what joins conditions of which one is enough.
	alternative = regexp.MustCompile(` (?:\|\||or) `)
	// comparing matches what compares two values.
	comparing = regexp.MustCompile(` (?:[=!]==?|is|is not) `)
	// literals match a value that is written out, and written a condition that is.
	literals = regexp.MustCompile(`^(?:"[^"]*"|[\d.]+)$`)
	written  = regexp.MustCompile(`^(?i:true|false)$`)
	// everywhere matches what Rust's attributes say of all tests: #[cfg_attr(test, ignore)].
	everywhere = regexp.MustCompile(`^(?:test|true|all \( \)|not \( any \( \) \)) , ignore\b`)
)

// certain reports whether a mark keeps a test from running wherever the checks of the project run: always, in CI, or until
// an issue is closed. Where any other condition holds, such as a system, a version or a requirement of the test, no code knows.
func (s *side) certain(cond string) bool {
	plain := remarks.ReplaceAllString(cond, "")
	if never(cond) || strings.HasPrefix(cond, ofCase) || s.lang.rust && everywhere.MatchString(cond) ||
		matchesAny(unattended, cond) && !slices.ContainsFunc(conjuncts(plain), func(part string) bool {
			return !parting.MatchString(part) && matchesAny(attended, part)
		}) &&
			(parting.MatchString(plain) || !matchesAny(attended, cond) && !matchesAny(attended, plain)) {
		return true
	}
	cond = strings.ReplaceAll(strings.ReplaceAll(plain, "self :: ", ""), "static :: ", "")
	if !slices.ContainsFunc(strings.Fields(namesIn(cond)), func(name string) bool { return isWordStart(name[0]) || name[0] >= 128 }) {
		return true
	}
	all := alternative.Split(cond, -1)
	return slices.ContainsFunc(all, func(part string) bool {
		words := strings.Fields(part)
		for len(words) > 0 && (words[0] == "(" || words[0] == "!" || fixed[words[0]] && !written.MatchString(words[0])) {
			words = words[1:]
		}
		part = strings.TrimRight(strings.Join(words, " "), " )")
		sides := comparing.Split(part, -1)
		return written.MatchString(part) && (len(all) == 1 || strings.EqualFold(part, "true")) || // x || false is x
			len(sides) == 2 && (sides[0] == sides[1] || literals.MatchString(sides[0]) && literals.MatchString(sides[1]))
	})
}

// conjuncts are the parts of an "if" that must all hold; none if that is not so, or not known.
func conjuncts(cond string) (all []string) {
	words, depth, last := strings.Fields(cond), 0, 0
	if len(words) < 2 || words[0] != "if" && !strings.EqualFold(words[0], "skipif") {
		return nil
	}
	words = words[1:]
	for i, w := range words {
		switch depth += strings.Count(w, "(") - strings.Count(w, ")"); {
		case depth > 0:
		case w == "or" || w == "||":
			return nil
		case w == "and" || w == "&&":
			all, last = append(all, strings.Join(words[last:i], " ")), i+1
		}
	}
	if last == 0 && words[0] == "(" && len(words) > 2 {
		return conjuncts("if " + strings.Join(words[1:len(words)-1], " "))
	}
	return append(all, strings.Join(words[last:], " "))
}

// skipping are the functions in files of tests, by language and name, that skip for certain what calls them and did not before.
func (x *examination) skipping() map[string]bool {
	out := map[string]bool{}
	for _, s := range x.after {
		if slices.ContainsFunc(s.marks, func(m mark) bool { return m.effect == built }) {
			continue // another file may say otherwise for the other builds
		}
		for name, surely := range s.skippers {
			if surely && (s.other == nil || !s.other.skippers[name]) {
				out[s.lang.name+" "+name] = true
			}
		}
	}
	return out
}

// borrowed are the skips of a test by such functions of other files.
func (u *unit) borrowed(skipping map[string]bool) (all []mark) {
	if len(skipping) == 0 {
		return nil
	}
	s := u.side
	see := func(i int) {
		if name := s.of(i); s.kindOf(i) == word && skipping[s.lang.name+" "+name] && (s.statement(i) || i < u.body) &&
			!slices.ContainsFunc(s.units, func(d *unit) bool { return d.role == definition && d.name == name }) {
			s.add(&all, skips, s.under(i, u.body), i)
		}
	}
	for i := u.at + 2; i < u.body && s.lang.python; i++ { // a fixture
		see(i)
	}
	u.own(see)
	return all
}
