package code

import (
	"regexp"
	"slices"
	"strings"
)

// unattended match conditions that hold where checks run by themselves, or name an issue.
var unattended = []*regexp.Regexp{
	regexp.MustCompile(`(?i)GITHUB_?ACTIONS|(?:\b|_|In|Is|CIRCLE|CIRRUS)CI\b|OnCI|^skip_?(?:tests?\b|long|flaky)`),
	// What services set in each of their runs. A token or a name that a run may lack is a requirement.
	regexp.MustCompile(`\b(?:CONTINUOUS_INTEGRATION|RUNNER_OS|GITHUB_(?:RUN_ID|SHA|WORKFLOW|REPOSITORY|JOB|REF|WORKSPACE)|TRAVIS|APPVEYOR|` +
		`BUILDKITE|TF_BUILD|JENKINS_URL|TEAMCITY_VERSION|DRONE|CODEBUILD_BUILD_ID|BITBUCKET_BUILD_NUMBER)\b`),
	regexp.MustCompile(`https?://|^(?:ActiveIssue|AwaitsFix|Quarantine\w*|skipUntil)\b`),
	regexp.MustCompile(`^if ! \w+ \. Short \( \)$`), // Go's tests are short only if somebody asks for it
}

// attended matches conditions that hold everywhere but in CI, and say nothing else.
var attended = regexp.MustCompile(strings.NewReplacer("NOTHING", `(?:""|nil|null|None)`,
	"VALUE", `(?:\w+ (?:\.|::) )*(?:\w+ )?(?:\( |\[ )?"?(?:CI|GITHUB_ACTIONS|isCI)"?(?: \( \)| \)| \])?`).Replace(
	`^(?:(?:if |skip[iI]f )?(?:\( )?(?:VALUE (?:===?|is) NOTHING|(?:!|not) VALUE|"CI" not in os \. environ)(?: \))?|` +
		`(?:unless|skipUnless|assumeTrue) VALUE|assumeTrue VALUE != NOTHING|` +
		`EnabledIfEnvironmentVariable named = "CI" , matches = "(?:true|\.\*)")$`))

var (
	// remarks match the reasons behind a condition, in further arguments.
	remarks = regexp.MustCompile(` , (?:\w+ = )?"[^"]*"(?: (?:\+ )?"[^"]*")*`)
	// parting matches what joins two conditions.
	parting = regexp.MustCompile(` (?:\|\||&&|or|and) `)
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
	if never(cond) || strings.HasPrefix(cond, ofCase) || s.lang.rust && everywhere.MatchString(cond) ||
		matchesAny(unattended, cond) && !attended.MatchString(cond) && !attended.MatchString(remarks.ReplaceAllString(cond, "")) {
		return true
	}
	cond = strings.ReplaceAll(strings.ReplaceAll(remarks.ReplaceAllString(cond, ""), "self :: ", ""), "static :: ", "")
	if !slices.ContainsFunc(strings.Fields(namesIn(cond)), func(name string) bool {
		return (isWordStart(name[0]) || name[0] >= 128) && !s.constant(name)
	}) {
		return true
	}
	return slices.ContainsFunc(parting.Split(cond, -1), func(part string) bool {
		words := strings.Fields(part)
		for len(words) > 0 && (words[0] == "(" || words[0] == "!" || fixed[words[0]] && !written.MatchString(words[0])) {
			words = words[1:]
		}
		part = strings.TrimRight(strings.Join(words, " "), " )")
		sides := comparing.Split(part, -1)
		return written.MatchString(part) ||
			len(sides) == 2 && (sides[0] == sides[1] || literals.MatchString(sides[0]) && literals.MatchString(sides[1]))
	})
}

var (
	// lasting are the words that stand before a name which keeps its value, or whose other values the file tells.
	lasting = set("const constexpr final val let readonly")
	// changing are the signs that make another value of the one of a name, with "=" behind them.
	changing = set("+ - * / | & ^ ?")
)

// constant reports whether a name stands for a value that is written out, and is given no other in the file.
func (s *side) constant(name string) bool {
	if s.given == nil {
		s.given = map[string]int{}
		for i := range s.tokens {
			if n := s.gives(i); n > 0 {
				s.given[s.of(i)] += n
			}
		}
	}
	return s.given[name] == 1
}

// gives is 1 if a word is a name that is given a value for good which is written out, 2 if it is given any other, and 0 if none.
func (s *side) gives(i int) int {
	at, open := i+1, int(s.outer[i])
	switch {
	case s.kindOf(i) != word:
		return 0
	case s.of(i-1) == "&", s.tokens[i].first && s.of(at) == ",", changing[s.of(at)] && s.of(at+1) == "=",
		s.of(at) == "=" && (s.of(i-1) == "," || s.of(i-1) == "{" && !s.tokens[i].first): // by its address, in a list, or by a pattern
		return 2
	case s.of(at) == ":" && s.kindOf(at+1) == word: // its type
		at += 2
	case s.lang.name == "Go" && s.kindOf(at) == word && (s.of(i-1) == "const" || s.of(i-1) == "var"):
		at++
	}
	grouped := s.lang.name == "Go" && open > 0 && s.of(open-1) == "const"
	if s.of(at) != "=" && s.of(at) != ":=" || open >= 0 && s.of(open) == "(" && !grouped { // an argument is no variable
		return 0
	}
	kept := grouped || s.of(at) == ":=" || s.lang.layout != braces || s.lang.shell || s.lang.rust
	for n := i - 1; n >= 0 && !kept && s.of(n) != ";" && s.of(n) != "{" && s.of(n) != "}"; n-- {
		if kept = lasting[s.of(n)]; s.tokens[n].first {
			break
		}
	}
	if u := s.unitAt(i); u != nil && u.role == test {
		kept = true
	}
	plain := written.MatchString(s.of(at+1)) || s.kindOf(at+1) == number || s.kindOf(at+1) == text
	if end := s.of(at + 2); kept && plain && (at+2 >= len(s.tokens) || s.tokens[at+2].first || end == ";" || end == "}") {
		return 1
	}
	return 2
}

// fixed are words of conditions that say nothing about where a test runs.
var fixed = set("if skip Skip t unless not and or any all never reason skipif skipIf skipUnless True False true false None nil null " +
	"assumeTrue assumeFalse XCTSkipIf XCTSkipUnless throw If Unless When SkipIf SkipWhen SkipUnless skip_if skip_unless assume " +
	"markTestSkippedIf markTestSkippedUnless SKIP_IF SKIP_UNLESS return")

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
	u.own(func(i int) {
		if name := s.of(i); s.kindOf(i) == word && skipping[s.lang.name+" "+name] && s.statement(i) &&
			!slices.ContainsFunc(s.units, func(d *unit) bool { return d.role == definition && d.name == name }) {
			s.add(&all, skips, s.under(i, u.body), i)
		}
	})
	return all
}
