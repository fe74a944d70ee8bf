package guard

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// untested are files that no test's result depends on.
var untested = regexp.MustCompile(`(?i)\.(?:md|rst|adoc|mdx|png|jpe?g|gif|svg)$|(?:^|/)(?:\.github|\.touchstone|docs?)/|(?:^|/)(?:LICENSE|CHANGELOG|CODEOWNERS|NOTICE)[^/]*$`)

// onlyTests reports whether a change, of which all names are known, touches nothing
// that a test's result depends on but tests.
func onlyTests(p *patch) bool {
	if p.names == nil {
		return false
	}
	byName := map[string]*file{}
	for _, f := range p.files {
		byName[f.old.path], byName[f.new.path] = f, f
	}
	return !slices.ContainsFunc(p.names, func(name string) bool {
		f := byName[name]
		switch {
		case untested.MatchString(name):
			return false
		case !isTest(name) || isSnapshot(name):
			return true
		}
		return f != nil && languageOf(name) == rust && untestedCode(f.old) != untestedCode(f.new)
	})
}

// untestedCode is what a Rust file holds besides its tests.
func untestedCode(s side) string {
	var out strings.Builder
	inTest := make([]bool, len(s.lines)+1)
	for _, t := range testcasesOf(nil, s) {
		for i := t.first; i <= t.stop; i++ {
			inTest[i] = true
		}
	}
	for i, line := range s.lines {
		if !inTest[i+1] {
			out.WriteString(line + "\n")
		}
	}
	return out.String()
}

var (
	value   = regexp.MustCompile(literals.String() + `|\b(?:[tT]rue|[fF]alse|nil|null|None)\b`)
	wanted  = regexp.MustCompile(`(?i)\b(?:want|exp\w*|result|out\w*)\w*["']?\s*[:=]`)
	caption = regexp.MustCompile(`^(?:name|desc|description|title|scenario)\s*:|^\{?"[^"]*"\s*,?$`)
)

// lastValue is the last value in a line: rows of tables end in what is expected.
func lastValue(line string) string {
	all := value.FindAllString(line, -1)
	return strings.Join(all[max(0, len(all)-1):], "")
}

// expectsOtherwise finds the first assertion, or row of a table, of a test that is the
// same but for a value, where nothing but values changed in the test. It is asked only
// where nothing else changed that could have changed the result.
func expectsOtherwise(b, a *testcase) []Hit {
	lines := func(t *testcase) (out []claim) {
		for i, line := range t.whole() {
			out = append(out, claim{strings.TrimSpace(line), t.first + i})
		}
		return out
	}
	removed, added := differ(lines(b), lines(a)), differ(lines(a), lines(b))
	if len(removed) == 0 || len(removed) != len(added) {
		return nil
	}
	asserted := map[int]bool{}
	for _, c := range claims(a) {
		asserted[c.line] = true
	}
	var hits []Hit
	for i, r := range removed {
		w := added[i]
		if value.ReplaceAllString(r.text, "#") != value.ReplaceAllString(w.text, "#") {
			return nil
		}
		row := (caseRow.MatchString(w.text) || strings.Contains(w.text, "parametrize(")) && (wanted.MatchString(w.text) || lastValue(r.text) != lastValue(w.text))
		if len(hits) == 0 && (asserted[w.line] || row) && !messages.MatchString(w.text) && !caption.MatchString(w.text) && !tolerance.MatchString(w.text) {
			hits = []Hit{{Assertion, a.f.path(), w.line, r.text, w.text, "Another result is expected than before, and nothing that could give it changed."}}
		}
	}
	return hits
}

// tags are marks by which a run can leave tests out. The first group that is not
// empty is the tag.
var tags = map[language]*regexp.Regexp{
	python:     regexp.MustCompile(`(?:@pytest\.|^\s*pytestmark\s*=.*|\[.*|,\s*|^\s+pytest\.)mark\.(\w+)`),
	java:       regexp.MustCompile(`^\s*@(?:Tag|Tags|Category|IncludeTags|Flaky|Retry\w*)\b\(?([^)]*)`),
	csharp:     regexp.MustCompile(`^\s*\[(?:\w+,\s*)?((?:Trait|Category|TestCategory|Retry|RetryFact|Explicit)\([^)]*)`),
	ruby:       regexp.MustCompile(`^\s*(?:RSpec\.)?(?:it|describe|context|specify|feature|scenario)\b.*,\s*(:\w+|\w+: true)\s+do\b`),
	javascript: regexp.MustCompile(`^\s*(?:it|test|describe)\b.*\btag:\s*(\[?["'@][^}]*)|\b(?:jest\.retryTimes|this\.retries|test\.describe\.configure)\((.*)`),
}

// harmlessTags say how a test is run, not whether.
var harmlessTags = regexp.MustCompile(`^(?:parametrize|usefixtures|asyncio|anyio|trio|django_db|filterwarnings|timeout|xdist_group|order|dependency|vcr|freeze_time|respx|httpx_mock|benchmark|urls|enable_socket|skip|skipif|xfail|:?aggregate_failures|:?js|:?vcr|:?freeze_time|js: true|\{ ?mode: ["'](?:parallel|serial)["'].*|0\)?;?)$`)

// tagged finds marks that are new on old tests and by which a run may leave them out,
// or run them again until they pass.
func tagged(f *file, m *pairing) []Hit {
	pattern := tags[languageOf(f.new.path)]
	if pattern == nil || !isTest(f.new.path) && path.Base(f.new.path) != "conftest.py" || f.old.path == "" {
		return nil
	}
	find := func(line string) string {
		g := pattern.FindStringSubmatch(line)
		if g == nil || strings.HasPrefix(strings.TrimSpace(line), "//") {
			return ""
		}
		if tag := firstOf(g[1:]); !harmlessTags.MatchString(tag) {
			return tag
		}
		return ""
	}
	had := map[string]int{}
	for _, line := range f.old.lines {
		had[find(line)]++
	}
	for i, line := range f.new.lines {
		tag := find(line)
		if tag == "" {
			continue
		}
		if t := testAt(m, f, i+1); t != nil && m.was[t] == nil {
			continue // a test that is new
		}
		if had[tag]--; had[tag] < 0 {
			return []Hit{{Test, f.path(), i + 1, "", f.new.at(i + 1), "By this mark a run may leave the test out, or repeat it until it passes."}}
		}
	}
	return nil
}
