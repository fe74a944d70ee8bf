package code

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// bodyForm is a call within a test that ends it as skipped or expects its failure, as a row of marks.txt.
type bodyForm struct {
	effect effect // "" if it is that of the mark of pytest in the call's arguments
	words  string // the functions
	of     string // their possible receivers
	// cond is the mark's condition, given the condition that the call is under. A nil one is that condition.
	cond func(u *unit, i int, around string) string
}

func (f bodyForm) named() string { return f.words }

// bodyForms are those calls by language.
var bodyForms = byWord(func() map[string][]bodyForm {
	out := map[string][]bodyForm{}
	for _, row := range marks.Rows("body") {
		out[row[0]] = append(out[row[0]], bodyForm{effect(row[1]), row[4], row[2], bodyConditions[row[3]]})
	}
	return out
}())

// bodyConditions are the conditions of such calls that marks.txt names.
var bodyConditions = map[string]func(u *unit, i int, around string) string{
	"asked": asked, "value": value, "closure": inClosure, "class": skipClass, "block": whenBlock,
}

// bodyMarks reads what a function does in its body to skip or end a test.
func (s *side) bodyMarks(u *unit, found func(effect, string, int)) {
	skipped := map[int32]bool{} // the blocks that skip the test: a return there belongs to that
	add := func(e effect, cond string, i int) {
		skipped[s.outer[i]] = skipped[s.outer[i]] || e == skips
		if start := s.receiverOf(i); cond == "" && s.of(start-1) == ")" && s.mate(start-1) > 0 && s.of(s.mate(start-1)-1) == "if" {
			cond = s.plain(s.mate(start-1)-1, start) // without braces
		}
		if cond == "" && e == skips {
			cond = s.decided(i, u.body)
		}
		found(e, cmp.Or(cond, strings.TrimPrefix(u.guardOf(i), "#")), i)
	}
	u.own(func(i int) {
		if s.kindOf(i) != word {
			return
		}
		if open := u.enclosed(i); open > 0 {
			add(leaves, "unless "+s.plain(i+1, open), i)
		}
		t, around := s.of(i), func() string { return s.under(i, u.body) }
		f, known := s.bodyForm(i)
		surely, skipper := s.skippers[t]
		switch {
		case known:
			cond := around()
			if f.cond != nil {
				cond = f.cond(u, i, cond)
			}
			if e := cmp.Or(f.effect, annotations[pytestMark.FindString(s.arguments(i+1))]); e != "" {
				add(e, cond, i)
			}
		case t == "throw" || t == "raise":
			if s.throwsSkip(i) {
				add(skips, around(), i)
			}
		case s.skipHelper(i), skipper && s.statement(i) && i >= u.body:
			if surely {
				add(skips, around(), i)
				return
			}
			cond := t
			if s.commands[i] {
				cond = s.lineOf(i)
			}
			if s.of(i+1) == "(" {
				cond += " " + s.canonical(i+2, s.mate(i+1))
			}
			add(skips, cond, i)
		case (t == "return" || t == "next" && s.lang.ruby) && s.of(i+1) != "(" && u.to-u.body > 3 && s.endsHere(i) &&
			!(skipped[s.outer[i]] && s.lang.layout == braces):
			if start := u.start(); i == start {
				add(leaves, "", i)
			} else if around := s.conditionsAt(i, u.body); len(around) > 0 && around[0].at == start {
				add(leaves, around[0].text, i)
			}
		}
	})
}

// statement reports whether a word calls a function: in Ruby it may do so by its name alone.
func (s *side) statement(i int) bool {
	return s.of(i+1) == "(" || s.commands[i] || s.lang.ruby && s.tokens[i].first && s.of(i+1) != "=" && s.of(i+1) != "."
}

// returned is the first token behind the first statement with which a function returns, perhaps; the end of the function if
// it has none.
func (u *unit) returned() int {
	s, first := u.side, u.firstReturn()+1
	for first < u.to && !s.tokens[first].first && s.of(first) != ";" && s.of(first) != "}" {
		first++
	}
	return min(first, u.to)
}

// firstReturn is the first return of a function that is in no unit within it; the end of the file if there is none.
func (u *unit) firstReturn() int {
	s, first := u.side, len(u.side.tokens)
	u.own(func(i int) {
		if s.of(i) == "return" && s.kindOf(i) == word {
			first = min(first, i)
		}
	})
	return first
}

// unlessReturned is the condition on which a function goes on behind its first return: "" if that one stands in no condition, or in
// one that is within something else, such as a function that is defined there.
func (u *unit) unlessReturned() string {
	s, begin, around := u.side, u.start(), u.side.conditionsAt(u.firstReturn(), u.body)
	if len(around) != 1 || s.outer[around[0].at] != s.outer[begin] {
		return ""
	}
	first := around[0].at
	for first > u.body && !s.tokens[first].first {
		first--
	}
	if s.lang.layout != braces && s.tokens[first].column != s.tokens[begin].column {
		return ""
	}
	return "unless " + strings.TrimPrefix(around[0].text, "if ")
}

// choosing are the words and signs behind what decides whether the rest of a statement runs: up() || skip().
var choosing = set("|| && or and ?")

// leading are the words and signs that can stand between those and the call: server() ?: throw …
var leading = set("throw raise await try new : -> $this")

// decided is what stands before a call in its statement and decides whether the call runs; "" if nothing does.
func (s *side) decided(i, from int) string {
	at := s.receiverOf(i) - 1
	for at >= from && leading[s.of(at)] {
		at--
	}
	if at < from || !choosing[s.of(at)] || s.lang.shell {
		return ""
	}
	start := at
	for start > from && !s.tokens[start].first && s.of(start-1) != ";" && s.of(start-1) != "{" {
		start--
	}
	return s.plain(start, at+1)
}

// bodyForm is the row of a word that calls one of the listed functions.
func (s *side) bodyForm(i int) (f bodyForm, is bool) {
	table := bodyForms[s.lang.name]
	rows := table[s.of(i)]
	if s.of(i+1) == "(" {
		rows = slices.Concat(rows, table[""])
	}
	for _, f := range rows {
		if s.receiver(i, f.of) && (s.calls(i) || s.commands[i] || s.lang.bare != nil && s.lang.bare(s, i)) &&
			(f.of != "" || s.holdsTests() || !s.hasOwn(s.of(i))) { // code that runs tests may have a function of that name
			return f, true
		}
	}
	return f, false
}

// hasOwn reports whether a file has a function of a name, in Kotlin, Python, Ruby and Scala. It is asked for each call of that name.
func (s *side) hasOwn(name string) bool {
	if s.defines == nil {
		s.defines = map[string]bool{}
		for _, i := range slices.Concat(s.places("def"), s.places("fun")) {
			s.defines[s.of(i+1)] = true
		}
	}
	return s.defines[name]
}

// asked is the condition of a call that asks for one, with the call's name: it tells whether the condition is negated.
func asked(u *unit, i int, around string) string {
	switch s := u.side; {
	case s.of(i+1) == "(":
		return s.of(i) + " " + s.arguments(i+1)
	case s.lang.shell:
		return s.lineOf(i)
	}
	return around
}

// skipClass is the condition of a method of the class Skip. The name of one without a condition says so.
func skipClass(u *unit, i int, around string) string {
	if around == "" && u.side.of(i) != "Inconclusive" {
		return asked(u, i, around)
	}
	return around
}

// value is the first argument as the condition, if it is no text: a text is the reason.
func value(u *unit, i int, around string) string {
	if s := u.side; s.kindOf(i+2) != text && s.of(i+2) != ")" {
		return s.arguments(i + 1)
	}
	return around
}

// inClosure is "func" for a call in a function that is defined within the test for a later call: only then it skips.
func inClosure(u *unit, i int, around string) string {
	s := u.side
	for open := int(s.outer[i]); around == "" && open >= u.body; open = int(s.outer[open]) {
		for n := open - 1; n > u.body && s.of(n) != ";" && s.of(n) != "{" && (s.of(n) != "}" || s.of(n-1) == "{"); n-- {
			if s.of(n) == "func" && s.of(n-1) == ":=" {
				return "func"
			}
			if s.closes(n) {
				n = s.mate(n)
			}
		}
	}
	return around
}

// whenBlock is the condition of a known issue in Swift: withKnownIssue { … } when: { … }.
func whenBlock(u *unit, i int, around string) string {
	s := u.side
	open := s.past(i + 1)
	if s.of(open) != "{" || s.mate(open) < 0 || s.of(s.mate(open)+1) != "when" {
		return around
	}
	if n := s.mate(open) + 3; s.of(n) == "{" {
		return "when " + s.arguments(n)
	}
	return around
}

// enclosed is the brace of a block that depends on the system and has all statements of a test, if a token begins it; 0 if
// not, and for a block that skips.
func (u *unit) enclosed(i int) int {
	s, forms := u.side, bodyForms[u.side.lang.name]
	if s.lang.layout != braces || u.role != test || s.of(i) != "if" || i != u.start() {
		return 0
	}
	for open := i + 1; open < u.to && s.of(open) != ";"; open++ {
		switch mate := s.mate(open); {
		case mate < open:
		case s.of(open) == "{":
			skips := slices.ContainsFunc(s.tokens[open:mate], func(t token) bool { return forms[s.text[t.from:t.to]] != nil })
			if skips || mate+2 < u.to || !matchesAny(platform, s.plain(i, open)) {
				return 0
			}
			return open
		default:
			open = mate
		}
	}
	return 0
}

// pytestMark matches a mark of pytest that a test puts on itself: request.applymarker(pytest.mark.xfail).
var pytestMark = regexp.MustCompile(`skip|xfail`)

// throwsSkip reports whether a statement throws an exception that ends a test as skipped.
func (s *side) throwsSkip(i int) bool {
	last := ""
	for n := i + 1; n < i+10 && (s.kindOf(n) == word || s.of(n) == "." || s.of(n) == "::" || s.of(n) == "\\"); n++ {
		last = s.of(n)
	}
	return matchesAny(skippedBy, last)
}

// start is the first token of a unit's statements. A function of Kotlin can be a call with a block: fun f() = g { … }.
func (u *unit) start() int {
	s := u.side
	for i := u.body; s.of(u.body-1) == "=" && i < min(u.to, u.body+maxHead); i++ {
		switch mate := s.mate(i); {
		case s.of(i) == "{":
			return i + 1
		case s.of(i) == "(" && mate > i:
			i = mate
		case s.kindOf(i) != word:
			return u.body
		}
	}
	return u.body
}

// endsHere reports whether a return has no value. In Kotlin it may name what it returns from, and in Rust it may be Ok(()).
func (s *side) endsHere(i int) bool {
	if s.lang.rust && s.of(i+1) == "Ok" && s.arguments(i+2) == "( )" {
		i = s.mate(i + 2)
	}
	if s.of(i) == "return" && s.of(i+1) == "@" && !s.tokens[i+1].first {
		i += 2
	}
	if nothing[s.of(i+1)] {
		i++
	}
	return i+1 >= len(s.tokens) || s.tokens[i+1].first || s.of(i+1) == ";" || s.of(i+1) == "}"
}

// nothing are the words for no value.
var nothing = set("None undefined null nil")

// skipHelper reports whether a statement calls a function whose name says that it skips.
func (s *side) skipHelper(i int) bool {
	t, method, next := s.of(i), s.of(i-1) == "." || s.of(i-1) == "->", s.of(i+1)
	if s.lang.rust && next == "!" {
		next = s.of(i + 2)
	}
	if len(t) < 4 || next != "(" && !s.lang.ruby && !s.commands[i] || method && s.kindOf(i-3) != sign && s.of(i-3) != "}" {
		return false
	}
	if t == strings.ToUpper(t) { // a macro
		t = strings.ToLower(t)
	}
	t = strings.TrimPrefix(t, "XCT")
	rest, ok := strings.CutPrefix(strings.Replace(strings.ToLower(t[:1])+t[1:], "omit", "skip", 1), "skip")
	at := i
	for s.of(at-1) == "try" || s.of(at-1) == "await" {
		at--
	}
	statement := s.tokens[at].first || method && s.tokens[i-2].first
	return ok && statement && (s.named(i+2, nil) == "t" || s.lang.rust && rest == "" && next != s.of(i+1) ||
		slices.ContainsFunc(skipReasons, func(reason string) bool { return strings.HasPrefix(rest, reason) }))
}

// maxLinks bounds the calls of a chain that are looked at before one of them.
const maxLinks = 20

// receiver reports whether a call has one of the listed receivers; "assume()" is what a call of assume returns, also
// through further calls.
func (s *side) receiver(i int, listed string) bool {
	dotted := s.of(i-1) == "." || s.of(i-1) == "->" || s.of(i-1) == "::"
	if listed == "*" {
		return true
	}
	if s.lang.python && listed != "" { // from pytest import skip, import pytest as pt
		of := i
		if dotted {
			of -= 2
		}
		if from := strings.TrimSpace(s.imports()[s.of(of)].from); from != "" && slices.Contains(strings.Fields(listed), from) {
			return true
		}
	}
	if listed == "" {
		return !dotted && s.of(i-1) != "def" && s.of(i+1) != ":" && s.of(i+1) != "="
	}
	if !dotted {
		return false
	}
	all := strings.Fields(listed)
	for at, left := i-2, maxLinks; s.of(at) == ")" && s.mate(at) > 0 && left > 0; at, left = at-2, left-1 {
		if at = s.mate(at) - 1; slices.Contains(all, s.of(at)+"()") {
			return true
		}
		if s.of(at-1) != "." {
			return false
		}
	}
	of := s.of(i - 2)
	return slices.ContainsFunc(all, func(r string) bool {
		end, any := strings.CutPrefix(r, "*")
		return r == of || any && strings.HasSuffix(of, end)
	})
}

// condition is a condition for the code after it to run.
type condition struct {
	text string
	at   int
}

// under is the innermost condition around a token that begins at the token from or after it; "" for none.
func (s *side) under(i, from int) string {
	if all := s.conditionsAt(i, from); len(all) > 0 {
		return all[0].text
	}
	return ""
}

// conditionsAt returns the conditions around a token, innermost first, that begin at the token from or after
// it.
func (s *side) conditionsAt(i, from int) (out []condition) {
	if s.lang.shell {
		for _, g := range slices.Backward(s.branches) {
			if from <= g.from && g.from <= i && i < g.to {
				out = append(out, condition{g.cond, g.from})
			}
		}
		return out
	}
	if s.lang.layout == braces {
		for open, levels := i, 0; open >= from && levels < maxDepth; open, levels = int(s.outer[open]), levels+1 {
			for n := open - 1; n >= max(from, open-60); n-- {
				t := s.of(n)
				if s.outer[n] != s.outer[open] {
					continue
				}
				if conditional[t] && (open != i || from > 0) {
					out = append(out, condition{s.plain(n, open), n})
				}
				above := s.tokens[n].first && open != i && s.line(n) < s.line(open)
				if conditional[t] || t == ";" || t == "{" || t == "}" || above && !joining[t] && !joining[s.of(n-1)] {
					break
				}
			}
		}
		return out
	}
	for n := i + 1; s.lang.layout == ends && n < len(s.tokens) && s.line(n) == s.line(i); n++ { // a condition: "… if …"
		if s.of(n) == "if" || s.of(n) == "unless" {
			return append(out, condition{s.lineOf(n), n})
		}
	}
	column := s.tokens[i].column
	for n := i - 1; column > 0 && n >= max(from, i-4*maxHead); n-- {
		t := s.tokens[n]
		if !t.first || t.column >= column || s.lang.python && s.outer[n] >= 0 || s.closes(n) {
			continue
		}
		column = t.column
		if conditional[s.of(n)] {
			out = append(out, condition{s.lineOf(n), n})
		}
	}
	return out
}

// lineOf is the text of a line from a token to its end, with the lines that its brackets enclose.
func (s *source) lineOf(i int) string {
	last := i + 1
	for last < min(len(s.tokens), i+maxHead) && !(s.tokens[last].first && s.outer[last] == s.outer[i] && !s.closes(last)) {
		last++
	}
	return s.plain(i, last)
}
