package guard

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// skips keep a test from running, or from failing. In Go a build constraint
// does so for the whole file.
var skips = map[language]*regexp.Regexp{
	golang:     regexp.MustCompile(`\b[tbf]\.Skip(?:Now|f)?\(|^//go:build |^// \+build |\btesting\.Short\(\)`),
	javascript: regexp.MustCompile(`\b(?:x(?:it|test|describe|context)\b|(?:it|test|describe|context|suite|specify)(?:\.\w+)*\.(?:skip|todo|fixme|failing|fails|skipIf|runIf)\b|^\s*if \((?:.*process\.env|false|0)\b|this\.skip\(\)|ctx\.skip\()`),
	python:     regexp.MustCompile(`@?(?:pytest\.)?mark\.(?:skip|skipif|xfail)\b|@(?:unittest\.)?(?:skip\w*|expectedFailure)\b|pytest\.(?:skip|xfail|importorskip)\(|self\.skipTest\(|SkipTest\(|__test__\s*=\s*False`),
	java:       regexp.MustCompile(`@(?:Disabled|Ignore|DisabledIf|DisabledOn|EnabledIf|EnabledOn)\w*|\bassume(?:True|False|That|Not)\w*\(|enabled\s*=\s*false|SkipException\(|Assumptions\.`),
	csharp:     regexp.MustCompile(`\bSkip\s*=\s*["\w]|^\s*#if\b|\[Ignore\b|\[Explicit\b|Assert\.(?:Ignore|Inconclusive)\(|Skip\.If`),
	rust:       regexp.MustCompile(`#\[ignore\b|cfg_attr\([^,]+,\s*ignore|#!?\[cfg\((?:[^t]|t[^e]|te[^s]|tes[^t]|test[^)])|#\[should_panic`),
	ruby:       regexp.MustCompile(`^\s*x(?:it|describe|context|specify|example|scenario)\b|^\s*(?:skip|pending)\b|,\s*:?(?:skip|pending)\b`),
}

// focuses keep all other tests from running.
var focuses = map[language]*regexp.Regexp{
	javascript: regexp.MustCompile(`^\s*(?:f(?:it|describe|context)\b|(?:it|test|describe|context|suite)(?:\.\w+)*\.only\b)`),
	ruby:       regexp.MustCompile(`^\s*f(?:it|describe|context|specify)\b|,\s*(?:focus:\s*true|:focus)\b`),
}

var earlyReturn = regexp.MustCompile(`^(?:return|return;|return nil;?|pass|next|throw pending.*)$`)

// tests finds tests that are gone, do not run, or test less than they did.
func tests(p *patch) []Hit {
	m := pairTests(p)
	gone := vanished(p)
	pool, alone := linePool(p), onlyTests(p)
	hits := lost(p, m, gone)
	for _, f := range p.files {
		hits = append(hits, skipped(f, m)...)
		hits = append(hits, tagged(f, m)...)
		hits = append(hits, uncounted(f)...)
		hits = append(hits, mocked(f, m)...)
		hits = append(hits, knowing(f)...)
		hits = append(hits, uncollected(f)...)
		hits = append(hits, unlinked(p, f)...)
		hits = append(hits, emptyMain(f)...)
		hits = append(hits, quieted(f)...)
		hits = append(hits, setups(f)...)
	}
	hits = append(hits, confined(p, m)...)
	for _, b := range m.before {
		if a := m.now[b]; a != nil && m.was[a] == b {
			found := weakened(b, a, gone, pool)
			if len(found) == 0 && alone {
				found = expectsOtherwise(b, a)
			}
			hits = append(hits, found...)
		}
	}
	return hits
}

// lost finds tests that are gone although what they test is not. Of a deleted
// file it reports only the first.
func lost(p *patch, m *pairing, gone map[string]bool) []Hit {
	var hits []Hit
	reported := map[*file]bool{}
	for _, b := range m.before {
		whole := b.f.deleted() || !isTest(b.f.new.path)
		if m.now[b] != nil || whole && reported[b.f] || subjectGone(p, b, gone) {
			continue
		}
		reported[b.f] = true
		why := "The test " + b.name + " is gone, and what it tests is not."
		if whole {
			why = "The file's tests are gone or no longer run, and what they test is still there."
		}
		hits = append(hits, Hit{Test, b.f.path(), b.start, b.s.at(b.start), "", why})
	}
	return hits
}

// subjectGone reports whether the change deletes what a test tests: the file that
// the test's own file is named after, with all that it defined; or what most of the
// test's exact assertions look at first. What a test merely uses on the way may go and
// the test is still owed.
func subjectGone(p *patch, b *testcase, gone map[string]bool) bool {
	if fileGone(p, b, gone) {
		return true
	}
	named, chiefly := namedAfter(b, gone)
	dead, owed := 0, 0
	f := flowOf(b)
	for _, c := range claims(b) {
		into := f.into(b, c)
		switch first := calls(into); {
		case len(first) == 0 && mentions(strings.Join(into, "\n"), gone), mentions(c.text, gone) && (len(first) == 0 || gone[first[0]] || len(calls([]string{c.text})) == 0):
			dead++
		case len(first) > 0 && gone[first[0]]:
			dead++
		case len(first) > 0 && strengthOf(c.text) > 1:
			owed++
		}
	}
	if dead+owed == 0 { // helpers assert for it
		return named || leads(b, gone)
	}
	return dead > 0 && dead >= owed || named && owed == 0 || chiefly
}

// namedAfter reports whether a test's name has that of something gone in it, and
// whether it is chiefly this name.
func namedAfter(b *testcase, gone map[string]bool) (named, chiefly bool) {
	low := strings.TrimPrefix(strings.ToLower(strings.ReplaceAll(b.name, "_", "")), "test")
	for name := range gone {
		name = strings.ToLower(strings.ReplaceAll(name, "_", ""))
		if strings.Contains(low, name) {
			named = true
			chiefly = chiefly || len(name) >= 6 && (strings.HasPrefix(low, name) || 2*len(name) > len(low))
		}
	}
	return named, chiefly
}

// leads reports whether at least half of what a test calls or names is gone.
func leads(b *testcase, gone map[string]bool) bool {
	all := calls(b.body()[min(1, len(b.body())-1):])
	n := 0
	for _, name := range all {
		if gone[name] {
			n++
		}
	}
	return n > 0 && 2*n >= len(all) || len(all) == 0 && mentions(strings.Join(b.whole(), "\n"), gone)
}

// fileGone reports whether the file that the test's own is named after is deleted and
// lives on nowhere.
func fileGone(p *patch, b *testcase, gone map[string]bool) bool {
	stem := stemOf(b.s.path)
	return slices.ContainsFunc(p.files, func(f *file) bool {
		if !f.deleted() || isTest(f.old.path) || languageOf(f.old.path) != languageOf(b.s.path) || stemOf(f.old.path) != stem {
			return false
		}
		return !slices.ContainsFunc(definitions(f.old), func(d block) bool { return !gone[d.name] && indentation(f.old.lines[d.start-1]) == 0 })
	})
}

var testAffix = regexp.MustCompile(`(?i)^(test_)|([._-](test|tests|spec|cy|e2e))$|(Tests?|Spec|IT|TestCase)$`)

// stemOf is a file's name without what says that it holds tests.
func stemOf(name string) string {
	base := strings.TrimSuffix(path.Base(name), path.Ext(name))
	return strings.ToLower(testAffix.ReplaceAllString(base, ""))
}

// skipped finds marks that keep tests from running and were not there before. A
// new test may be born skipped: that takes nothing away.
func skipped(f *file, m *pairing) []Hit {
	lang := languageOf(f.new.path)
	if skips[lang] == nil || !isTest(f.new.path) || f.added() && !holdsOld(f, m) {
		return nil
	}
	had := map[string]int{}
	for _, line := range f.old.lines {
		for _, pattern := range []*regexp.Regexp{skips[lang], focuses[lang]} {
			if mark := markIn(pattern, line); mark != "" {
				had[mark]++
			}
		}
	}
	var hits []Hit
	for i, line := range f.new.lines {
		skip, focus := markIn(skips[lang], line), markIn(focuses[lang], line)
		if skip == "" && focus == "" {
			continue
		}
		t := testAt(m, f, i+1)
		around := t == nil
		if around && lang == rust && !holdsTests(f.new, i+1) {
			continue
		}
		if around && wrapping.MatchString(line) {
			t = testBelow(m, f, i+1)
		}
		fresh := t != nil && m.was[t] == nil
		born := t != nil && m.was[t] != nil && marked(m.was[t], skips[lang])
		switch {
		case focus != "" && had[focus] == 0:
			hits = append(hits, Hit{Test, f.path(), i + 1, "", f.new.at(i + 1), "All other tests are kept from running."})
		case focus != "":
			had[focus]--
		case fresh || born:
		case around && had[skip] > 0:
			had[skip]--
		default:
			hits = append(hits, Hit{Test, f.path(), i + 1, before(m.was[t]), f.new.at(i + 1), "The test no longer always runs, or may fail unnoticed."})
		}
	}
	return hits
}

// before is the first line of a test that may be nil.
func before(t *testcase) string {
	if t == nil {
		return ""
	}
	return t.s.at(t.start)
}

// markIn is the mark that a pattern finds in a line of code, or "".
func markIn(pattern *regexp.Regexp, line string) string {
	if pattern == nil {
		return ""
	}
	text := strings.TrimSpace(line)
	if strings.HasPrefix(text, "//") && !strings.HasPrefix(text, "//go:build") && !strings.HasPrefix(text, "// +build") ||
		strings.HasPrefix(text, "# ") || strings.HasPrefix(text, "*") {
		return ""
	}
	at := pattern.FindStringIndex(line)
	if at == nil || quoted(line, at[0]) {
		return ""
	}
	return strings.TrimSpace(line[at[0]:at[1]])
}

func marked(t *testcase, pattern *regexp.Regexp) bool {
	for _, line := range t.whole() {
		if markIn(pattern, line) != "" {
			return true
		}
	}
	return false
}

// testAt is the test that a line of a file's new side belongs to, or nil.
func testAt(m *pairing, f *file, line int) *testcase {
	for _, t := range m.after {
		if t.f == f && t.first <= line && line <= t.stop {
			return t
		}
	}
	return nil
}

// wrapping are marks that stand around tests rather than in them.
var wrapping = regexp.MustCompile(`^\s*(?:#if\b|#\[|if \()`)

// holdsTests reports whether an attribute of Rust is one of a module of tests, or of
// the whole file.
func holdsTests(s side, line int) bool {
	if strings.HasPrefix(s.at(line), "#!") {
		return true
	}
	for line++; strings.HasPrefix(s.at(line), "#["); line++ {
	}
	return strings.HasPrefix(strings.TrimPrefix(s.at(line), "pub "), "mod ")
}

// testBelow is the first test of a file's new side after a line, or nil.
func testBelow(m *pairing, f *file, line int) *testcase {
	for _, t := range m.after {
		if t.f == f && t.first > line {
			return t
		}
	}
	return nil
}

// holdsOld reports whether a new file took over tests from another one.
func holdsOld(f *file, m *pairing) bool {
	for _, t := range m.after {
		if t.f == f && m.was[t] != nil {
			return true
		}
	}
	return false
}
