package code_test

import (
	"fmt"
	"testing"

	"touchstone/verdict/guard/change"
	"touchstone/verdict/guard/code"
	"touchstone/verdict/guard/junit"
)

// The runners' reports count more than what the code suggests.
func TestRunsOverruleTheCode(t *testing.T) {
	one := func(names ...string) []byte {
		out := "<testsuites><testsuite>"
		for _, n := range names {
			out += n
		}
		return []byte(out + "</testsuite></testsuites>")
	}
	search := `<testcase classname="store" name="TestSearch"/>`
	before := "package store\n\nfunc TestSearch(t *testing.T) {\n\tif Search() != 3 {\n\t\tt.Fatal()\n\t}\n}\n"
	const rows = "\n// The rows: a b.\n"
	for _, c := range []struct {
		name, after string
		base, head  []byte
		want        []string
	}{
		{"a test that the code deletes and that still runs", "package store\n", one(search), one(search), nil},
		{"a test that is skipped by a variable", before, one(search), one(`<testcase classname="store" name="TestSearch"><skipped/></testcase>`),
			[]string{"hold test/skipped-run store/a_test.go:3"}},
		{"a test that stands there and does not run", before, one(search), one(), []string{"hold test/ran-before store/a_test.go:3"}},
		{"a row of a table that is gone", before, one(search, `<testcase classname="store" name="TestSearch/a_b"/>`), one(search),
			[]string{"evidence assertion/case-removed store/a_test.go:3"}},
		{"a row of a table that stands there and does not run", before + rows,
			one(search, `<testcase classname="store" name="TestSearch/a_b"/>`), one(search), []string{"hold test/ran-before store:0"}},
		{"a row from elsewhere that does not run", before, one(search, `<testcase classname="store" name="TestSearch/c.golden"/>`), one(search),
			[]string{"hold test/ran-before store:0"}},
		{"a mark on a test that runs", "package store\n\nfunc TestSearch(t *testing.T) {\n\tif slow { t.Skip() }\n\tif Search() != 3 " +
			"{\n\t\tt.Fatal()\n\t}\n}\n",
			one(search), one(search), nil},
		{"a test that no file of the change has", before, one(search, `<testcase classname="other" name="TestB"/>`), one(search),
			[]string{"hold test/ran-before other:0"}},
		{"a test that is renamed and runs", "package store\n\nfunc TestFind(t *testing.T) {\n\tif Search() != 3 {\n\t\tt.Fatal()\n\t}\n}\n",
			one(search), one(`<testcase classname="store" name="TestFind"/>`), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			runs, err := junit.Read([][]byte{c.base}, [][]byte{c.head})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			after := c.after + "\n// Changed.\n"
			for _, f := range code.Examine([]change.File{{Path: "store/a_test.go", OldPath: "store/a_test.go", Before: []byte(before + rows),
				After: []byte(after)}}, runs) {
				got = append(got, fmt.Sprintf("%s %s %s:%d", f.Tier, f.Rule, f.Path, f.Line))
			}
			if fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
