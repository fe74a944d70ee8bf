package code

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// effect is the effect of a mark on a test.
type effect string

const (
	skips  effect = "skip"             // the test does not run
	fails  effect = "fail"             // the test's failure is expected
	focus  effect = "focus"            // the other tests do not run
	retry  effect = "retry"            // the test may fail before it passes
	tag    effect = "tag"              // runners can exclude the test by a name
	either effect = "fail-or-pass"     // an expected failure may also pass
	leaves effect = "returns"          // the test ends before it checks anything
	built  effect = "build-constraint" // the test's file is not built on some systems, or without a tag
)

// mark is something that keeps a test from running or failing.
type mark struct {
	effect effect
	cond   string // the condition; "" for always
	line   int
}

// maxMarks bounds the marks of one test, and of one file.
const maxMarks = 100

// The names of marks on tests in all languages: annotations (in lower case), calls that are tests, the words
// after the dot of such calls, and their options. A name that ends in "?" takes a condition.
var (
	annotations = effectsOf(map[effect]string{
		skips: "disabled ignore ignored skip explicit skiptest skipped skipif? skipunless? skip_if? skip_unless? ignore_if? " +
			"enabled? ignoreif? requires? platform? netplatform? platformspecific? runon? activeissue? awaitsfix? quarantinedtest? " +
			"runif? nojs? nonative? nowasm? nojvm? muted",
		fails: "xfail expectedfailure should_panic expectedtofail notyetimplemented notimplementedyet pendingfeature failureexpected " +
			"tobefixedforconfigurationcache expectedfailureif knownfailureif knownfail",
		focus: "ignorerest",
		retry: "flaky retryingtest retry rerun retryfact retrytheory repeatedifexceptionstest",
		tag:   "tag tags category testcategory trait slow integration nightly quarantine badapple largetest attr group",
	})
	callees = effectsOf(map[effect]string{
		skips: "xit xtest xspecify xexample xdescribe xcontext pending ignore skip PIt XIt PSpecify XSpecify " +
			"PDescribe XDescribe PContext XContext PWhen XWhen IGNORE_TEST xshould xexpect",
		focus: "fit ftest fspecify fdescribe fcontext FIt FSpecify FDescribe FContext FWhen",
	})
	chained = effectsOf(map[effect]string{
		skips: "skip todo fixme ignore Pending skipIf? runIf? if? skipOnWindows? skipOnMac? skipOnLinux? skipOnCi? skipLocally? skipOnPhp? " +
			"onlyOnWindows? onlyOnMac? onlyOnLinux? todoIf? skipOnCI?",
		fails: "fails failing fail pendingUntilFixed",
		focus: "only Focus",
		retry: "FlakeAttempts flaky",
		tag:   "taggedAs group",
	})
	options = effectsOf(map[effect]string{
		skips: "skip ignore pending todo disabled",
		fails: "fails expectFailure",
		retry: "retry retries flaky",
		focus: "only focus solo",
		tag:   "tag tags quarantine broken tagged",
	})
)

func effectsOf(table map[effect]string) map[string]effect {
	out := map[string]effect{}
	for e, names := range table {
		for _, name := range strings.Fields(names) {
			out[name] = e
		}
	}
	return out
}

// usualMarks are marks of pytest and its plugins that do not exclude tests.
var usualMarks = set("parametrize usefixtures asyncio anyio trio filterwarnings django_db order xdist_group " +
	"respx_mock httpx_mock vcr freeze_time timeout benchmark")

// add adds a mark at a token.
func (s *side) add(to *[]mark, e effect, cond string, i int) {
	if len(*to) < maxMarks {
		*to = append(*to, mark{e, cond, s.line(min(i, len(s.tokens)-1))})
	}
}

// add adds a mark at a token of a unit. An "#if" around the mark is its condition, unless it is around the whole unit:
// then it is a mark of its own.
func (u *unit) add(e effect, cond string, i int) {
	u.side.add(&u.marks, e, cmp.Or(cond, u.guardOf(i)), i)
}

// guardOf is the condition of the preprocessor around a token, but not around its whole unit; "" for none.
func (u *unit) guardOf(i int) string {
	for _, g := range u.side.guards {
		if g.from <= i && i < g.to && (u.from < g.from || g.to < u.to) {
			return g.cond
		}
	}
	return ""
}

// effective returns a test's marks and the marks of everything around it.
func (u *unit) effective() []mark {
	out := slices.Clone(u.marks)
	for p := u.parent; p != nil; p = p.parent {
		out = append(out, p.marks...)
	}
	return append(out, u.side.marks...)
}

// markUnit reads the marks of a test or of a unit around tests.
func (s *side) markUnit(u *unit) {
	called := s.lang.calls[u.word] || s.lang.groups[u.word] || s.lang.infix[u.word] != definition
	if called {
		s.callMarks(u)
	} else {
		s.headMarks(u)
	}
	if s.lang.macros[u.word] && (callees[u.word] == skips || matchesAny(hidden, u.name)) {
		u.add(skips, "", u.at)
	}
	if s.lang.name == "Kotlin" && called && strings.HasPrefix(u.name, "!") {
		u.add(skips, "", u.at)
	}
	if s.lang.ruby && (s.of(u.to) == "if" || s.of(u.to) == "unless") && !s.tokens[u.to].first { // a condition after the block: "end if …"
		u.add(skips, s.lineOf(u.to), u.to)
	}
	if u.role != test {
		return
	}
	if called || s.lang.python || s.lang.ruby {
		for _, c := range s.conditionsAt(u.from, 0) {
			u.add(skips, c.text, c.at)
		}
	}
	for _, g := range s.guards {
		if g.from <= u.from && u.to <= g.to {
			u.add(skips, g.cond, g.from)
		}
	}
	s.bodyMarks(u, u.add)
}

// hidden match what keeps a test of a macro from running or failing: its name in GoogleTest, tags of Catch2, decorators of
// doctest and Boost.Test.
var hidden = []*regexp.Regexp{
	regexp.MustCompile(`DISABLED_|\[\.|\[!(?:mayfail|shouldfail|hide)\]`),
	regexp.MustCompile(`\b(?:skip|may_fail|should_fail|disabled) \( (?:true )?\)|\bexpected_failures \(|\benable_if < false >`),
}

func matchesAny(patterns []*regexp.Regexp, text string) bool {
	return slices.ContainsFunc(patterns, func(p *regexp.Regexp) bool { return p.MatchString(text) })
}

// headMarks reads annotations, attributes and decorators.
func (s *side) headMarks(u *unit) {
	for i := u.from; i < u.at; i++ {
		if u.role == test && s.of(i) == "private" && (s.lang.name == "Java" || s.lang.name == "Kotlin") { // JUnit passes over it
			u.add(skips, "", i)
		}
		if s.lang.python && s.of(i) == "param" && s.of(i+1) == "(" && s.tokens[i+1].mate > 0 {
			s.caseMarks(u, i+1)
			i = int(s.tokens[i+1].mate)
		}
		if s.tokens[i].kind != word || !s.annotation(i) || s.of(i+1) == "." || s.of(i+1) == "::" {
			continue
		}
		name, args := strings.ToLower(s.of(i)), ""
		if s.of(i+1) == "(" {
			args, _, _ = strings.Cut(s.arguments(i+1), " , reason")
		}
		if annotations[name] == fails && args != "" && strings.Contains(s.arguments(i+1), "strict = False") {
			u.add(either, "", i)
		}
		first, _, _ := strings.Cut(strings.TrimPrefix(args, "condition = "), " , ")
		has := func(part string) bool { return strings.Contains(args, part) }
		switch {
		case s.lang.rust && (s.casesFrom(i, u.at) || s.of(i-2) == "rustfmt"): // it applies to one case, or to its layout
		case annotations[name] == fails && first != "" && !strings.Contains(first, " = "):
			u.add(fails, first, i)
		case annotations[name] != "":
			u.add(annotations[name], "", i)
		case has("SkipWhen"), has("SkipUnless"):
			u.add(skips, name+" "+args, i)
		case s.lang.name == "Swift" && traits.MatchString(args):
			u.add(skips, args, i)
		case s.lang.name == "C#" && rows[name] && (has("Skip = \"") || has("Ignore = \"")):
			u.add(skips, ofCase+args[:min(len(args), max(strings.Index(args, " , Skip ="), strings.Index(args, " , Ignore ="), 0))], i)
		case has("Skip = \""), has("Ignore = \""), name == "test" && has("enabled = false"), has("Explicit = true"), has(". disabled"):
			u.add(skips, "", i)
		case args == "" && strings.HasPrefix(name, "conditional"):
		case strings.HasPrefix(name, "flaky"):
			u.add(retry, name, i)
		case s.lang.name == "C#" && name != "fact" && name != "theory" && (strings.HasPrefix(name, "fact") || strings.HasPrefix(name, "theory") ||
			(args != "" || limits.MatchString(name)) && (strings.HasSuffix(name, "fact") || strings.HasSuffix(name, "theory"))):
			u.add(skips, name+" "+args, i)
		case name == "enumsource" && has("names ="):
			u.add(skips, s.of(i)+" "+args, i) // only some of the values
		case s.lang.python && strings.HasPrefix(name, "require"): // the test may need what it uses now
			u.add(tag, name, i)
		case annotations[name+"?"] != "", strings.HasPrefix(name, "conditional"),
			strings.HasPrefix(name, "disabled"), strings.HasPrefix(name, "ignore"), strings.HasPrefix(name, "enabled"),
			strings.HasPrefix(name, "exclude") && !strings.HasPrefix(name, "excludefrom"),
			strings.HasSuffix(name, "condition"), strings.Contains(name, "skip"), strings.HasSuffix(name, "ignore"),
			matchesAny(demands, name) && !ofCode[name] && s.of(i-2) != "mark":
			u.add(skips, s.of(i)+" "+args, i)
		case (name == "cfg_attr" || strings.HasSuffix(name, "test") && s.lang.rust) && has("ignore"),
			name == "cfg" && args != "test" && args != "not ( test )":
			u.add(skips, args, i)
		case s.lang.python && s.of(i-2) == "mark" && !usualMarks[name]:
			u.add(tag, name, i)
		}
	}
}

var (
	// traits matches traits of Swift's tests that take a condition, its own and those of projects.
	traits = regexp.MustCompile(`^(?:.* )?\. (?:(?:enabled|disabled) \( if|disable[A-Z]|(?:skip|require|only|unless)[A-Z_]?)`)
	// limits matches parts of the names of attributes of xUnit that say where or when a test runs.
	limits = regexp.MustCompile(`only|unless|windows|unix|linux|macos|skip|manual|requires`)
	// demands match annotations that say what a test needs, or the one place where it runs; ofCode are those of them that
	// say it of code.
	demands = []*regexp.Regexp{
		regexp.MustCompile(`^only(?:on|if|in)|^run(?:if|on(?:os|platform|ci))|^requires?`),
		regexp.MustCompile(`(?:jvm|js|native|windows|linux|unix|mac|macos|darwin|core|framework)_?only$`),
	}
)

var ofCode = set("requiresapi requirespermission requiresoptin requiresnonnull requiresextension requiresunreferencedcode " +
	"requiresdynamiccode requiresassemblyfiles requirespreviewfeatures requiresthread")

// rows are the attributes of C# that hold one case of a test.
var rows = set("testcase inlinedata datarow arguments")

// ofCase begins the condition of a mark on one case of a test. The case follows.
const ofCase = "case "

// caseMarks reads the marks on a case of pytest's: pytest.param(1, 2, marks=pytest.mark.skip).
func (s *side) caseMarks(u *unit, open int) {
	end, last := int(s.tokens[open].mate), 0
	for i := open + 1; i < end; i++ {
		named := s.outer[i] == int32(open) && s.of(i+1) == "=" && s.of(i-1) == ","
		if named && last == 0 {
			last = i - 1
		}
		for n := i; named && s.of(i) == "marks" && n < end; n++ {
			if e := cmp.Or(annotations[s.of(n)], annotations[s.of(n)+"?"]); e == skips || e == fails {
				u.add(e, ofCase+s.plain(open+1, last), n)
			}
		}
	}
}

// lists reports whether a list in a test's head has a case without a mark.
func (u *unit) lists(value string) bool {
	head := u.side.all(guard{from: u.from, to: u.at})
	return slices.ContainsFunc([]string{",", ")", "]"}, func(end string) bool { return strings.Contains(head, " "+value+" "+end+" ") })
}

// casesFrom reports whether an rstest attribute that adds a case follows another attribute.
func (s *side) casesFrom(i, to int) bool {
	for ; i < to; i++ {
		if s.of(i) == "case" && s.of(i-1) == "[" {
			return true
		}
	}
	return false
}

// arguments is the text in the brackets that a token opens.
func (s *source) arguments(open int) string { return s.plain(open+1, int(s.tokens[open].mate)) }

// callMarks reads the marks of a call from its name, the words after its dots, and its options.
func (s *side) callMarks(u *unit) {
	if e := callees[u.word]; e != "" {
		u.add(e, "", u.at)
	}
	if a := s.aliases[s.of(u.at)]; a.word != "" {
		u.add(skips, a.cond, u.at)
	}
	for _, i := range u.chain {
		switch name := s.of(i); {
		case chained[name] != "" && s.of(i-1) == "->" && s.kindOf(i+2) != text && s.of(i+2) != ")":
			u.add(chained[name], s.arguments(i+1), i) // Pest: ->skip(condition)
		case chained[name] != "":
			u.add(chained[name], "", i)
		case chained[name+"?"] != "" && s.of(i+1) == "(":
			cond := s.arguments(i + 1)
			if s.of(i-1) == "->" {
				cond = name + " " + cond
			} else if name != "skipIf" {
				cond = "! " + cond
			}
			u.add(skips, cond, i)
		}
	}
	s.after(u)
	for i := u.at + 1; i < min(u.body, u.at+maxHead); i++ {
		s.option(u, i)
	}
	if s.lang.ruby || s.lang.layout != braces || u.body == 0 {
		return
	}
	if end := int(s.tokens[u.body-1].mate); end > 0 { // options after the body
		for i := end; i < u.to; i++ {
			s.option(u, i)
		}
	}
}

// aspects are what follows the body of a test in ZIO Test and specs2: test("…") { … } @@ TestAspect.ignore.
var aspects = effectsOf(map[effect]string{
	skips: "ignore jvmOnly jsOnly nativeOnly notJVM notJS notNative os ifEnv ifProp scala2Only scala3Only skipUntil",
	fails: "failing pendingUntilFixed",
	retry: "flaky retry retries",
})

// after reads the marks behind a test of Scala.
func (s *side) after(u *unit) {
	i := u.to
	if s.lang.name != "Scala" || s.of(i) != "@" && s.of(i) != "@@" && s.of(i) != "." || s.tokens[i].first && s.of(i) == "@" {
		return
	}
	for n := i + 1; n < i+5 && (s.kindOf(n) == word || s.of(n) == "." || s.of(n) == "@"); n++ {
		if e := aspects[s.of(n)]; e != "" {
			cond := ""
			if e == skips && s.of(n) != "ignore" {
				cond = s.of(n)
			}
			u.add(e, cond, n)
		}
	}
}

// option reads one option of a call such as "skip: true" or, in Ruby, ":skip" and ":skip => broken".
func (s *side) option(u *unit, i int) {
	e, symbol, not := options[s.of(i)], s.lang.layout == ends && s.of(i-1) == ":", ""
	colon := s.of(i+1) == ":" && s.tokens[i+1].from == s.tokens[i].to
	if s.lang.ruby && (symbol && s.of(i+1) == "=>" || colon) && (s.of(i) == "if" || s.of(i) == "unless") { // filters of RSpec
		e = skips
	}
	if e := chained[s.of(i)]; e != "" && (s.lang.name == "Scala" && s.of(i-1) == "." && s.kindOf(i-2) == text || // MUnit: test("…".ignore)
		s.lang.name == "Go" && s.of(i-1) == ",") { // Ginkgo: It("…", Pending, …)
		u.add(e, "", i)
		return
	}
	if s.lang.dashes && s.of(i-1) == "-" && options[strings.ToLower(s.of(i))] == skips { // Pester: It "…" -Skip:$condition
		cond := ""
		if s.of(i+1) == ":" && s.of(i+2) != "$true" {
			cond = "if " + s.plain(i+2, max(i+2, int(s.tokens[i+2].mate))+1)
		}
		if cond != "if $false" {
			u.add(skips, cond, i)
		}
		return
	}
	if s.lang.name == "Kotlin" && s.of(i+1) == "=" && (s.of(i) == "enabled" && s.of(i+2) == "false" || s.of(i) == "enabledIf") { // Kotest
		cond := ""
		if s.of(i) == "enabledIf" {
			cond = "! " + s.plain(i+2, int(s.tokens[i+2].mate))
		}
		u.add(skips, cond, i)
		return
	}
	if e == "" || s.tokens[i].kind != word || s.depth(i)-s.depth(u.at) > 2 {
		return
	}
	if s.of(i) == "if" {
		not = "! "
	}
	switch value := s.of(i + 2); {
	case s.shorthand(i):
		u.add(e, "value of "+s.of(i), i)
	case symbol && s.of(i+1) != "=>":
		u.add(e, "", i)
	case !symbol && s.of(i+1) != ":" || value == "false" || value == "null" || value == "nil" || value == "0":
	case value == "true" || s.kindOf(i+2) == text || s.kindOf(i+2) == number:
		u.add(e, "", i)
	default:
		last := i + 2
		for last < u.to && s.of(last) != "," && s.of(last) != "}" && s.of(last) != ")" && (s.lang.layout != ends || s.of(last) != "do") {
			last++
		}
		u.add(e, not+s.plain(i+2, last), i)
	}
}

// shorthand reports whether a JavaScript option, as in test("…", { skip }, …), takes its value from the
// variable of its name.
func (s *side) shorthand(i int) bool {
	open := int(s.outer[i])
	ends := func(t, bracket string) bool { return t == "," || t == bracket }
	return s.lang.name == "JavaScript" && open > 0 && s.of(open-1) == "," && ends(s.of(i-1), "{") && ends(s.of(i+1), "}")
}

// depth is the number of brackets around a token, counted up to four.
func (s *source) depth(i int) (n int) {
	for o := s.outer[i]; o >= 0 && n < 4; o = s.outer[o] {
		n++
	}
	return n
}
