package code

import (
	"fmt"
	"slices"
	"testing"
)

// Each row of the tables reads one form of a mark. Beside it is a text that differs in what stands around the word.
func TestAFormIsAMarkOnlyWhereItStands(t *testing.T) {
	for _, c := range []struct{ file, is, isNot, want string }{
		{"test_a.py", "__test__ = False", "__test__ = True", "skip "},
		{"test_a.py", "collect_ignore = [1]", " collect_ignore = [1]", "skip collect_ignore = [ 1 ]"},
		{"a.test.js", "jest.retryTimes(2)", "jasmine.retryTimes(2)", "retry "},
		{"a.test.js", "test.skip(isCI)", "other.skip(isCI)", "skip isCI"},
		{"a.test.js", "test('a', () => { test.fail(b) })", "test('a', () => { fail(b) })", "fail b"},
		{"a.rs", "#![cfg(unix)]", "#[cfg(unix)]", "skip unix"},
		{"a_test.exs", "@moduletag :skip", "@other :skip", "skip "},
		{"a_test.dart", "@Retry(2)\nlibrary a;", "Retry(2);", "retry "},
		{"a_test.go", "package a\n\nvar _ = It(\"a\", Pending, func() {})", "package a\n\nvar _ = It(\"a\", a.Pending, func() {})", "skip "},
		{"a.tests.ps1", "It 'a' -Skip:$b { }", "It 'a' -Skip:$false { }", "skip if $b"},
		{"ATest.kt", "test(\"a\").config(enabled = false) { }", "test(\"a\").config(enabled = true) { }", "skip "},
		{"ATest.cs", "[LinuxOnlyFact] void A() { }", "[Fact] void A() { }", "skip LinuxOnlyFact "},
		{"ATest.cs", "[Fact] void A() { Skip.If(b); }", "[Fact] void A() { Skips.If(b); }", "skip If b"},
		{"ATest.java", "@Test void a() { assumeTrue(b); }", "@Test void a() { int assumeTrue = b; }", "skip assumeTrue b"},
	} {
		marks := func(content string) (all []string) {
			s := parse(c.file, []byte(content), languageOf(c.file))
			found := slices.Clone(s.marks)
			for _, u := range s.having(test) {
				found = append(found, u.marks...)
			}
			for _, m := range found {
				all = append(all, fmt.Sprintf("%s %s", m.effect, m.cond))
			}
			return all
		}
		if got := marks(c.is); !slices.Equal(got, []string{c.want}) {
			t.Errorf("%s: %q has the marks %q, want %q", c.file, c.is, got, c.want)
		}
		if got := marks(c.isNot); len(got) > 0 {
			t.Errorf("%s: %q has the marks %q, want none", c.file, c.isNot, got)
		}
	}
}
