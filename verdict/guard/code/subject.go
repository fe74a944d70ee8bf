package code

import (
	"maps"
	"path"
	"strings"
)

// vanished is what a change takes out of the code that is not tests, so that a test of
// it goes with it.
type vanished struct {
	words   map[string]int // how much more, or less, often each word stands there
	had     map[string]int // how often it stood there
	defined map[string]int // 1 for a name that is defined at the head, -1 only before
	bodies  map[uint64]bool
	gone    []gone
	stems   map[string]bool // of files of which nothing is left
	touched bool            // something besides tests changed
	lower   map[string]bool // the names that are gone, in lower case
}

// gone is a definition of before.
type gone struct {
	name   string
	digest uint64
	size   int
}

func (v *vanished) init() {
	v.lower, v.stems = map[string]bool{}, map[string]bool{}
	v.words, v.had, v.defined, v.bodies = map[string]int{}, map[string]int{}, map[string]int{}, map[uint64]bool{}
}

// count adds the words of a text, or takes them off.
func (v *vanished) count(content string, by int) {
	if len(content) > maxSource/8 {
		return
	}
	for i := 0; i < len(content); {
		if !isWordStart(content[i]) {
			i++
			continue
		}
		from := i
		for i < len(content) && isWordByte(content[i]) {
			i++
		}
		v.word(content[from:i], by)
	}
}

func (v *vanished) word(w string, by int) {
	if len(w) > 2 {
		v.words[w] += by
		if by < 0 {
			v.had[w]++
		}
	}
}

// side adds what one side of a file says besides its tests, or takes it off.
func (v *vanished) side(s *side, by int) {
	if s == nil {
		return
	}
	inTests := func(u *unit) bool { return u.role == test || u.role == group && u.word == "mod" }
	i := 0
	upTo := func(end int) {
		for ; i < end && i < len(s.tokens); i++ {
			switch s.tokens[i].kind {
			case word:
				v.word(s.of(i), by)
			case text:
				v.count(s.of(i), by)
			}
		}
	}
	for _, u := range s.units {
		if inTests(u) && u.from >= i {
			upTo(u.from)
			i = u.to
		}
		if u.role != definition || u.within(test) || u.parent != nil && inTests(u.parent) {
			continue
		}
		s.digestOf(u)
		if by > 0 {
			v.defined[u.name] = 1
			v.bodies[u.digest] = true
		} else {
			v.gone = append(v.gone, gone{u.name, u.digest, u.size})
		}
	}
	upTo(len(s.tokens))
}

// settle decides which definitions are gone: those of which neither the name nor, under
// another name, the body is left.
func (v *vanished) settle() {
	for _, g := range v.gone {
		if v.defined[g.name] == 0 && !(g.size > 6 && v.bodies[g.digest]) {
			v.defined[g.name] = -1
			v.lower[strings.ToLower(g.name)] = true
		}
	}
	v.gone = nil
	for _, n := range v.words {
		v.touched = v.touched || n != 0
	}
}

// subject says what became of what a test tests.
type subject uint8

const (
	stays   subject = iota // nothing that the test names is gone
	changed                // something that it names is said no more
	deleted                // something that it names is defined no more
)

// removed notes a source file that is gone, after settle.
func (v *vanished) removed(s *side) {
	for _, u := range s.units {
		if u.role == definition && v.defined[u.name] >= 0 {
			return
		}
	}
	v.stems[stem(s.path)] = true
}

// stem is what a source file and the file of its tests are both called.
func stem(name string) string {
	base, _, _ := strings.Cut(strings.ToLower(path.Base(name)), ".")
	for _, affix := range []string{"tests", "test", "specs", "spec"} {
		base = strings.TrimSuffix(strings.TrimPrefix(base, affix), affix)
	}
	return strings.Trim(base, "_-")
}

// minNamed is how long the name of a definition is that the name of a test mentions in full.
const minNamed = 10

// withHelpers are the words of a unit and of the definitions of its file that it names.
func (s *side) withHelpers(u *unit) map[string]bool {
	words := maps.Clone(s.wordsOf(u))
	for _, helper := range s.units {
		if helper.role == definition && helper != u && s.tests && s.wordsOf(u)[helper.name] && helper.name != "" {
			maps.Copy(words, s.wordsOf(helper))
		}
	}
	return words
}

// of is what became of the subject of a test that is gone with a scope around it, such as
// its class. Where one thing that it names is gone and another one stays, that is not certain.
func (v *vanished) of(u, scope *unit) subject {
	out, gone, left := stays, false, false
	if v.stems[stem(u.side.path)] {
		return deleted
	}
	for w := range u.side.wordsOf(u) {
		for _, part := range strings.FieldsFunc(w, func(r rune) bool { return r < 128 && !isWordByte(byte(r)) }) {
			gone = gone || v.defined[part] < 0 && len(part) > 3
			left = left || v.defined[part] > 0
		}
	}
	for w := range scope.side.withHelpers(scope) {
		for _, part := range strings.FieldsFunc(w, func(r rune) bool { return r < 128 && !isWordByte(byte(r)) }) {
			if len(part) > 3 && v.had[part] > 0 && v.had[part]+v.words[part] <= 0 {
				out = changed
			}
		}
	}
	for w := range nameWords(u.name) {
		if len(w) > 4 && v.lower[w] {
			return deleted
		}
	}
	name := strings.ToLower(u.name)
	for w := range v.lower {
		if len(w) > minNamed && strings.Contains(name, w) {
			return deleted
		}
	}
	switch {
	case gone && !left:
		return deleted
	case gone:
		return changed
	}
	return out
}

// isSubject reports whether a file that is no source code is often what a test tests.
func isSubject(name string) bool {
	return subjects[strings.ToLower(path.Ext(name))]
}

var subjects = set(".html .erb .haml .slim .css .scss .proto .sql .graphql .json .xml .tmpl .jbuilder .jinja .j2 .mustache")
