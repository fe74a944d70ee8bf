package guidelines

import (
	"slices"
	"strings"
	"testing"

	"touchstone/verdict"
)

// parsed reads a document that has to be right.
func parsed(t testing.TB, name, markdown string) Document {
	t.Helper()
	doc, err := Parse(name, markdown)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func ids(applied []Applied) []string {
	var ids []string
	for _, a := range applied {
		ids = append(ids, a.Row.ID)
	}
	return ids
}

const payments = `# [Security] Payments

Money moves here.

| ID | Severity | Scope | Criterion |
| --- | --- | --- | --- |
| payments/P1 | critical | code !tests | Every charge carries a key \| token. |
| payments/P2 | minor | tests | A test charges twice. |

Bad (` + "`payments/P1`" + `): no key.

` + "```go\n# charge()\n\ncharge()\n```" + `

Good (` + "`payments/P2`" + `): charged twice.

## More

| ID | Severity | Scope | Criterion |
| --- | --- | --- | --- |
| payments/P3 | major | ` + "`db/**`" + ` | Amounts are exact. |

The end.
`

func TestADimensionIsIdleWhereNoneOfItsRulesApplies(t *testing.T) {
	set := defaults(t)
	change := changed("a.go")
	if idle := set.Idle(set.For(change)); !slices.Equal(idle, []verdict.Dimension{verdict.Recurrence}) {
		t.Errorf("idle are %q", idle)
	}
	change.Title = "Fix it"
	if idle := set.Idle(set.For(change)); len(idle) > 0 {
		t.Errorf("of a fix idle are %q", idle)
	}
}

func TestRenderAllShowsTheRulesInForce(t *testing.T) {
	tests := map[string]struct {
		off  []string
		want string
	}{
		"one table is off": {[]string{"payments/P2", "payments/P3"}, `# [Security] Payments

Money moves here.

| ID | Severity | Scope | Criterion |
| --- | --- | --- | --- |
| payments/P1 | critical | code !tests | Every charge carries a key \| token. |

Bad (` + "`payments/P1`" + `): no key.

` + "```go\n# charge()\n\ncharge()\n```" + `

## More

The end.
`},
		"its first table is off": {[]string{"payments/P1", "payments/P2"}, `# [Security] Payments

Money moves here.

## More

| ID | Severity | Scope | Criterion |
| --- | --- | --- | --- |
| payments/P3 | major | ` + "`db/**`" + ` | Amounts are exact. |

The end.
`},
		"all are off": {[]string{"payments/P1", "payments/P2", "payments/P3"},
			"# [Security] Payments\n\nNo rule of this document is in force.\n"},
		"none is off": {nil, payments},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			set := Set{}.Overlay(parsed(t, "payments", payments))
			if test.off != nil {
				var rows []string
				for _, id := range test.off {
					rows = append(rows, "| "+id+" | off | all | Not here. |")
				}
				set.Documents = set.Overlay(parsed(t, "acme", amendments(rows...))).Documents[:1]
			}
			if got := set.RenderAll(); got != test.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, test.want)
			}
		})
	}
}

func TestForIsInReadingOrderAndSaysWhy(t *testing.T) {
	set := defaults(t)
	change := changed("README.md", "docs/guide.md")
	change.Title = "docs: fix a typo"
	applied := set.For(change)
	for _, a := range applied {
		if a.Why == "" {
			t.Errorf("%s applies for no reason", a.Row.ID)
		}
	}
	got := ids(applied)
	for id, want := range map[string]bool{
		"severity/Q1": true, "severity/Q3": false, "graph/G3": true, "graph/G8": true, "security/S1": false, "security/S3": true,
		"test/T1": false, "doc/D5": true, "doc/D2": false, "doc/D10": false, "recurrence/R1": false, "recurrence/R8": false,
	} {
		if slices.Contains(got, id) != want {
			t.Errorf("%s applies to a change of prose: %v", id, !want)
		}
	}
	var order []string
	for _, doc := range set.Documents {
		for _, row := range doc.Rows {
			order = append(order, row.ID)
		}
	}
	inOrder := slices.IsSortedFunc(got, func(a, b string) int { return slices.Index(order, a) - slices.Index(order, b) })
	if !inOrder {
		t.Errorf("out of order: %v", got)
	}
}

// TestRenderShowsEveryRule parses the rendered text, which is what a model reads.
func TestRenderShowsEveryRule(t *testing.T) {
	for _, doc := range defaults(t).Documents {
		again := parsed(t, doc.Name, doc.render(func(Row) bool { return true }))
		if len(again.Rows) != len(doc.Rows) || again.Title != doc.Title || again.Dimension != doc.Dimension {
			t.Fatalf("%s: %d rules became %d", doc.Name, len(doc.Rows), len(again.Rows))
		}
		for i, row := range again.Rows {
			if want := doc.Rows[i]; row.ID != want.ID || row.Severity != want.Severity || row.Scope.text != want.Scope.text ||
				row.Criterion != want.Criterion {
				t.Errorf("got  %+v\nwant %+v", row, want)
			}
		}
	}
}

func amendments(rows ...string) string {
	return "# What is different here\n\n| ID | Severity | Scope | Criterion |\n| --- | --- | --- | --- |\n" + strings.Join(rows, "\n") + "\n"
}

func TestTheNearestAmendmentOfARowWins(t *testing.T) {
	base := defaults(t)
	organization := base.Overlay(parsed(t, "acme", amendments(
		"| doc/D12 | off | all | Our editors do it. |",
		"| test/T8 | nit | tests | Tests wait for conditions. |",
	)))
	repository := organization.Overlay(parsed(t, "local", amendments(
		"| local/L1 | minor | code | Our own. |",
		"| doc/D12 | nit | docs | Spelling counts here. |",
		"| security/S99 | major | all | A rule that the defaults dropped. |",
		"| security/S98 | off | all | Dropped, too. |",
	)))

	if _, ok := organization.Row("doc/D12"); ok {
		t.Error("a rule that is off is found")
	}
	if slices.Contains(ids(organization.For(changed("README.md"))), "doc/D12") || strings.Contains(organization.RenderAll(), "doc/D12") {
		t.Error("a rule that is off is shown")
	}
	row, ok := organization.Row("test/T8")
	if !ok || row.Severity != "nit" || row.Criterion != "Tests wait for conditions." || row.Document != "test" || row.Source != "acme" {
		t.Errorf("got %+v", row)
	}
	if !strings.Contains(organization.RenderAll(), "| test/T8 | nit | tests | Tests wait for conditions. |\n| test/T9 |") {
		t.Error("a replaced rule does not stand where the old one stood")
	}
	if row, _ := repository.Row("doc/D12"); row.Severity != "nit" || row.Source != "local" {
		t.Errorf("the nearer layer does not win: %+v", row)
	}
	if row, ok := repository.Row("security/S99"); !ok || row.Severity != "major" {
		t.Error("a rule is lost because the one that it amends is not there")
	}
	if text := repository.RenderAll(); strings.Count(text, "security/S99") != 1 || strings.Contains(text, "security/S98") ||
		!strings.Contains(text, "| local/L1 |") {
		t.Error("amendments of what is not there are not shown in their own document")
	}
	if nearest := repository.Overlay(parsed(t, "aaa",
		amendments("| test/T8 | major | tests | Nearest. |"))); !strings.Contains(nearest.RenderAll(), "| Nearest. |") {
		t.Error("a farther layer amends again what a nearer one has amended")
	}
	only := base.Overlay(parsed(t, "only", amendments("| security/S98 | off | all | Dropped. |")))
	if last := only.Documents[len(only.Documents)-1]; len(last.Rows) > 0 {
		t.Errorf("switching off what is not there adds a row: %+v", last.Rows)
	}
	if row, ok := base.Row("test/T8"); !ok || row.Severity != "minor or nit" {
		t.Error("the set that was laid over has changed")
	}
	versions := []string{base.Version(), organization.Version(), repository.Version()}
	slices.Sort(versions)
	if len(slices.Compact(versions)) != 3 {
		t.Errorf("versions are the same: %v", versions)
	}
}

func TestAmendmentsReachDocumentsOfTheSameLayer(t *testing.T) {
	own := parsed(t, "security", head+"| security/S1 | critical | all | Ours. |\n")
	set := defaults(t).Overlay(parsed(t, "aaa", amendments("| security/S1 | nit | all | Amended. |")), own)
	if row, _ := set.Row("security/S1"); row.Criterion != "Amended." {
		t.Errorf("got %+v", row)
	}
}

func BenchmarkFor(b *testing.B) {
	set, err := Default()
	if err != nil {
		b.Fatal(err)
	}
	var change Change
	patch := []byte("@@ -1,33 +1,33 @@\n" + strings.Repeat("+\tvalue, err := store.Read(ctx, key)\n", 33))
	for range 300 {
		change.Files = append(change.Files, File{Path: "internal/store/store.go", Patch: patch})
	}
	for b.Loop() {
		set.For(change)
	}
}
