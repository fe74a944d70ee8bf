package guidelines

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func defaults(t *testing.T) Set {
	t.Helper()
	set, err := Default()
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func names(set Set) []string {
	var names []string
	for _, doc := range set.Documents {
		names = append(names, doc.Name)
	}
	return names
}

func TestDefaultIsInReadingOrder(t *testing.T) {
	want := []string{
		"index", "severity", "graph", "architecture", "security", "test", "doc",
		"impact", "observability", "ai-antipattern", "recurrence",
	}
	if got := names(defaults(t)); !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestEachDimensionHasOneDocumentWithRules(t *testing.T) {
	documents := map[string]int{}
	for _, doc := range defaults(t).Documents {
		if doc.Dimension == "" {
			continue
		}
		documents[doc.Dimension]++
		if len(doc.Rows) < 6 {
			t.Errorf("%s has %d rules", doc.Name, len(doc.Rows))
		}
		if lines := strings.Count(doc.Text, "\n"); lines >= 200 {
			t.Errorf("%s has %d lines: too long to be read before each review", doc.Name, lines)
		}
	}
	for _, dimension := range dimensions {
		if documents[dimension] != 1 {
			t.Errorf("[%s] has %d documents", dimension, documents[dimension])
		}
	}
}

func TestRelaxingTheQualityBarIsCritical(t *testing.T) {
	doc := defaults(t).Documents[1]
	if len(doc.Rows) == 0 {
		t.Fatal("severity has no rules")
	}
	for _, row := range doc.Rows {
		if row.Severity != "critical" {
			t.Errorf("%s is %s", row.ID, row.Severity)
		}
	}
}

func TestIndexNamesEveryDimensionAndREADMEEveryPredicate(t *testing.T) {
	set := defaults(t)
	index := set.Documents[0].Text
	var order []string
	for _, doc := range set.Documents[2:] {
		order = append(order, doc.Dimension)
		if strings.ToLower(doc.Dimension) != doc.Name {
			t.Errorf("%s is not named like its dimension, %s", doc.Name, doc.Dimension)
		}
	}
	if list := strings.Join(order, ", "); !strings.Contains(index, list) {
		t.Errorf("the index does not list %s", list)
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, predicate := range predicates() {
		line := "| `" + predicate + "` |"
		if !strings.Contains(string(readme), line) {
			t.Errorf("README.md does not define %s", predicate)
		}
	}
}

// TestEveryCitedRuleExists checks the ids in the documents and instructions: an id in prose that no table has
// would make the model cite a rule that does not exist.
func TestEveryCitedRuleExists(t *testing.T) {
	set := defaults(t)
	var alternatives []string
	for _, name := range names(set) {
		alternatives = append(alternatives, regexp.QuoteMeta(name))
	}
	id := regexp.MustCompile(`\b(?:` + strings.Join(alternatives, "|") + `)/[A-Z][0-9]+\b`)
	cited := id.FindAllString(set.RenderAll()+ReviewerInstructions()+AuthorInstructions(), -1)
	if len(cited) == 0 {
		t.Fatal("no id found: the pattern is wrong")
	}
	for _, id := range cited {
		if _, ok := set.Row(id); !ok {
			t.Errorf("%s is cited and does not exist", id)
		}
	}
}

func TestARowIsFoundByItsWholeID(t *testing.T) {
	set := defaults(t)
	row, ok := set.Row("security/S1")
	if !ok || row.ID != "security/S1" || row.Document != "security" || row.Severity != "critical" {
		t.Errorf("got %+v, %v", row, ok)
	}
	for _, id := range []string{"", "security", "security/", "security/S999", "S1", "SECURITY/S1"} {
		if row, ok := set.Row(id); ok {
			t.Errorf("%q found %+v", id, row)
		}
	}
}

func TestTheVersionChangesWithTheContentAlone(t *testing.T) {
	parse := func(name, markdown string) Document {
		t.Helper()
		doc, err := Parse(name, markdown)
		if err != nil {
			t.Fatal(err)
		}
		return doc
	}
	version := func(docs ...Document) string { return Set{Documents: docs}.Version() }
	base := version(parse("a", "# T\n\nText.\n"), parse("b", "# U\n"))

	if !regexp.MustCompile(`^[0-9a-f]{12}$`).MatchString(base) {
		t.Errorf("%q is not 12 hexadecimal digits", base)
	}
	if got := version(parse("a", "\ufeff# T\r\n\r\nText.\r\n\r\n"), parse("b", "# U")); got != base {
		t.Errorf("line ends change the version: %s, %s", got, base)
	}
	for name, other := range map[string]string{
		"text":     version(parse("a", "# T\n\nTexts.\n"), parse("b", "# U\n")),
		"name":     version(parse("c", "# T\n\nText.\n"), parse("b", "# U\n")),
		"order":    version(parse("b", "# U\n"), parse("a", "# T\n\nText.\n")),
		"missing":  version(parse("a", "# T\n\nText.\n")),
		"one more": version(parse("a", "# T\n\nText.\n"), parse("b", "# U\n"), parse("c", "# V\n")),
		"empty":    version(),
		"boundary": version(Document{Name: "a#", Text: " T\n\nText.\n"}, parse("b", "# U\n")),
		"amended": Set{}.Overlay(parse("a", "# T\n\nText.\n"), parse("b", "# U\n")).Overlay(Document{
			Name: "b", Text: "# U\n", Rows: []Row{{ID: "a/A1", Source: "c", Document: "b"}},
		}).Version(),
	} {
		if other == base {
			t.Errorf("%s: the version stays %s", name, base)
		}
	}
	amended := Document{Name: "b", Text: "# U\n", Rows: []Row{{ID: "a/A1", Source: "c", Document: "b"}}}
	marked := Document{Name: "b", Text: "# U\n", Rows: []Row{{ID: "a/A1", Source: "c", Document: "b", Checkable: true}}}
	if version(amended) == version(marked) {
		t.Error("the mark of an amended row is not in the version")
	}
}

func TestADocumentReplacesTheOneOfItsName(t *testing.T) {
	set := defaults(t)
	before := names(set)
	security := Document{Name: "security", Title: "Ours", Dimension: "Security", Text: "# [Security] Ours\n"}
	payments := Document{Name: "payments", Title: "Payments", Dimension: "Security", Text: "# [Security] Payments\n"}
	style := Document{Name: "style", Title: "Style", Text: "# Style\n"}
	got := set.Overlay(style, security, payments)

	want := []string{
		"index", "severity", "graph", "architecture", "payments", "security", "test", "doc",
		"impact", "observability", "ai-antipattern", "recurrence", "style",
	}
	if !slices.Equal(names(got), want) {
		t.Errorf("got  %v\nwant %v", names(got), want)
	}
	if !reflect.DeepEqual(got.Documents[5], security) {
		t.Errorf("security is not replaced: %+v", got.Documents[5])
	}
	if _, ok := got.Row("security/S1"); ok {
		t.Error("a rule of the replaced document is still there")
	}
	if _, ok := set.Row("security/S1"); !ok || !slices.Equal(names(set), before) {
		t.Error("the set that was laid over has changed")
	}
	if got.Version() == set.Version() {
		t.Error("the version stays the same")
	}
	again := security
	again.Title = "Later"
	if got := set.Overlay(security, again); len(got.Documents) != len(set.Documents) || got.Documents[4].Title != "Later" {
		t.Errorf("of two documents of one name the later does not win: %v", names(got))
	}
}

func TestEachRoleHasItsInstructions(t *testing.T) {
	reviewer, author := ReviewerInstructions(), AuthorInstructions()
	if !strings.HasPrefix(reviewer, "# You review one pull request\n") || !strings.HasPrefix(author, "# You repair one pull request\n") {
		t.Errorf("wrong files: %.40q, %.40q", reviewer, author)
	}
}
