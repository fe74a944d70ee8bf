package code

import "strings"

// effect is what a mark does to a test.
type effect string

const (
	skips  effect = "skip"    // it does not run
	fails  effect = "fail"    // its failure is expected
	focus  effect = "focus"   // the others do not run
	retry  effect = "retry"   // it may fail before it passes
	tag    effect = "tag"     // runners can leave it out by a name
	leaves effect = "returns" // it ends before it checks
)

// mark is something that keeps a test from running, or from failing.
type mark struct {
	effect effect
	cond   string // under what condition; "" for always
	line   int
}

// maxMarks bounds the marks of one test, and of one file.
const maxMarks = 100

// annotations are the names of marks on tests in all languages, in lower case. Those
// that end in "?" ask for a condition.
var annotations = func() map[string]effect {
	out := map[string]effect{}
	for e, names := range map[effect]string{
		skips: "disabled ignore ignored skip explicit skiptest skipped skipif? skipunless? skip_if? skip_unless? ignore_if? " +
			"enabled? ignoreif? requires? conditionalfact? conditionaltheory?",
		fails: "xfail expectedfailure should_panic expectedtofail notyetimplemented",
		retry: "flaky retryingtest retry rerun retryfact retrytheory repeatedifexceptionstest",
		tag:   "tag tags category testcategory trait slow integration nightly quarantine",
	} {
		for _, name := range strings.Fields(names) {
			out[name] = e
		}
	}
	return out
}()

// callees and options are the marks of tests that are written as calls.
var (
	callees = words(map[effect]string{
		skips: "xit xtest xspecify xexample xdescribe xcontext pending ignore skip",
		focus: "fit ftest fspecify fdescribe fcontext",
	})
	chained = words(map[effect]string{
		skips: "skip todo fixme ignore skipIf? runIf? if?",
		fails: "fails failing fail",
		focus: "only",
	})
	options = words(map[effect]string{
		skips: "skip ignore pending todo disabled",
		retry: "retry retries flaky",
		focus: "only focus",
		tag:   "tag tags",
	})
)

func words(table map[effect]string) map[string]effect {
	out := map[string]effect{}
	for e, names := range table {
		for _, name := range strings.Fields(names) {
			out[name] = e
		}
	}
	return out
}

// markUnit reads the marks of a test or of what encloses tests.
func (s *side) markUnit(u *unit) {
	add := func(e effect, cond string, i int) {
		if len(u.marks) >= maxMarks {
			return
		}
		u.marks = append(u.marks, mark{e, cond, int(s.tokens[i].line)})
	}
	switch {
	case u.role == condition:
		add(skips, u.name, u.at)
		return
	case s.lang.calls[u.word] || s.lang.groups[u.word]:
		s.callMarks(u, add)
	default:
		s.headMarks(u, add)
	}
	for _, part := range []string{"DISABLED_", "[.]", "[!mayfail]"} {
		if s.lang.macros[u.word] && strings.Contains(u.name, part) {
			add(skips, "", u.at)
		}
	}
	if s.lang.name == "Elixir" {
		s.tagsBefore(u, add)
	}
	if u.role == test {
		s.bodyMarks(u, add)
	}
}

// headMarks reads annotations, attributes and decorators.
func (s *side) headMarks(u *unit, add func(effect, string, int)) {
	for i := u.from; i < u.at; i++ {
		if s.tokens[i].kind != word || !s.annotation(i) || s.of(i+1) == "." || s.of(i+1) == "::" {
			continue
		}
		name, args := strings.ToLower(s.of(i)), ""
		if s.of(i+1) == "(" && s.tokens[i+1].mate > 0 {
			args, _, _ = strings.Cut(s.plain(i+2, int(s.tokens[i+1].mate)), " , reason")
		}
		switch {
		case annotations[name] != "":
			add(annotations[name], "", i)
		case annotations[name+"?"] != "", strings.HasPrefix(name, "disabled"), strings.HasPrefix(name, "enabled"):
			add(skips, s.of(i)+" "+args, i)
		case (name == "cfg_attr" || strings.HasSuffix(name, "test") && s.lang.rust) && strings.Contains(args, "ignore"):
			add(skips, args, i)
		case name == "cfg" && args != "test" && args != "not ( test )":
			add(skips, args, i)
		case strings.Contains(args, "Skip = \"") || strings.Contains(args, "enabled = false") || strings.Contains(args, "Explicit = true") ||
			strings.Contains(args, ". disabled"):
			add(skips, "", i)
		case s.lang.python && s.of(i-2) == "mark" && !usualMarks[name]:
			add(tag, name, i)
		}
	}
}

// usualMarks are the marks of pytest and its plugins by which nothing is left out.
var usualMarks = set("parametrize usefixtures asyncio anyio trio filterwarnings django_db order xdist_group " +
	"respx_mock httpx_mock vcr freeze_time timeout benchmark")

// callMarks reads the names, the words after dots and the options of a call.
func (s *side) callMarks(u *unit, add func(effect, string, int)) {
	if e := callees[u.word]; e != "" {
		add(e, "", u.at)
	}
	for _, i := range u.chain {
		switch name := s.of(i); {
		case chained[name] != "":
			add(chained[name], "", i)
		case chained[name+"?"] != "" && s.of(i+1) == "(" && s.tokens[i+1].mate > 0:
			cond := s.plain(i+2, int(s.tokens[i+1].mate))
			if name != "skipIf" {
				cond = "! " + cond
			}
			add(skips, cond, i)
		}
	}
	for i := u.at + 1; i < min(u.body, u.at+maxHead); i++ {
		s.option(u, i, add)
	}
	for i := u.to; i >= u.body && u.to-i < 40 && i > 0 && !s.lang.ruby; i-- { // options after the body
		if s.of(i-1) == "}" && s.tokens[i-1].mate >= 0 && int(s.tokens[i-1].mate) == u.body-1 {
			for ; i < u.to; i++ {
				s.option(u, i, add)
			}
			break
		}
	}
}

// option reads one option of a call such as "skip: true" or, in Ruby, ":skip".
func (s *side) option(u *unit, i int, add func(effect, string, int)) {
	e := options[s.of(i)]
	if e == "" || s.tokens[i].kind != word || s.depth(i)-s.depth(u.at) > 2 {
		return
	}
	switch {
	case s.of(i-1) == ":" && s.lang.layout == ends:
		add(e, "", i)
	case s.of(i+1) != ":" || s.of(i+2) == "false" || s.of(i+2) == "null" || s.of(i+2) == "0":
	case s.of(i+2) == "true" || s.kindOf(i+2) == text || s.kindOf(i+2) == number:
		add(e, "", i)
	default:
		last := i + 2
		for last < u.to && s.of(last) != "," && s.of(last) != "}" && s.of(last) != ")" {
			last++
		}
		add(e, s.plain(i+2, last), i)
	}
}

// depth is how many brackets stand around a token; counted up to four.
func (s *source) depth(i int) (n int) {
	for o := s.outer[i]; o >= 0 && n < 4; o = s.outer[o] {
		n++
	}
	return n
}

// tagsBefore reads Elixir's "@tag :skip" before a test.
func (s *side) tagsBefore(u *unit, add func(effect, string, int)) {
	for i := u.from - 1; i > max(1, u.from-30) && s.of(i) != "end" && s.of(i) != "do"; i-- {
		if (s.of(i) == "tag" || s.of(i) == "describetag") && s.of(i-1) == "@" {
			if name := s.of(i + 1); name == "skip" || s.of(i+2) == "skip" {
				add(skips, "", i)
			} else {
				add(tag, name+s.of(i+2), i)
			}
		}
	}
}
