package guidelines

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Bounds on a scope, so that deciding it stays cheap for every file.
const (
	maxScopeBytes = 1000
	maxScopeTerms = 50
)

// Scope decides to which changes a rule applies. Compile makes it; the zero Scope applies to nothing.
type Scope struct {
	text         string
	alternatives [][]term
}

// term is one word of a scope: a pattern, a kind of file or, if it has neither, a predicate about the whole
// change.
type term struct {
	text    string // as written, without the negation
	negated bool
	pattern *regexp.Regexp
	kind    kinds
}

// Compile parses a scope in the grammar of README.md: at most 1,000 bytes and 50 terms. Its error says which
// word cannot be decided and what is allowed in its place.
func Compile(scope string) (Scope, error) {
	if len(scope) > maxScopeBytes {
		return Scope{}, fmt.Errorf("a scope has at most %d bytes, this has %d", maxScopeBytes, len(scope))
	}
	compiled := Scope{text: strings.TrimSpace(scope)}
	if compiled.text == "" {
		return Scope{}, errors.New("the scope is empty: write all for every change")
	}
	count := 0
	for alternative := range strings.SplitSeq(scope, ",") {
		var terms []term
		for _, word := range strings.Fields(alternative) {
			t, err := compileTerm(word)
			if err != nil {
				return Scope{}, err
			}
			terms = append(terms, t)
		}
		if len(terms) == 0 {
			return Scope{}, errors.New("a comma in a scope has nothing on one side of it")
		}
		if count += len(terms); count > maxScopeTerms {
			return Scope{}, fmt.Errorf("a scope has at most %d words", maxScopeTerms)
		}
		compiled.alternatives = append(compiled.alternatives, terms)
	}
	return compiled, nil
}

func compileTerm(word string) (term, error) {
	text, negated := strings.CutPrefix(word, "!")
	t := term{text: text, negated: negated, kind: fileWords[text]}
	switch {
	case text == "":
		return term{}, errors.New("! has nothing behind it: write it in front of a word, without a space")
	case strings.ContainsAny(text, "/*?."):
		pattern, err := compilePattern(text)
		t.pattern = pattern
		return t, err
	case slices.Contains(predicates(), text):
		return t, nil
	}
	return term{}, fmt.Errorf("%q cannot be decided: it is none of %s, and a path pattern has a / * ? or . in it",
		text, strings.Join(predicates(), ", "))
}

// predicates returns the words that a scope may use, sorted.
func predicates() []string {
	words := slices.AppendSeq(slices.Collect(maps.Keys(fileWords)), maps.Keys(changePredicates))
	return slices.Sorted(slices.Values(append(words, wordDocsOnly)))
}

// compilePattern translates a path pattern to a regular expression, because Go's regular expressions run in
// linear time for every pattern and path.
func compilePattern(pattern string) (*regexp.Regexp, error) {
	refuse := func(why string) (*regexp.Regexp, error) {
		return nil, fmt.Errorf("the pattern %q matches nothing: %s", pattern, why)
	}
	switch {
	case strings.HasPrefix(pattern, "/"), strings.HasPrefix(pattern, "./"), strings.HasSuffix(pattern, "/"):
		return refuse("it is a whole path from the repository's root, such as src/** or **/*.go")
	case strings.ContainsAny(pattern, `{}\!`):
		return refuse("write alternatives with a comma, and ? for a character that has a meaning")
	}
	var expr strings.Builder
	segments := strings.Split(pattern, "/")
	for i, segment := range segments {
		last := i == len(segments)-1
		switch {
		case segment == "" || segment == "." || segment == "..":
			return refuse("a path has no empty segment, no . and no ..")
		case segment == "**" && last:
			expr.WriteString(`.+`)
		case segment == "**":
			expr.WriteString(`(?:[^/]+/)*`)
		case strings.Contains(segment, "**"):
			return refuse("** stands for whole segments, as in **/*.go")
		default:
			quoted := regexp.QuoteMeta(segment)
			quoted = strings.ReplaceAll(quoted, `\*`, `[^/]*`)
			expr.WriteString(strings.ReplaceAll(quoted, `\?`, `[^/]`))
			if !last {
				expr.WriteString("/")
			}
		}
	}
	return regexp.Compile(`(?s)\A` + expr.String() + `\z`)
}

// String returns the scope as written.
func (s Scope) String() string { return s.text }

// Applies reports whether a rule with this scope applies to the change: whether one changed file meets the
// scope, under its new or its old path. Nothing applies to a change without files. why gives the reason for
// people.
func (s Scope) Applies(change Change) (applies bool, why string) {
	if s.text == "" { // as most repositories' own scopes: looking at each file for it would take time
		return false, "the scope is empty"
	}
	return s.decide(look(change, s.asked()))
}

// asked returns the kinds of files that the scope names, and ofChange if it has a word about the whole
// change.
func (s Scope) asked() (all kinds) {
	for _, terms := range s.alternatives {
		for _, t := range terms {
			if all |= t.kind; t.kind == 0 && t.pattern == nil {
				all |= ofChange
			}
		}
	}
	return all
}

// look decides everything that is asked about a change, so that many scopes can be matched against the
// result.
func look(change Change, asked kinds) facts {
	f := facts{said: map[string]string{}}
	for word, holds := range changePredicates {
		if asked&ofChange == 0 {
			break
		}
		if reason, ok := holds(change); ok {
			f.said[word] = reason
		}
	}
	for _, file := range change.Files {
		var views []view
		for _, path := range file.paths() {
			views = append(views, viewsOf(path, file, asked)...)
		}
		f.files = append(f.files, views)
	}
	if docsOnly(f.files) {
		f.said[wordDocsOnly] = "every changed file is prose"
	}
	return f
}

// facts are what is known about a change.
type facts struct {
	said  map[string]string // why a predicate about the whole change holds, by its word
	files [][]view          // each changed file under each of its paths
}

type view struct {
	path  string
	kinds kinds
}

// viewsOf returns a file under one of its paths: twice if the file contains code and its tests, and the
// change touches both.
func viewsOf(path string, file File, asked kinds) []view {
	k := kindsOf(path, file, asked)
	if asked&isTests == 0 || k&isTests != 0 || !strings.HasSuffix(path, ".rs") {
		return []view{{path, k}}
	}
	tests, others := inlineTests(file)
	var views []view
	if others || !tests {
		views = append(views, view{path, k})
	}
	if tests {
		views = append(views, view{path, isCode | isTests})
	}
	return views
}

func (s Scope) decide(f facts) (applies bool, why string) {
	for _, terms := range s.alternatives {
		first, others := "", 0
		for _, views := range f.files {
			switch {
			case !slices.ContainsFunc(views, func(v view) bool { return f.meets(v, terms) }):
			case first == "":
				first = spell(views[0].path)
			default:
				others++
			}
		}
		if first != "" {
			return true, f.reason(terms, first, others)
		}
	}
	return false, "no changed file meets it"
}

// meets reports whether a file, under one path, meets all terms.
func (f facts) meets(v view, terms []term) bool {
	for _, t := range terms {
		holds := v.kinds&t.kind != 0
		if t.pattern != nil {
			holds = t.pattern.MatchString(v.path)
		} else if t.kind == 0 {
			_, holds = f.said[t.text]
		}
		if holds == t.negated {
			return false
		}
	}
	return true
}

// reason says why an alternative is met: by which files, and by which property of the whole change.
func (f facts) reason(terms []term, first string, others int) string {
	var parts []string
	ofFiles := false
	for _, t := range terms {
		if t.pattern != nil || t.kind != 0 {
			ofFiles = true
		} else if !t.negated {
			parts = append(parts, f.said[t.text])
		}
	}
	if ofFiles || len(parts) == 0 {
		if others > 0 {
			first = fmt.Sprintf("%s and %d more", first, others)
		}
		parts = append([]string{first}, parts...)
	}
	return strings.Join(parts, "; ")
}

// never reports whether no change at all can meet the scope.
func (s Scope) never() bool {
	return !slices.ContainsFunc(s.alternatives, possible)
}

// apart reports whether no file can meet both scopes.
func (s Scope) apart(other Scope) bool {
	for _, terms := range s.alternatives {
		for _, more := range other.alternatives {
			if possible(slices.Concat(terms, more)) {
				return false
			}
		}
	}
	return true
}

// possible reports whether a file can meet all terms, as far as their words show.
func possible(terms []term) bool {
	var is, isNot kinds
	for _, t := range terms {
		switch {
		case t.negated && (t.text == "all" || slices.ContainsFunc(terms, func(u term) bool { return !u.negated && u.text == t.text })):
			return false
		case t.negated:
			isNot |= t.kind
		case t.text == wordDocsOnly:
			is |= isDocs
		default:
			is |= t.kind
		}
	}
	return is&isNot == 0 && !exclusive(is)
}
