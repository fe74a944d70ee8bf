package guidelines

import (
	"strings"
	"testing"
)

const ownTable = "# Own\r\n\r\n| ID | Severity | Scope | Criterion |\r\n| --- | --- | --- | --- |\r\n| own/O1 | minor | `**/*.go` | " +
	"One. |\r\n| own/O2 | minor | code | Two. |\r\n\r\nProse.\r\n"

// TestRewordChangesOneLine checks that Reword changes the row's line or adds an amendment.
func TestRewordChangesOneLine(t *testing.T) {
	t.Parallel()
	base, err := Default()
	if err != nil {
		t.Fatal(err)
	}
	own := map[string]string{"own": ownTable}
	for _, tc := range []struct {
		texts            map[string]string
		id, scope        string
		name, old, wrote string
	}{
		{own, "own/O1", "**/*.go !tests", "own", "| own/O1 | minor | `**/*.go` | One. |\r\n",
			"| own/O1 | nit | `**/*.go !tests` | Neither a \\| b. |\r\n"},
		{map[string]string{"own": strings.Replace(ownTable, "own/O1 ", "own/O1* ", 1)}, "own/O1", "code", "own",
			"| own/O1 | minor | `**/*.go` | One. |\r\n", "| own/O1* | nit | code | Neither a \\| b. |\r\n"},
		{own, "test/T1", "code", "amendments", "",
			"# What is different here\n\n| ID | Severity | Scope | Criterion |\n| --- | --- | --- | --- |\n| test/T1 | nit | code | Neither a " +
				"\\| b. |\n"},
		{map[string]string{"amendments": "# Other\n\n| ID | Severity | Scope | Criterion |\n| --- | --- | --- | --- |\n| test/T2 | nit | code " +
			"| C. |\n\n"}, "test/T1", "code", "amendments",
			"\n\n\n", "\n| test/T1 | nit | code | Neither a \\| b. |\n"},
	} {
		edit, err := base.Reword(tc.texts, tc.id, "nit", tc.scope, "Neither a | b.")
		if err != nil || len(edit.Problems) > 0 || edit.Name != tc.name {
			t.Errorf("%s: %v, %+v", tc.id, err, edit)
			continue
		}
		if strings.TrimSpace(tc.old) == "" {
			if !strings.HasSuffix(edit.After, tc.wrote) || edit.Before != tc.texts[tc.name] {
				t.Errorf("%s: it ends in %q", tc.id, edit.After)
			}
		} else if edit.After != strings.Replace(ownTable, tc.old, tc.wrote, 1) {
			t.Errorf("%s: %q", tc.id, edit.After)
		}
	}
}

// TestRewordSaysWhatIsWrong checks that only problems caused by the change are reported, not earlier ones.
func TestRewordSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	base, err := Default()
	if err != nil {
		t.Fatal(err)
	}
	before := map[string]string{"own": strings.Replace(ownTable, "| Two. |", "| Two. |\r\n| own/O3 | minor | tests !tests | Three. |", 1)}
	if edit, err := base.Reword(before, "own/O1", "nit", "code", "Else."); err != nil || len(edit.Problems) > 0 {
		t.Errorf("what was wrong before counts: %v, %+v", err, edit.Problems)
	}
	for _, tc := range [][3]string{{"nit", "tests !tests", "C."}, {"grave", "code", "C."}, {"nit", "code", "Two."}, {"off", "all", "Never."}} {
		if edit, err := base.Reword(map[string]string{"own": ownTable}, "own/O1", tc[0], tc[1], tc[2]); err != nil || len(edit.Problems) == 0 {
			t.Errorf("%q: %v, nothing is wrong with %q", tc, err, edit.After)
		}
	}
	if _, err := base.Reword(nil, "own/O9", "nit", "code", "C."); err == nil {
		t.Error("a row that is not there is reworded")
	}
}
