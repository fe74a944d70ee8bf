package code

import "strings"

// braced finds the unit that begins at a word, in a language with braces.
func (f *finder) braced(i int) *unit {
	w, before, after := f.of(i), f.of(i-1), f.of(i+1)
	switch {
	case f.lang.calls[w] || f.lang.groups[w] || f.aliases[w].word != "":
		if u := f.call(i); u != nil {
			return u
		}
	case f.lang.macros[w] && after == "(":
		return f.macro(i)
	}
	if setUpBlocks[w] && len(f.lang.groups) > 0 {
		if u := f.setUp(i); u != nil {
			return u
		}
	}
	if role := f.lang.infix[w]; role != definition {
		return f.infix(i, role)
	}
	if w == "def" && f.kindOf(i+1) == text && f.lang.name == "Java" { // Spock: def "pays"() { … }
		if body, to := f.extent(i + 2); to > 0 {
			return &unit{role: test, name: contentOf(f.of(i + 1)), word: w, at: i + 1, from: f.headOf(i), body: body, to: to}
		}
	}
	if f.lang.define[w] && before != "." && before != "::" {
		return f.defined(i)
	}
	if generic := f.lang.cstyle && after == "<"; generic && f.typed(i) {
		after = f.of(f.pastAngles(i + 1))
	}
	if f.lang.cstyle && after == "(" && !control[w] && before != "new" && before != "." && before != "return" && before != "=" {
		return f.method(i)
	}
	return nil
}

// defined reads a definition that begins with a keyword.
func (f *finder) defined(i int) *unit {
	n := i + 1
	for f.of(n) == "*" || f.of(n) == "&" || f.of(n) == "!" {
		n++
	}
	if f.of(n) == "<" {
		n = f.pastAngles(n)
	}
	for f.kindOf(n) == word && (f.of(n+1) == "." || f.of(n) == "class" && f.of(i) == "enum" || f.of(n) == "struct" && f.of(i) == "enum") {
		n++
		if f.of(n) == "." {
			n++
		}
	}
	if f.kindOf(n) != word {
		return nil
	}
	open, to := f.extent(n + 1)
	if to < 0 && f.lang.newlines && f.tests && f.of(i) == "class" { // all that it has is inherited
		to = open
	}
	if to < 0 {
		return nil
	}
	return &unit{name: strings.Trim(f.of(n), "`"), word: f.of(i), at: n, from: f.headOf(i), body: open, to: to}
}

// method reads a function written as a type, a name, parameters and a body.
func (f *finder) method(i int) *unit {
	open := i + 1
	if f.of(open) == "<" {
		open = f.pastAngles(open)
	}
	closing := f.mate(open)
	if closing < 0 || f.kindOf(i-1) == number || f.kindOf(i-1) == text || f.lang.define[f.of(i-1)] {
		return nil
	}
	if !f.typed(i) {
		return nil
	}
	open, to := f.extent(open)
	if to < 0 || open >= len(f.tokens) || f.of(open-1) != "{" && f.of(open-1) != "=>" {
		return nil
	}
	return &unit{name: f.of(i), word: "method", at: i, from: f.headOf(i), body: open, to: to}
}

// typed reports whether the token before a name can be a type, or the class body of a script.
func (f *finder) typed(i int) bool {
	switch before := f.of(i - 1); {
	case f.kindOf(i-1) == word:
		return !control[before] && before != "case"
	case before == ">" || before == "]" || before == "*" || before == "&" || before == "?":
		return true
	default:
		return f.lang.newlines && (before == "{" || before == "}" || before == ";" || before == ",")
	}
}

// maxHead bounds the tokens of a head.
const maxHead = 400

// extent is, for a definition whose name ends before a token, the first token of its body and the index after
// its last token; the latter is -1 without a body.
func (f *finder) extent(i int) (body, to int) {
	last := min(len(f.tokens), i+maxHead)
	for from := i; i < last; i++ {
		t := f.of(i)
		switch {
		case t == ";" || t == ")" || t == "}" || t == "]":
			return i, -1
		case t == "{" && (f.of(i-1) == ":" || f.of(i-1) == "<" || f.of(i-1) == "|") && f.lang.newlines:
			i = f.mate(i)
		case t == "{":
			if f.mate(i) < 0 {
				return i, -1
			}
			return i + 1, f.mate(i) + 1
		case t == "=" || t == "=>":
			return f.expression(i + 1)
		case t == "(" || t == "[":
			i = f.mate(i)
		case f.lang.newlines && i > from && f.tokens[i].first && (f.lang.define[t] || t == "@"):
			return i, -1
		}
		if i < from {
			break
		}
	}
	return i, -1
}

// expression is the extent of a definition whose body is an expression.
func (f *finder) expression(i int) (body, to int) {
	body = i
	for i < len(f.tokens) {
		t := f.of(i)
		switch {
		case t == ";" || t == ")" || t == "}" || t == "]":
			return body, i
		case f.tokens[i].first && i > body && (f.begins(i) || f.tokens[i].column == 0 && t != "."):
			return body, i
		case f.mate(i) > i:
			i = f.mate(i)
			if t == "{" && (i+1 >= len(f.tokens) || f.tokens[i+1].first && f.of(i+1) != ".") {
				return body, i + 1
			}
		}
		i++
	}
	return body, i
}

// begins reports whether a word at the beginning of a line begins a definition.
func (f *finder) begins(i int) bool {
	t := f.of(i)
	return f.lang.newlines && (f.lang.define[t] || t == "@" || modifiers[t])
}

// headOf is the first token of the marks and modifiers before a definition.
func (f *finder) headOf(i int) int {
	for i > 0 {
		p := i - 1
		switch t := f.of(p); {
		case f.tokens[p].kind == word && (f.of(p-1) == "@" || f.of(p-1) == "." || f.of(p-1) == "::"):
			i = p - 1
		case f.tokens[p].kind == word && !statement[t] && (modifiers[t] || !f.lang.newlines || !f.tokens[i].first):
			i = p
		case t == ")" && f.mate(p) > 0 && f.kindOf(f.mate(p)-1) == word && f.marked(f.mate(p)-1):
			i = f.mate(p)
		case t == "]" && f.mate(p) >= 0 && !f.lang.newlines || t == "]" && f.mate(p) > 0 && f.of(f.mate(p)-1) == "#":
			open := f.mate(p)
			if f.of(open-1) == "!" { // Rust's #![…] applies to the file
				return i
			}
			if i = open; f.of(i-1) == "#" {
				i--
			}
		case t == ">" && !f.lang.newlines:
			if i = f.angle(p, -1); i == p {
				return p + 1
			}
		case (t == "." || t == "::" || t == "?" || t == "*" || t == "&") && !f.lang.newlines, t == "." || t == "@":
			i = p
		default:
			return i
		}
	}
	return i
}

// marked reports whether a word is the name of an annotation or an access such as pub(crate).
func (f *finder) marked(i int) bool {
	for f.of(i-1) == "." && f.kindOf(i-2) == word {
		i -= 2
	}
	return f.of(i-1) == "@" || f.of(i-1) == ":" || modifiers[f.of(i)]
}

// past is the index after the brackets that begin at a token, or its own index if none do.
func (s *source) past(i int) int {
	if s.of(i) == "(" && s.mate(i) > 0 {
		return s.mate(i) + 1
	}
	return i
}

// pastAngles is the index after the bracket that closes "<", or the index of "<" if nothing closes it.
func (s *source) pastAngles(i int) int {
	if end := s.angle(i, 1); end != i {
		return end + 1
	}
	return i
}

// angle is the index of the bracket that belongs to "<" (step is 1) or to ">" (step is -1), or its own index if there is none.
func (s *source) angle(i, step int) int {
	depth := 0
	for n := i; n >= 0 && n < len(s.tokens) && n < i+maxHead && n >= i-maxHead; n += step {
		switch s.of(n) {
		case "<":
			depth += step
		case ">":
			depth -= step
		case ";", "{", "}":
			return i
		}
		if depth == 0 {
			return n
		}
	}
	return i
}

// alias is another name for a function that makes a test in a script, and skips the test on a condition:
// "const onPosix = isWindows() ? test.skip : test".
type alias struct{ word, cond string }

// aliased finds the aliases of a file.
func (f *finder) aliased() {
	for i := 0; i+3 < len(f.tokens); i++ {
		if f.of(i) != "const" || f.kindOf(i+1) != word || f.of(i+2) != "=" {
			continue
		}
		q := i + 3
		for q < min(len(f.tokens), i+maxHead) && f.of(q) != "?" && f.of(q) != ";" && f.of(q) != "const" {
			q++
		}
		yes, n := f.choice(q + 1)
		no, _ := f.choice(n + 1)
		cond := f.plain(i+3, min(q, len(f.tokens)))
		if no.cond != "" {
			cond = "! " + cond
		}
		if f.of(q) == "?" && f.of(n) == ":" && yes.word != "" && yes.word == no.word && yes.cond != no.cond {
			f.aliases[f.of(i+1)] = alias{yes.word, cond}
		}
	}
}

// choice reads "test" or "test.skip". It returns the alias and the index of the token after it.
func (f *finder) choice(i int) (a alias, end int) {
	if w := f.of(i); f.lang.calls[w] || f.lang.groups[w] {
		a.word = w
	}
	if f.of(i+1) == "." && chained[f.of(i+2)] == skips {
		return alias{a.word, f.of(i + 2)}, i + 3
	}
	return a, i + 1
}
