package code

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// annotation is an annotation, attribute or decorator in the head of a unit.
type annotation struct {
	*side
	at    int    // its name's token
	name  string // in lower case
	args  string // the text in its brackets, without a reason
	first string // the first argument, without "condition ="
}

// headForm is a kind of annotation, as a row of a table.
type headForm struct {
	in     string         // the language; "" is any
	name   *regexp.Regexp // what its name matches; nil is any
	args   *regexp.Regexp // what its arguments match; nil is any
	not    *regexp.Regexp // what its name and arguments, with a space between them, do not match; nil is nothing
	when   func(annotation) bool
	effect effect // "" if it is no mark
	cond   func(annotation) string
}

var re = regexp.MustCompile

// headForms are those that no list of names holds. The first row that fits is taken.
var headForms = []headForm{
	{args: re(`SkipWhen|SkipUnless`), effect: skips, cond: asWritten}, // [Fact(SkipUnless = nameof(…))] of xUnit
	// Traits of tests in Swift that take a condition, its own and those of projects.
	{in: "Swift", args: re(`^(?:.* )?\. (?:(?:enabled|disabled) \( if|disable[A-Z]|(?:skip|require|only|unless)[A-Z_]?)`), effect: skips,
		cond: arguments},
	{in: "C#", name: re(`^(?:testcase|inlinedata|datarow|arguments)$`), args: re(`(?:Skip|Ignore(?:Reason|Message)?) = "`), effect: skips,
		cond: theCase},
	{in: "C#", args: re(`\b(?:Skip|Ignore(?:Reason|Message)?) = (?:\$? ?"|\w+ [.(+]|[A-Z]\w+$)`), effect: skips},
	{args: re(`(?:Skip|Ignore) = "|Explicit = true|\. disabled`), effect: skips},
	{name: re(`^test$`), args: re(`enabled = false`), effect: skips}, // TestNG
	{name: re(`^conditional`), args: re(`^$`)},
	{name: re(`^flaky`), effect: retry, cond: nameAlone},
	// Projects derive attributes from [Fact] and [Theory] to say where a test runs: [WindowsOnlyFact], [FactRequiresDocker].
	{in: "C#", name: re(`^(?:fact|theory).`), effect: skips, cond: asWritten},
	{in: "C#", name: re(`.(?:fact|theory)$`), args: re(`.`), effect: skips, cond: asWritten},
	{in: "C#", name: re(`(?:only|unless|windows|unix|linux|macos|skip|manual|requires).*(?:fact|theory)$`), effect: skips,
		cond: asWritten},
	{name: re(`^enumsource$`), args: re(`names =`), effect: skips, cond: asWritten},                 // only some of the values
	{in: "Python", name: re(`^parametrize$`), args: re(`, (?:argvalues = )?\[ \]$`), effect: skips}, // pytest has no case to run
	{in: "Python", name: re(`^require`), effect: tag, cond: nameAlone},                              // the test may need what it uses now
	{when: conditionally, effect: skips, cond: asWritten},
	{name: re(`^(?:conditional|disabled|ignore|enabled)|(?:condition|ignore)$|skip`), effect: skips, cond: asWritten},
	{name: re(`^exclude`), not: re(`^excludefrom`), effect: skips, cond: asWritten}, // [ExcludeFromCodeCoverage] is none
	// What a test needs, or the one place where it runs. Of code, and of marks of pytest, such names say something else.
	{name: re(`^(?:only(?:on|if|in)|run(?:if|on(?:os|platform|ci))|require)`), when: notOfPytest, effect: skips, cond: asWritten,
		not: re(`^requires(?:api|permission|optin|nonnull|extension|unreferencedcode|dynamiccode|assemblyfiles|previewfeatures|thread) `)},
	{name: re(`(?:jvm|js|native|windows|linux|unix|mac(?:os)?|darwin|core|framework)_?only$`), when: notOfPytest, effect: skips,
		cond: asWritten},
	{name: re(`^cfg_attr$`), args: re(`ignore`), effect: skips, cond: arguments},
	{in: "Rust", name: re(`test$`), args: re(`ignore`), effect: skips, cond: arguments},
	{name: re(`^cfg$`), not: re(`^cfg (?:test|not \( test \))$`), effect: skips, cond: arguments}, // every test of Rust is under cfg(test)
	{in: "Python", when: unusual, effect: tag, cond: nameAlone},
}

var (
	conditionally = func(a annotation) bool { return annotations[a.name+"?"] != "" }
	notOfPytest   = func(a annotation) bool { return a.of(a.at-2) != "mark" }
	unusual       = func(a annotation) bool { return !notOfPytest(a) && !usualMarks[a.name] }

	nameAlone = func(a annotation) string { return a.name }
	arguments = func(a annotation) string { return a.args }
	asWritten = func(a annotation) string { return a.of(a.at) + " " + a.args }
	theCase   = func(a annotation) string {
		return ofCase + a.args[:max(strings.Index(a.args, " , Skip ="), strings.Index(a.args, " , Ignore"), 0)]
	}
)

func (f headForm) fits(a annotation) bool {
	return (f.in == "" || f.in == a.lang.name) && (f.name == nil || f.name.MatchString(a.name)) &&
		(f.args == nil || f.args.MatchString(a.args)) && (f.not == nil || !f.not.MatchString(a.name+" "+a.args)) &&
		(f.when == nil || f.when(a))
}

// hiddenBy are, by language, the modifiers with which the usual runner passes over a test.
var hiddenBy = map[string]map[string]bool{"Java": set("private"), "Kotlin": set("private"), "PHP": set("private protected"),
	"Swift": set("private fileprivate")}

// again reports whether a file names a function outside of its definition: others call it.
func (s *side) again(u *unit) bool {
	return slices.ContainsFunc(s.places(u.name), func(i int) bool { return i != u.at })
}

// hide marks the methods of a class of Ruby's that follow private or protected, so that Minitest passes over them.
func (s *side) hide(class *unit) {
	at, next := 0, 0
	mark := func(before int) {
		for ; next < len(class.children) && class.children[next].from <= before; next++ {
			u, by := class.children[next], at
			if before := u.from - 1; s.of(before) == "private" || s.of(before) == "protected" {
				by = before
			}
			if by > 0 && u.role == test && u.word == "def" && !s.again(u) {
				u.add(skips, "", by)
			}
		}
	}
	class.own(func(i int) {
		mark(i)
		switch alone := s.tokens[i].first && s.tokens[min(i+1, len(s.tokens)-1)].first; {
		case alone && (s.of(i) == "private" || s.of(i) == "protected"):
			at = i
		case alone && s.of(i) == "public":
			at = 0
		}
	})
	mark(class.to)
}

// headMarks reads annotations, attributes and decorators.
func (s *side) headMarks(u *unit) {
	for i := u.from; i < u.at; i++ {
		if u.role == test && hiddenBy[s.lang.name][s.of(i)] && (s.lang.junit || !s.again(u)) {
			u.add(skips, "", i)
		}
		if s.lang.python && s.of(i) == "param" && s.of(i+1) == "(" && s.mate(i+1) > 0 {
			s.caseMarks(u, i+1)
			i = s.mate(i + 1)
		}
		if s.tokens[i].kind != word || !s.annotation(i) || s.of(i+1) == "." || s.of(i+1) == "::" {
			continue
		}
		if s.lang.python {
			s.namedMarks(u, i)
		}
		a := annotation{side: s, at: i, name: strings.ToLower(s.of(i))}
		if s.of(i+1) == "(" {
			a.args, _, _ = strings.Cut(s.arguments(i+1), " , reason")
		}
		a.first, _, _ = strings.Cut(strings.TrimPrefix(a.args, "condition = "), " , ")
		e := annotations[a.name]
		if e == fails && a.args != "" && strings.Contains(s.arguments(i+1), "strict = False") {
			u.add(either, "", i)
		}
		switch {
		case s.lang.rust && (s.casesFrom(i, u.at) || s.of(i-2) == "rustfmt"): // it applies to one case, or to its layout
		case e == fails && !strings.Contains(a.first, " = "):
			u.add(fails, a.first, i)
		case e != "":
			u.add(e, "", i)
		default:
			a.mark(u)
		}
	}
}

// mark adds what the table says of an annotation.
func (a annotation) mark(u *unit) {
	n := slices.IndexFunc(headForms, func(f headForm) bool { return f.fits(a) })
	switch {
	case n < 0 || headForms[n].effect == "":
	case headForms[n].cond == nil:
		u.add(headForms[n].effect, "", a.at)
	default:
		u.add(headForms[n].effect, headForms[n].cond(a), a.at)
	}
}

// ofCase begins the condition of a mark on one case of a test. The case follows.
const ofCase = "case "

// caseMarks reads the marks on a case of pytest's: pytest.param(1, 2, marks=pytest.mark.skip).
func (s *side) caseMarks(u *unit, open int) {
	end, last := s.mate(open), 0
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
	return among(i, to, func(i int) bool { return s.of(i) == "case" && s.of(i-1) == "[" })
}
