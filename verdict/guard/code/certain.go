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
	if !slices.ContainsFunc(strings.Fields(namesIn(cond)), func(name string) bool { return isWordStart(name[0]) || name[0] >= 128 }) {
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
