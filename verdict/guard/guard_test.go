package guard_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"touchstone/verdict/guard"
	"touchstone/verdict/guard/guardtest"
)

func scenarios(t testing.TB, dir string) []guardtest.Scenario {
	t.Helper()
	all, err := guardtest.Read(filepath.Join("testdata", dir))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestExamine examines the changes in testdata: those in hit have findings. Those in pass have none, except what is
// named because it is not as before, or is gone with what it is about.
func TestExamine(t *testing.T) {
	for _, dir := range []string{"hit", "pass"} {
		names := map[string]bool{}
		for _, s := range scenarios(t, dir) {
			t.Run(s.Name, func(t *testing.T) {
				if names[s.Name] || len(s.Want) == 0 && dir == "hit" {
					t.Fatal("the name is taken, or it stands in the wrong directory")
				}
				names[s.Name] = true
				var got []string
				for _, f := range guard.Examine(s.Change) {
					got = append(got, fmt.Sprintf("%s %s %s:%d", f.Tier, f.Kind, f.Path, f.Line))
					if dir == "pass" && (f.Tier == guard.Hold || !strings.HasSuffix(f.Rule, "/changed") && f.Rule != "test/gone-with-code") {
						t.Errorf("a change that lowers nothing has a finding: %+v", f)
					}
					if f.Why == "" || f.Rule == "" {
						t.Errorf("a finding without a reason or a rule: %+v", f)
					}
				}
				slices.Sort(got)
				slices.Sort(s.Want)
				if got = slices.Compact(got); !slices.Equal(got, s.Want) {
					t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(s.Want, "\n  "))
				}
			})
		}
	}
}

func file(name string, before, after []byte) guard.Change {
	return guard.Change{Files: []guard.File{{Path: name, OldPath: name, Before: before, After: after}}}
}

// TestATestThatGoesWithItsCodeHidesNothing: one finding for all of them comes last, and
// a title that leaves out a check cannot mean them.
func TestATestThatGoesWithItsCodeHidesNothing(t *testing.T) {
	t.Parallel()
	both := func(name string, parts ...string) guard.File {
		return guard.File{Path: name, OldPath: name, Before: []byte(strings.Join(parts, "\n\n")), After: []byte(parts[0] + "\n")}
	}
	code, tests := []string{"def total(a):\n    return sum(a)\n"}, []string{"def test_total():\n    assert total([2]) == 2\n"}
	for i := range 12 {
		code = append(code, fmt.Sprintf("def convert%d(x):\n    return x * %d\n", i, i+2))
		tests = append(tests, fmt.Sprintf("def test_convert%d():\n    assert convert%d(1) == %d\n", i, i, i+2))
	}
	change := guard.Change{Title: "Exclude tests", Files: []guard.File{both("app/cart.py", code...), both("tests/test_cart.py", tests...)}}
	const names = "test_convert0, test_convert1, test_convert2, test_convert3, test_convert4, test_convert5, test_convert6, test_convert7"
	const why = "Gone together with what is tested, which may still be wanted: " + names + " and 4 more tests."
	if found := guard.Examine(change); len(found) != 1 || found[0].Tier != guard.Evidence || found[0].Why != why {
		t.Errorf("%+v", found)
	}
	change.Files[1] = both("tests/test_cart.py", append(tests, "def test_sum():\n    assert total([1]) == 1\n")...)
	other := file("tests/test_other.py", []byte("def test_other():\n    assert total([3]) == 3\n"), []byte("\n"))
	change.Files = append(change.Files, other.Files...)
	change.Title = ""
	var rules []string
	for _, f := range guard.Examine(change) {
		rules = append(rules, f.Rule)
	}
	if want := []string{"test/deleted", "test/deleted", "test/gone-with-code"}; !slices.Equal(rules, want) {
		t.Errorf("got %q, want %q", rules, want)
	}
}

// TestEachDeletedTestIsNamed: one that matters could be hidden behind others.
func TestEachDeletedTestIsNamed(t *testing.T) {
	t.Parallel()
	var tests strings.Builder
	for i := range 12 {
		fmt.Fprintf(&tests, "def test_convert%d():\n    assert convert(%d) == %d\n\n", i, i+30, i*7+2)
	}
	found := guard.Examine(file("tests/test_cart.py", []byte(tests.String()+"x = 1\n"), []byte("x = 1\n")))
	if len(found) != 1 || !strings.Contains(found[0].Why, "12 tests") || !strings.Contains(found[0].Why, ", test_convert11.") {
		t.Errorf("%+v", found)
	}
}

func TestWhatCannotBeReadIsSaid(t *testing.T) {
	large := make([]byte, guard.MaxFile+1)
	workflow := []byte("on: pull_request\njobs:\n  t:\n    steps:\n      - run: go test ./...\n")
	for name, tt := range map[string]struct {
		change guard.Change
		tier   guard.Tier
	}{
		"a large test":     {file("a_test.go", nil, large), guard.Evidence},
		"a large workflow": {file(".github/workflows/ci.yml", workflow, bytes.Repeat([]byte("# a comment\n"), 500_000)), guard.Hold},
		"broken YAML":      {file(".github/workflows/ci.yml", workflow, []byte("on:\n\t- x\n")), guard.Hold},
		"anchors upon anchors": {file(".github/workflows/ci.yml", workflow,
			[]byte("a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\n"+
				"d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\non: [*e,*e,*e]\njobs: {}\n")), guard.Hold},
		"not read": {guard.Change{Files: []guard.File{{Path: "ruff.toml", OldPath: "ruff.toml", Unread: true}}}, guard.Hold},
	} {
		found := guard.Examine(tt.change)
		if len(found) == 0 || found[0].Kind != guard.Unexamined || found[0].Tier != tt.tier {
			t.Errorf("%s: %+v", name, found)
		}
	}
	if found := guard.Examine(guard.Change{Files: []guard.File{{Path: "film.mp4", After: large, Unread: true}}}); len(found) != 0 {
		t.Errorf("a file that no rule speaks of: %+v", found)
	}
}

// TestLargeTestsAreReadUpToABound: the first test file is read at any size, and a further one that exceeds
// the bound is reported.
func TestLargeTestsAreReadUpToABound(t *testing.T) {
	var change guard.Change
	for _, f := range []struct {
		name     string
		comments int
	}{{"test_a.py", 600_000}, {"test_b.py", 100_000}, {"b.py", 100}} {
		test := func(says string) []byte {
			return []byte("def test_a():\n    got = f()\n    assert got" + says + "\n" + strings.Repeat("# a comment\n", f.comments))
		}
		change.Files = append(change.Files, guard.File{Path: f.name, OldPath: f.name, Before: test(" == 1"), After: test("")})
	}
	var got []string
	for _, f := range guard.Examine(change) {
		got = append(got, f.Rule+" "+f.Path)
	}
	if want := []string{"assertion/looser test_a.py", "code/unread test_b.py"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestFindingsAreBounded(t *testing.T) {
	var ignored strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&ignored, "  'E%d%s',\n", i, strings.Repeat("x", 500))
	}
	found := guard.Examine(file("ruff.toml", []byte("ignore = []\n"), []byte("ignore = [\n"+ignored.String()+"]\n")))
	if len(found) != guard.MaxFindings+1 || found[guard.MaxFindings].Kind != guard.Unexamined {
		t.Fatalf("%d findings, want %d and one that says how many more", len(found), guard.MaxFindings)
	}
	if n := len(found[0].After); n > 310 {
		t.Errorf("a finding quotes %d bytes", n)
	}
}

func TestAFindingOfManyPlacesIsNotLeftOut(t *testing.T) {
	var before, changed strings.Builder
	for i := range guard.MaxFindings + 1 {
		fmt.Fprintf(&before, "def test_%d():\n    assert a(%d) == 1\n    assert b(%d) == 1\n\n", i, i, i)
	}
	after := strings.ReplaceAll(before.String(), "    assert b", "    b")
	for i := range 2 {
		fmt.Fprintf(&changed, "def test_%d():\n    assert c(%d) == 1\n\n", i, i)
	}
	f := file("b/test_b.py", []byte(changed.String()), []byte(strings.ReplaceAll(changed.String(), "== 1", "== 2")))
	f.Files = append(f.Files, guard.File{Path: "a/test_a.py", OldPath: "a/test_a.py", Before: []byte(before.String()), After: []byte(after)})
	found := guard.Examine(f)
	if len(found) != guard.MaxFindings+1 || found[0].Path != "b/test_b.py" || found[0].Others == "" {
		t.Errorf("%d findings, the first %+v", len(found), found[0])
	}
}

// More tests are gone than are looked for elsewhere: only with the whole package they need nobody.
func TestManyDeletedTestsAreHeldUnlessTheirPackageGoes(t *testing.T) {
	var tests strings.Builder
	for i := range 1200 {
		fmt.Fprintf(&tests, "def test_pay_%d():\n    assert pay(%d) == %d\n\n", i, i, i)
	}
	gone := func(name, content string) guard.File { return guard.File{OldPath: name, Before: []byte(content)} }
	files := []guard.File{gone("pay/tests/test_pay.py", tests.String()), gone("pay/pyproject.toml", "[project]\nname = 'pay'\n")}
	product := gone("pay/pay.py", "def pay(x):\n    return x\n")
	for _, tt := range []struct {
		name string
		more []guard.File
		want guard.Tier
	}{
		{"the package goes", []guard.File{product}, guard.Evidence},
		{"its code may stay", nil, guard.Hold},
		{"its code is elsewhere", []guard.File{product, {Path: "due/due.py", After: product.Before}}, guard.Hold},
		{"a file stays", []guard.File{product, {OldPath: "pay/a.py", Path: "pay/a.py", Before: []byte("a\n"), After: []byte("b\n")}}, guard.Hold},
		{"a file moves", []guard.File{product, {OldPath: "pay/a.py", Path: "a.py", Before: []byte("a\n"), After: []byte("a\n")}}, guard.Hold},
	} {
		got := guard.Evidence
		for _, f := range guard.Examine(guard.Change{Files: slices.Concat(files, tt.more)}) {
			got = max(got, f.Tier)
		}
		if got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestEncodingsAreRead(t *testing.T) {
	const before, after = "ignore = []\n", "ignore = ['E501']\n"
	encode := func(order binary.AppendByteOrder, text string) []byte {
		out := order.AppendUint16(nil, 0xFEFF)
		for _, unit := range utf16.Encode([]rune(text)) {
			out = order.AppendUint16(out, unit)
		}
		return out
	}
	for name, write := range map[string]func(string) []byte{
		"UTF-16 little endian": func(s string) []byte { return encode(binary.LittleEndian, s) },
		"UTF-16 big endian":    func(s string) []byte { return encode(binary.BigEndian, s) },
		"a byte order mark":    func(s string) []byte { return []byte("\ufeff" + s) },
		"line ends of Windows": func(s string) []byte { return []byte(strings.ReplaceAll(s, "\n", "\r\n")) },
	} {
		found := guard.Examine(file("ruff.toml", write(before), write(after)))
		if len(found) != 1 || found[0].Tier != guard.Hold || found[0].Line != 1 {
			t.Errorf("%s: %+v", name, found)
		}
	}
}

func TestWhatIsWrittenElsewhereIsLeftOut(t *testing.T) {
	before, after := []byte("fail_under = 1\n[lint]\nignore = []\n"), []byte("[lint]\nignore = ['E501']\n")
	for name, held := range map[string]bool{"ruff.toml": true, "vendor/x/ruff.toml": false, "a/third_party/b/ruff.toml": false,
		"vendored/ruff.toml": true} {
		if found := guard.Holds(guard.Examine(file(name, before, after))); (len(found) > 0) != held {
			t.Errorf("%s: %+v", name, found)
		}
	}
	test := guard.File{Path: "gen/a_test.go", OldPath: "gen/a_test.go",
		Before: []byte("package a\n\nfunc TestA(t *testing.T) {\n\tif A() != 1 {\n\t\tt.Fatal()\n\t}\n}\n"),
		After:  []byte("package a\n\nfunc TestA(t *testing.T) {\n\tt.Skip()\n\tif A() != 1 {\n\t\tt.Fatal()\n\t}\n}\n")}
	said := func(before, after string) int {
		marks := guard.File{Path: ".gitattributes", OldPath: ".gitattributes", Before: []byte(before), After: []byte(after)}
		return len(guard.Holds(guard.Examine(guard.Change{Files: []guard.File{test, marks}})))
	}
	if said("gen/** linguist-generated\n", "gen/** linguist-generated\n") != 0 || said("", "gen/** linguist-generated\n") == 0 ||
		said("gen/** -linguist-generated\n", "") == 0 {
		t.Error("what counts is what the base calls generated")
	}
	const other = "*.go text eol=lf\n"
	if said(other, other) == 0 || said("gen/** linguist-generated\n"+other, "") != 0 {
		t.Error("other attributes say nothing of who wrote a file")
	}
	nested := guard.File{Path: "gen/.gitattributes", OldPath: "gen/.gitattributes", Before: []byte("*.go linguist-generated\n")}
	elsewhere := test
	elsewhere.Path, elsewhere.OldPath = "src/a_test.go", "src/a_test.go"
	found := guard.Holds(guard.Examine(guard.Change{Files: []guard.File{test, elsewhere, nested}}))
	if len(found) != 1 || found[0].Path != "src/a_test.go" {
		t.Errorf("attributes of a folder are about that folder: %+v", found)
	}
}

func TestAttributesOfFoldersAndBrokenOnesMarkNothing(t *testing.T) {
	test := guard.File{Path: ".github/CODEOWNERS", OldPath: ".github/CODEOWNERS", Before: []byte("* @a\n"), After: []byte("")}
	for _, content := range []string{".github/ linguist-generated\n", "\"\"\n"} {
		marks := guard.File{Path: ".gitattributes", OldPath: ".gitattributes", Before: []byte(content), After: []byte(content)}
		if len(guard.Holds(guard.Examine(guard.Change{Files: []guard.File{marks, test}}))) == 0 {
			t.Errorf("%q marks a file", content)
		}
	}
}

func TestOneGroupForEachTierAndKind(t *testing.T) {
	groups := guard.Groups([]guard.Finding{{Tier: guard.Hold, Kind: guard.CI}, {Tier: guard.Hold, Kind: guard.CI},
		{Tier: guard.Evidence, Kind: guard.CI}})
	if len(groups) != 2 || len(groups[0].Findings) != 2 || groups[1].Tier != guard.Evidence {
		t.Errorf("%+v", groups)
	}
}

func FuzzExamine(f *testing.F) {
	for _, dir := range []string{"hit", "pass"} {
		for _, s := range scenarios(f, dir) {
			one := s.Change.Files[0]
			f.Add(one.OldPath, one.Path, one.Before, one.After)
		}
	}
	f.Add("_spec.rb", "\xd1.rB", []byte(`it"finds"`), []byte(`it"finds"do end`)) // a name that is not UTF-8
	f.Fuzz(func(t *testing.T, old, path string, before, after []byte) {
		for _, found := range guard.Examine(guard.Change{Files: []guard.File{{Path: path, OldPath: old, Before: before, After: after}}}) {
			if found.Rule == "guard/failed" || found.Line < 0 || found.Line > 1+bytes.Count(before, []byte("\n"))+bytes.Count(after,
				[]byte("\n"))+bytes.Count(after, []byte("\r")) {
				t.Fatalf("a failure, or a finding beyond its file: %+v", found)
			}
		}
		if found := guard.Examine(file(path, after, after)); len(guard.Holds(found)) > 0 {
			t.Fatalf("a file that did not change: %+v", found)
		}
	})
}

// BenchmarkExamine examines a change of 20 test files with 1,000 lines each.
func BenchmarkExamine(b *testing.B) {
	line := "	if err := store.Append(ctx, event); err != nil { return fmt.Errorf(\"append: %w\", err) }\n"
	var change guard.Change
	for i := range 20 {
		name := fmt.Sprintf("a/a%d_test.go", i)
		text := []byte("package a\n\nfunc TestAppend(t *testing.T) {\n" + strings.Repeat(line, 1000) + "}\n")
		change.Files = append(change.Files, guard.File{Path: name, OldPath: name, Before: text, After: append(text, '\n')})
	}
	for b.Loop() {
		guard.Examine(change)
	}
}
