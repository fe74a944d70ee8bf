package guidelines

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

const head = "# [Security] Ways in\n\n| ID | Severity | Scope | Criterion |\n| --- | --- | --- | --- |\n"

func TestParseReadsTheTable(t *testing.T) {
	got, err := Parse("security", head+"| security/S1 | critical | code !tests | Values are bound. |\n")
	if err != nil {
		t.Fatal(err)
	}
	want := Document{
		Name:      "security",
		Title:     "Ways in",
		Dimension: "Security",
		Text:      head + "| security/S1 | critical | code !tests | Values are bound. |\n",
		Rows: []Row{{
			ID: "security/S1", Document: "security", Severity: "critical",
			Scope: compiled(t, "code !tests"), Criterion: "Values are bound.", Source: "security", Line: 5,
		}},
		passages: []passage{{text: "# [Security] Ways in"}, {table: true, to: 1}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestARowMayNameTwoLevels(t *testing.T) {
	doc, err := Parse("security", head+"| security/S1 | major or nit | code | Values are bound. |\n| security/S2 | critical | code | Calls "+
		"are. |\n")
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"major nit", "critical critical"} {
		if got := doc.Rows[i].Worst() + " " + doc.Rows[i].Mildest(); got != want {
			t.Errorf("row %d is between %q, want %q", i+1, got, want)
		}
	}
}

// TestAStarBehindAnIDMarksTheRow checks that the mark is no part of the id, which findings cite and prompts show.
func TestAStarBehindAnIDMarksTheRow(t *testing.T) {
	text := head + "| security/S1* | major | code | Values are bound. |\n| `security/S2` * | nit | code | Calls are. |\n" +
		"| security/S3 | nit | code | Nothing is. |\n| test/T1* | nit | tests | Replaced. |\n"
	doc := parsed(t, "security", text)
	for i, want := range []string{"security/S1 true", "security/S2 true", "security/S3 false"} {
		if got := fmt.Sprint(doc.Rows[i].ID, " ", doc.Rows[i].Checkable); got != want {
			t.Errorf("row %d is %s, want %s", i+1, got, want)
		}
	}
	if a := doc.Amendments[0]; a.ID != "test/T1" || !a.Checkable {
		t.Errorf("%+v", a)
	}
	tests := strings.Replace(head, "[Security]", "[Test]", 1) + "| test/T1 | nit | tests | Old. |\n"
	set := Set{}.Overlay(doc, parsed(t, "test", tests))
	if row, _ := set.Row("test/T1"); !row.Checkable || row.Criterion != "Replaced." {
		t.Errorf("%+v", row)
	}
	if shown := set.RenderAll(); strings.Contains(shown, "*") || !strings.Contains(shown, "| security/S1 | major |") {
		t.Errorf("a prompt has\n%s", shown)
	}
	for _, id := range []string{"security/S1**", "security/*", "*security/S1"} {
		if _, err := Parse("security", head+"| "+id+" | nit | code | C. |\n"); err == nil {
			t.Errorf("%s is an id", id)
		}
	}
	if _, err := Parse("security", head+"| security/S1 | nit | code | C. |\n| security/S1* | nit | code | D. |\n"); err == nil {
		t.Error("an id is taken twice")
	}
}

func TestParseKeepsAmendmentsApart(t *testing.T) {
	const rows = "| security/S1 | minor | code | Own. |\n| test/T1 | nit | tests | Replaced. |\n| doc/D12 | off | all | Our editor does " +
		"it. |\n"
	doc, err := Parse("security", head+rows)
	if err != nil {
		t.Fatal(err)
	}
	want := []Row{
		{ID: "test/T1", Document: "test", Severity: "nit", Scope: compiled(t, "tests"), Criterion: "Replaced.", Source: "security", Line: 6},
		{ID: "doc/D12", Document: "doc", Severity: Off, Scope: compiled(t, "all"), Criterion: "Our editor does it.", Source: "security", Line: 7},
	}
	if !reflect.DeepEqual(doc.Amendments, want) || len(doc.Rows) != 1 {
		t.Errorf("got %+v\nand rows %+v", doc.Amendments, doc.Rows)
	}
}

func TestParseCriterion(t *testing.T) {
	tests := map[string]struct{ cell, want string }{
		"escaped pipe":              {`no exit code \|\| true`, "no exit code || true"},
		"pipe in a code span":       {"no `a | b` here", "no `a | b` here"},
		"escaped pipe in a span":    {"no `a \\| b` here", "no `a | b` here"},
		"span of two backticks":     {"no `` a ` | b `` here", "no `` a ` | b `` here"},
		"backtick that stays alone": {"the ` key", "the ` key"},
		"backslash at the end":      {`ends in \\`, `ends in \\`},
		"not only ASCII":            {"Umlaute äöü, 界, …", "Umlaute äöü, 界, …"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			doc, err := Parse("security", head+"| security/S1 | minor | all | "+test.cell+" |\n")
			if err != nil {
				t.Fatal(err)
			}
			if got := doc.Rows[0].Criterion; got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestParseFindsRulesOnlyInRuleTables(t *testing.T) {
	row := "| security/S1 | minor | all | x |\n"
	tests := map[string]struct {
		markdown string
		want     int
	}{
		"two tables": {head + row + "\n" + strings.TrimPrefix(head, "# [Security] Ways in\n") + strings.Replace(row, "S1", "S2", 1),
			2},
		"header in another case":  {"# T\n\n| id | SEVERITY | Scope | criterion |\n|-|-|-|-|\n" + row, 1},
		"no outer pipes":          {"# T\n\nid | severity | scope | criterion\n--|--|--|--\nsecurity/S1 | minor | all | x", 1},
		"alignment colons":        {"# T\n\n|ID|Severity|Scope|Criterion|\n|:-|:-:|-:|-|\n" + row, 1},
		"another header":          {"# T\n\n| Level | Means | Effect |\n| --- | --- | --- |\n| minor | x | y |\n", 0},
		"table in a code fence":   {"# T\n\n```\n" + head + row + "```\n", 0},
		"table in a longer fence": {"# T\n\n````md\n```\n" + head + row + "```\n````\n", 0},
		"table in a comment":      {"# T\n\n<!--\n" + head + row + "-->\n", 0},
		"after a fence":           {"# T\n\n~~~\ncode\n~~~\n" + head + row, 1},
		"after a comment":         {"# T\n\n<!-- one line -->\n" + head + row, 1},
		"table without rows":      {head, 0},
		"row in backticks":        {head + "| `security/S1` | `minor` | `**/*.go` | x |\n", 1},
		"carriage returns":        {strings.ReplaceAll(head+row, "\n", "\r\n"), 1},
		"byte order mark":         {"\ufeff" + head + row, 1},
		"no line feed at the end": {head + strings.TrimSpace(row), 1},
		"as many as are allowed":  {head + manyRows(maxDocumentRows), maxDocumentRows},
		"padded to the size limit": {
			head + row + "\n" + strings.Repeat("x", maxDocumentBytes-len(head+row)-1), 1,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			doc, err := Parse("security", test.markdown)
			if err != nil {
				t.Fatal(err)
			}
			if len(doc.Rows) != test.want {
				t.Errorf("got %d rules, want %d: %+v", len(doc.Rows), test.want, doc.Rows)
			}
		})
	}
}

func TestParseErrorsNameTheDocumentAndTheLine(t *testing.T) {
	tests := map[string]struct{ markdown, want string }{
		"two severities reversed": {head + "| security/S1 | nit or major | all | x |", `line 5: the severity of security/S1 is "nit or major"`},
		"one severity twice":      {head + "| security/S1 | nit or nit | all | x |", `line 5: the severity of security/S1 is "nit or nit"`},
		"severity unknown": {head + "| security/S1 | blocker | all | x |",
			`line 5: the severity of security/S1 is "blocker", not one of critical, major, minor, nit`},
		"severity missing": {head + "| security/S1 | | all | x |", `line 5: the severity of security/S1 is ""`},
		"scope missing": {head + "| security/S1 | minor | | x |",
			"line 5: the scope of security/S1: the scope is empty: write all for every change"},
		"criterion missing": {head + "| security/S1 | minor | all | |", "line 5: security/S1 has no criterion"},
		"id of no form":     {head + "| S1 | minor | all | x |", `line 5: the id "S1" is not of the form security/X1`},
		"scope undecidable": {head + "| security/S1 | minor | cod | x |",
			`line 5: the scope of security/S1: "cod" cannot be decided: it is none of all, bug-fix, ci, code,`},
		"own row switched off": {head + "| security/S1 | off | all | x |", "line 5: security/S1 is a row of this very document: delete it"},
		"switched off in part": {head + "| test/T1 | off | tests | x |", "line 5: test/T1 is switched off as a whole, so its scope is all"},
		"id without mark":      {head + "| security/ | minor | all | x |", `line 5: the id "security/" is not`},
		"id twice": {head + "| security/S1 | minor | all | x |\n| security/S1 | major | all | y |",
			"line 6: the id security/S1 is taken by line 5"},
		"cell missing":         {head + "| security/S1 | minor | all |", "line 5: a row has the 4 cells"},
		"cell too many":        {head + "| security/S1 | minor | all | a | b |", "line 5: a row has the 4 cells"},
		"text after the table": {head + "| security/S1 | minor | all | x |\nMore.", "line 6: a row has the 4 cells"},
		"dashes missing": {"# T\n\n| ID | Severity | Scope | Criterion |\n| security/S1 | minor | all | x |",
			"line 4: the table's header needs a line of dashes"},
		"header at the end":    {"# T\n\n| ID | Severity | Scope | Criterion |", "line 4: the table's header needs a line of dashes"},
		"dimension unknown":    {"# [Securty] T", "line 1: [Securty] is no dimension; they are Graph, "},
		"title missing":        {"Just text.", "line 1: no title"},
		"empty":                {"", "line 1: no title"},
		"fence never closed":   {"# T\n\n```\n" + head, "line 3: nothing closes what begins here"},
		"comment never closed": {"# T\n\n<!--\n" + head, "line 3: nothing closes what begins here, and so no rule below it counts: add -->"},
		"one rule too many":    {head + manyRows(maxDocumentRows+1), "line 505: more than 500 rules"},
		"one amendment too many": {head + strings.ReplaceAll(manyRows(maxDocumentRows+1), "security/", "other/"),
			"line 505: more than 500 rules"},
		"one byte too many":     {strings.Repeat("x", maxDocumentBytes+1), "it has 262145 bytes"},
		"not UTF-8":             {"# T\xff", "it is not UTF-8"},
		"several lines, first":  {head + "| a | b | c |\n| d |", "line 5:"},
		"several lines, second": {head + "| a | b | c |\n| d |", "line 6:"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Parse("security", test.markdown)
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range []string{`guideline document "security": `, test.want} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("got %q, want it to contain %q", err, want)
				}
			}
		})
	}
}

func TestParseBoundsItsErrors(t *testing.T) {
	_, err := Parse("security", head+strings.Repeat("| x |\n", 10_000))
	if err == nil {
		t.Fatal("no error")
	}
	if got := strings.Count(err.Error(), "\n") + 1; got != maxDocumentErrors {
		t.Errorf("got %d lines of errors, want %d", got, maxDocumentErrors)
	}
}

func TestParseRefusesNames(t *testing.T) {
	for _, name := range []string{"", "Security", "a/b", "../a", "a.md", "-a", strings.Repeat("a", 65)} {
		if _, err := Parse(name, "# T"); err == nil {
			t.Errorf("%q was accepted", name)
		}
	}
}

func manyRows(n int) string {
	var table strings.Builder
	for i := range n {
		fmt.Fprintf(&table, "| security/S%d | minor | all | x |\n", i)
	}
	return table.String()
}

func FuzzParse(f *testing.F) {
	set, err := Default()
	if err != nil {
		f.Fatal(err)
	}
	for _, doc := range set.Documents {
		f.Add(doc.Name, doc.Text)
	}
	for _, seed := range []string{
		"", "\ufeff", "# \r\n", head, head + "| `security/S1 | minor | all | `` | \\", "```\n", "~~~~ x\n~~~", "<!--", "|||||",
	} {
		f.Add("security", seed)
	}
	f.Fuzz(func(t *testing.T, name, markdown string) {
		doc, err := Parse(name, markdown)
		if err != nil {
			if !reflect.DeepEqual(doc, Document{}) {
				t.Fatalf("an error and a document: %+v", doc)
			}
			return
		}
		if !utf8.ValidString(doc.Text) || strings.Contains(doc.Text, "\r") || !strings.HasSuffix(doc.Text, "\n") {
			t.Fatalf("text is not normalised: %q", doc.Text)
		}
		ids := map[string]bool{}
		for _, row := range doc.Rows {
			if ids[row.ID] || !strings.HasPrefix(row.ID, name+"/") || row.Document != name {
				t.Fatalf("bad id: %+v", row)
			}
			ids[row.ID] = true
			if row.Scope.String() == "" || row.Criterion == "" {
				t.Fatalf("empty cell: %+v", row)
			}
		}
		rendered, err := Parse(name, doc.render(func(Row) bool { return true }))
		if err != nil || len(rendered.Rows) != len(doc.Rows) {
			t.Fatalf("rendered, it has %d rules instead of %d: %v", len(rendered.Rows), len(doc.Rows), err)
		}
		again, err := Parse(name, doc.Text)
		if err != nil {
			t.Fatalf("the text of a document does not parse: %v", err)
		}
		if !reflect.DeepEqual(again, doc) {
			t.Fatalf("parsed twice:\n%+v\n%+v", doc, again)
		}
	})
}
