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
	// turned matches what skips where CI is set, and not where it is not.
	turned = regexp.MustCompile(`^(?:unless|skipUnless|assumeTrue) .* (?:===?|is) `)
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
	spared := func(c string) bool { return matchesAny(attended, c) && !turned.MatchString(c) }
	var parts []string
	if len(cond) < maxPlain { // else its end is not known
		parts = conjuncts(plain)
	}
	if never(cond) || strings.HasPrefix(cond, ofCase) || s.lang.rust && everywhere.MatchString(cond) ||
		matchesAny(unattended, cond) && !slices.ContainsFunc(parts, func(part string) bool {
			return !parting.MatchString(part) && spared(part)
		}) && (parting.MatchString(plain) || !spared(cond) && !spared(plain)) {
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

// undecided are the words with which a condition is no row of parts that must all hold.
var undecided = set("or || ? ?? , ; := if else ^ xor")

// conjuncts are the parts of an "if" that must all hold; none if that is not so, or not known.
func conjuncts(cond string) (all []string) {
	words, depth, last, whole := strings.Fields(cond), 0, 0, true
	if len(words) < 2 || words[0] != "if" && !strings.EqualFold(words[0], "skipif") {
		return nil
	}
	words = words[1:]
	for i, w := range words {
		switch {
		case strings.ContainsAny(w, "\"'`") && (len(w) < 2 || contentOf(w) != w[1:len(w)-1]):
			return nil // a part of a text, which may have brackets
		case w == "(":
			depth++
		case w == ")":
			depth--
		case depth > 0:
		case undecided[w]:
			return nil
		case w == "and" || w == "&&":
			all, last = append(all, strings.Join(words[last:i], " ")), i+1
		}
		whole = whole && (depth > 0 || i == len(words)-1)
	}
	if whole && words[0] == "(" { // it is in brackets
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
