package code_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"touchstone/verdict/guard/change"
	"touchstone/verdict/guard/code"
	"touchstone/verdict/guard/guardtest"
)

// scenarios returns the changes in testdata that the tests of the whole guard do not have, each with its
// expected findings as "tier rule path:line".
func scenarios(t testing.TB, dir string) []guardtest.Scenario {
	t.Helper()
	all, err := guardtest.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestExamine(t *testing.T) {
	names := map[string]bool{}
	for _, s := range scenarios(t, "testdata") {
		t.Run(s.Name, func(t *testing.T) {
			if names[s.Name] {
				t.Fatal("the name is taken")
			}
			names[s.Name] = true
			var got []string
			for _, f := range code.Examine(s.Change.Files, nil) {
				got = append(got, fmt.Sprintf("%s %s %s:%d", f.Tier, f.Rule, f.Path, f.Line))
				if f.Why == "" || f.Kind != change.Unexamined && f.Before == "" && f.After == "" {
					t.Errorf("a finding without a reason or text: %+v", f)
				}
			}
			slices.Sort(got)
			slices.Sort(s.Want)
			if !slices.Equal(got, s.Want) {
				t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(s.Want, "\n  "))
			}
		})
	}
}

// TestWhatExistingTestsSayOtherwiseIsNamedOnce: one finding names all tests that say something else, and what.
// Another format or name says the same.
func TestWhatExistingTestsSayOtherwiseIsNamedOnce(t *testing.T) {
	var before strings.Builder
	before.WriteString("package a\n\nimport (\n\t\"testing\"\n)\n")
	for i := range 10 {
		fmt.Fprintf(&before, "\nfunc Test%d(t *testing.T) {\n\tif got := sum(%d, one); got != 77 {\n\t\tt.Fatal(got)\n\t}\n}\n", i, i)
	}
	found := func(was, is string) []change.Finding {
		text := before.String()
		return code.Examine([]change.File{{Path: "a_test.go", OldPath: "a_test.go", Before: []byte(text),
			After: []byte(strings.ReplaceAll(text, was, is))}}, nil)
	}
	got := found("77", "78")
	if len(got) != 1 || got[0].Rule != "test/changed" || got[0].Tier != change.Evidence || got[0].Line != 8 ||
		got[0].Why != "An asserted value in `Test0` changed, and no rule tells whether this checks less." || !strings.HasPrefix(got[0].Others,
		"Judge 9 more: line 14 in `Test1`: `if got := sum(1, one); got != 77 {` → `if got := sum(1, one); got != 78 {`; line 20 in ") {
		t.Errorf("got %+v", got)
	}
	for name, edit := range map[string][2]string{"another name": {"one", "uno"},
		"another import": {"\t\"testing\"\n", "\t\"sync\"\n\t\"testing\"\n"},
		"another format": {"; got != 77 {\n", "; got  !=  77 { // seven\n\n"}} {
		if got := found(edit[0], edit[1]); len(got) > 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestALongAssertionIsNamedByTheLineThatDiffers(t *testing.T) {
	before := "def test_overlay():\n    assert overlay() == {\n        \"a\": \"" + strings.Repeat("long", 80) + "\",\n        \"b\": 1}\n"
	got := code.Examine([]change.File{{Path: "test_a.py", OldPath: "test_a.py", Before: []byte(before),
		After: []byte(strings.Replace(before, "1}", "2}", 1))}}, nil)
	if len(got) != 1 || got[0].Line != 4 || got[0].Before != `"b": 1}` || got[0].After != `"b": 2}` {
		t.Errorf("got %+v", got)
	}
}

// TestAChangedTestIsNamedByItsGravestChange: an assertion that is gone, another one or inside of something further, else a value, else a
// line. The line that took its place is beside it.
func TestAChangedTestIsNamedByItsGravestChange(t *testing.T) {
	const before = "def test_overlay():\n    shop = read(1)\n    shop = shop.sort()\n    shop.a = 1\n" +
		"    assert overlay(shop, shop.a) == 7\n    assert shop.b\n    assert overlay(2) == 8\n"
	for name, tt := range map[string]struct {
		was, is string
		line    int
		want    string
	}{
		"a line is gone": {"    shop.a = 1\n", "", 4, "A line in `test_overlay` is gone|shop.a = 1|"},
		"a line":         {"shop.sort()", "shop.order()", 3, "A line in `test_overlay` changed|shop = shop.sort()|shop = shop.order()"},
		"a value":        {"read(1)", "read(2)", 2, "A value in `test_overlay` changed|shop = read(1)|shop = read(2)"},
		"what is asserted": {"== 7", "== 8", 5,
			"An asserted value in `test_overlay` changed|assert overlay(shop, shop.a) == 7|assert overlay(shop, shop.a) == 8"},
		"an assertion": {"overlay(shop, shop.a) ==", "layer(shop) ==", 5,
			"An assertion in `test_overlay` changed|assert overlay(shop, shop.a) == 7|assert layer(shop) == 7"},
		"an assertion before all": {"read(1)\n    shop = shop.sort()\n    shop.a = 1\n    assert overlay(shop, shop.a) == 7",
			"read(2)\n    assert overlay(shop, shop.a) == 8", 3,
			"An asserted value in `test_overlay` changed|assert overlay(shop, shop.a) == 7|assert overlay(shop, shop.a) == 8"},
		"an assertion of two lines": {"assert shop.b", "assert (shop\n        .c(2))", 6,
			"An assertion in `test_overlay` changed|assert shop.b|assert (shop .c(2))"},
		"an assertion of a block": {"    shop.a = 1\n    assert overlay(shop, shop.a) == 7\n    assert shop.b",
			"    def check():\n        assert overlay(shop, shop.a) == 7\n    assert shop.b.c", 5,
			"An assertion inside of a further block in `test_overlay` is new||assert overlay(shop, shop.a) == 7"},
		"a value behind an assertion": {"overlay(shop, shop.a) == 7\n    assert shop.b\n    assert overlay(2) == 8",
			"layer(shop) == 7\n    assert shop.b\n    assert overlay(2) == 9", 7,
			"An asserted value in `test_overlay` changed|assert overlay(2) == 8|assert overlay(2) == 9"},
		"a condition behind a line": {"    assert shop.b", "    shop.d = one\n    if shop.c:\n        return\n    assert shop.b", 7,
			"A line in `test_overlay` is new||if shop.c:"},
		"a condition is new": {"    assert shop.b", "    if shop.c:\n        return\n    assert shop.b", 6,
			"A line in `test_overlay` is new||if shop.c:"},
	} {
		got := code.Examine([]change.File{{Path: "test_a.py", OldPath: "test_a.py", Before: []byte(before),
			After: []byte(strings.Replace(before, tt.was, tt.is, 1))}}, nil)
		if len(got) != 1 || got[0].Line != tt.line ||
			strings.Replace(got[0].Why, ", and no rule tells whether this checks less.", "", 1)+"|"+got[0].Before+"|"+got[0].After != tt.want {
			t.Errorf("%s: got %+v; want %s", name, got, tt.want)
		}
	}
}

// No input causes a panic, and an empty change has no findings.
func FuzzExamine(f *testing.F) {
	for _, s := range scenarios(f, filepath.Join("..", "testdata", "hit")) {
		for _, file := range s.Change.Files {
			f.Add(file.Name(), file.Before, file.After)
		}
	}
	for _, name := range []string{"a_test.go", "a.test.ts", "test_a.py", "a_spec.rb", "ATest.kt", "ATests.cs", "a.rs", "a_test.php",
		"a_test.cc", "a_test.exs"} {
		f.Add(name, []byte("\"'`/*{([<<~A %w[ #{ ${ r#\" '''"), []byte("]})end*/\"\"\""))
	}
	f.Add("a.py", []byte("0"), []byte("# \x990# noqA "))
	f.Fuzz(func(t *testing.T, name string, before, after []byte) {
		code.Examine([]change.File{{Path: name, OldPath: name, Before: before, After: after}, {Path: "b/" + name, After: before}}, nil)
		if got := code.Examine([]change.File{{Path: name, OldPath: name, Before: before, After: before}}, nil); len(got) > 0 {
			t.Errorf("nothing changed, and it says %v", got)
		}
	})
}

// The time grows with the length of the text, even if quotes and brackets do not close:
// go test -bench Examine ./verdict/guard/code
func BenchmarkExamine(b *testing.B) {
	unit := "describe('a', () => {\n  it('adds %d', () => {\n    expect(add(1, 2)).toBe(3)\n  })\n})\n"
	for name, text := range map[string]string{
		"a test file of 4 MB":    strings.Repeat(unit, 4<<20/len(unit)),
		"4 MB of open quotes":    strings.Repeat("'\\", 2<<20),
		"4 MB of open templates": strings.Repeat("`${", 4<<20/3),
		"4 MB of open brackets":  strings.Repeat("it('", 1<<20),
		"2 MB of closed nesting": strings.Repeat("describe('a', () => { it('b', () => { if (x) { return }\n", 20000) +
			strings.Repeat("}) })\n", 20000),
		"4 MB of nested definitions": strings.Repeat("class a { it('b', () => {", 4<<20/25),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(2 * len(text)))
			for b.Loop() {
				code.Examine([]change.File{{Path: "a.test.ts", OldPath: "a.test.ts", Before: []byte(text), After: []byte(text + "\nx")}}, nil)
			}
		})
	}
	b.Run("635 renamed files", func(b *testing.B) {
		var files []change.File
		for i := range 635 {
			text := []byte(strings.Repeat("#[test]\nfn a() {\n    assert_eq!(b(1), 2);\n}\n", 400))
			files = append(files, change.File{Path: fmt.Sprintf("new/%d.rs", i), OldPath: fmt.Sprintf("old/%d.rs", i), Before: text, After: text})
		}
		for b.Loop() {
			code.Examine(files, nil)
		}
	})
}

// TestWhatTurnsATestOffIsSeen: a comment or a text can begin, go on and end where its lines do not show it.
func TestWhatTurnsATestOffIsSeen(t *testing.T) {
	const (
		cc   = "TEST(A, B) {\n  // Why.\n  EXPECT_EQ(1, x());\n}\n"
		java = "class A {\n  @Test void b() {\n    // Why.\n    assertEquals(1, x());\n  }\n}\n"
		js   = "test('b', () => {\n  // Why.\n  expect(x()).toBe(1)\n  /**/\n})\n"
		php  = "<?php class ATest {\n function testB() {\n  // Why.\n  $this->assertSame(1, x());\n // <?php\n}}\n"
	)
	for _, c := range []struct{ name, before, was, is, rule string }{
		{"a_test.cc", cc, "Why.", "Why. \\", "test/emptied"},
		{"a_test.cc", cc, "Why.", "Why. \\ ", "code/unsure"},
		{"a_test.cc", cc, "  E", "#pragma once /* Why.\n*/ /\\\n/ E", "test/emptied"},
		{"a_test.cc", cc, "{", "{ \"??/\"/*\";", "code/unsure"},
		{"ATest.java", java, "Why.", "\\u000a return;", "test/returns"},
		{"ATest.java", java, "assert", "\\u002f\\u002f", "test/emptied"},
		{"a.test.js", js, "Why.", "Why.\rreturn", "code/unsure"},
		{"a.test.js", js, "{\n", "{ n++ / 1; /*/\n", "test/emptied"},
		{"test_a.py", "def test_b():\n    # Why.\n    assert x() == 1\n", "Why.", "Why.\r    return", "code/unsure"},
		{"ATest.php", php, "Why.", "Why. ?>", "test/emptied"},
		{"a.bats", "@test b {\n  run x\n  [ $status -eq 0 ]\n}\n", "  [ $status -eq 0 ]", ": <<'E'\n  E\n  [ $status -eq 0 ]\nE", "test/changed"},
	} {
		after := strings.Replace(c.before, c.was, c.is, 1)
		found := code.Examine([]change.File{{Path: c.name, OldPath: c.name, Before: []byte(c.before), After: []byte(after)}}, nil)
		if !slices.ContainsFunc(found, func(f change.Finding) bool { return f.Rule == c.rule }) {
			t.Errorf("%s: %q has no finding of %s: %+v", c.name, after, c.rule, found)
		}
	}
}
