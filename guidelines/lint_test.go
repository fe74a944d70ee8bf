package guidelines

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestDefaultsAreClean lints the embedded documents over an empty set.
func TestDefaultsAreClean(t *testing.T) {
	texts := map[string]string{}
	for _, doc := range defaults(t).Documents {
		texts[doc.Name] = doc.Text
	}
	set, problems := Set{}.Lint(texts)
	for _, p := range problems {
		t.Errorf("%s:%d: %s", p.Document, p.Line, p.Text)
	}
	if set.Version() != defaults(t).Version() {
		t.Error("what was linted is not what was read")
	}
	if _, problems := defaults(t).Lint(texts); len(problems) > 0 {
		t.Errorf("the defaults over themselves: %v", problems)
	}
}

func TestLintNamesWhatIsWrongAndItsLine(t *testing.T) {
	const table = "\n| ID | Severity | Scope | Criterion |\n| --- | --- | --- | --- |\n"
	own := func(rows ...string) string { return "# Own" + "\n" + table + strings.Join(rows, "\n") + "\n" }
	tests := map[string]struct {
		text string // of the document own; its first row is in line 5
		want []string
	}{
		"clean":              {own("| own/O1 | minor | code | Ours. |"), nil},
		"amended":            {own("| doc/D12 | off | all | Not here. |", "| test/T8 | nit | tests | Softer. |"), nil},
		"scope undecidable":  {own("| own/O1 | minor | only payments | Ours. |"), []string{`5: the scope of own/O1: "only" cannot be decided`}},
		"severity missing":   {own("| own/O1 | | all | Ours. |"), []string{`5: the severity of own/O1 is "", not one of`}},
		"all that is broken": {own("| own/O1 | | all | Ours. |", "| own/O2 | minor | x | y |"), []string{"5: the severity", "6: the scope"}},
		"id twice": {own("| own/O1 | minor | all | a |", "| own/O1 | minor | all | b |"),
			[]string{"6: the id own/O1 is taken by line 5"}},
		"ids of other case": {own("| own/O1 | minor | all | a |", "| own/o1 | minor | all | b |"),
			[]string{"6: own/o1 and own/O1 differ only in case"}},
		"scope met by nothing": {own("| own/O1 | minor | code !code | a |"),
			[]string{`5: own/O1 applies to nothing: "code !code" contradicts itself`}},
		"same with two severities": {own("| own/O1 | minor | all | Keep it short. |", "| own/O2 | major | code | keep `it` short |"),
			[]string{"6: own/O2 is major, and own/O1 says the same and is minor: keep one"}},
		"always and never": {own("| own/H4 | major | all | Errors are always wrapped with context. |",
			"| own/H5 | major | code | Errors are never wrapped with context. |"),
			[]string{"6: own/H5 contradicts own/H4: one demands what the other forbids"}},
		"is and is not": {own("| own/O1 | minor | code | A flag must be read once. |",
			"| own/O2 | minor | *.go | A flag must not be read once |"), []string{"6: own/O2 contradicts own/O1"}},
		"do and don't": {own("| own/O1 | minor | code | Packages do log. |", "| own/O2 | minor | code | Packages don’t log. |",
			"| own/O3 | minor | docs | Packages don't log. |"), []string{"6: own/O2 contradicts own/O1"}},
		"never elsewhere": {own("| own/O1 | minor | code !tests | Sleeping is always bounded. |",
			"| own/O2 | minor | tests | Sleeping is never bounded. |"), nil},
		"no two noes": {own("| own/O1 | minor | code | It never reads and always writes. |",
			"| own/O2 | minor | code | It always reads and never writes. |"), nil},
		"can and cannot": {own("| own/O1 | minor | code | It cannot wait. |", "| own/O2 | minor | code | It can wait. |"),
			[]string{"6: own/O2 contradicts own/O1"}},
		"three noes": {own("| own/O1 | minor | code | It is not read, not written, never sent. |",
			"| own/O2 | minor | code | It is read, written, sent. |"), nil},
		"default denied": {own("| own/O1 | nit | docs | Spelling and grammar, where a reader would not stumble. |"),
			[]string{"5: own/O1 contradicts doc/D12"}},
		"kinds apart": {own("| own/O1 | minor | docs-only code | a |", "| own/O2 | minor | config tests | b |"),
			[]string{`5: own/O1 applies to nothing: "docs-only code"`, "6: own/O2 applies"}},
		"same twice": {own("| own/O1 | minor | all | Keep it. |", "| own/O2 | minor | all | Keep it. |"),
			[]string{"6: own/O2 says the same as own/O1"}},
		"same as a default": {own("| own/O1 | nit | docs | Spelling and grammar, where a reader would stumble |"),
			[]string{"5: own/O1 says the same as doc/D12"}},
		"default contradicted": {own("| own/O1 | major | docs | Spelling and grammar, where a reader would stumble. |"),
			[]string{"5: own/O1 is major, and doc/D12 says the same and is nit"}},
		"off and not there": {own("| doc/D99 | off | all | x |"), []string{"5: doc/D99 switches off a row that is not there"}},
		"amended and not there": {own("| dok/D1 | minor | all | x |"),
			[]string{"5: dok/D1 amends a row that is not there: a new row is named after its own document, own"}},
		"amended by itself": {own("| doc/D12* | nit | docs, code | Spelling and grammar, where a reader would stumble. |"),
			[]string{"5: doc/D12 repeats the row that it amends"}},
		"amended but for its mark": {own("| doc/D12 | nit | docs, code | Spelling and grammar, where a reader would stumble. |"), nil},
		"task list": {"# Own\n\n- [ ] Tests are there\n* [x] Docs are there\n",
			[]string{"3: a rule in prose cannot be cited", "4: a rule in prose"}},
		"rules in a list": {"# Own\n\n1. Always close files.\n2. **Never** panic.\n", []string{"3: a rule in prose", "4: a rule in prose"}},
		"rules after a lead": {"# Own\n\nCheck the following:\n\n1. All inputs are bounded.\n   Sockets too.\n2) No secret is " +
			"logged.\n\nThey are these:\n\n- One.\n", []string{"5: a rule in prose", "7: a rule in prose"}},
		"below a heading": {"# Own\n\n## Checklist\n- Inputs are bounded\n\n## Sources\n- A book\n", []string{"4: a rule in prose"}},
		"rules in one line": {"# Own\n\nReviewers, check the following: 1. all inputs are bounded 2. no secret is logged.\n",
			[]string{"3: a rule in prose"}},
		"an order in prose": {"# Own\n\nReviewers must reject changes without tests.\n", []string{"3: a rule in prose"}},
		"about reviewers":   {"# Own\n\nA reviewer should not have to guess. What to check: the units.\n\n1. One\n2. Two\n", nil},
		"explanations":      {"# Own\n\n- A mustard seed.\n- It is always closed.\n\nAlways close files is what the rule says.\n", nil},
		"a list in a fence": {"# Own\n\n```\n- [ ] x\n```\n", nil},
		"table with another header": {"# Own\n\n| Rule | Severity | Criterion |\n| --- | --- | --- |\n| own/O1 | minor | x |\n",
			[]string{"3: this table has no rules, although it looks like a table of rules: its header must be | ID | Severity | Scope | Criterion " +
				"|"}},
		"table of something else": {"# Own\n\n| Level | Severity |\n| --- | --- |\n| a | b |\n", nil},
		"cited and not there": {"# Own\n\nSee `security/S1` and `security/S77`, and `ansi/X3`.\n",
			[]string{"3: security/S77 is cited, and there is no such row"}},
		"cited and off": {own("| doc/D12 | off | all | x |", "", "See `doc/D12`."),
			[]string{"7: doc/D12 is cited, and there is no such row, or it is switched off"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, problems := defaults(t).Lint(map[string]string{"own": test.text})
			expect(t, problems, "own:", test.want)
		})
	}
}

// expect wants as many problems, each beginning as said.
func expect(t *testing.T, problems []Problem, prefix string, want []string) {
	t.Helper()
	var got []string
	for _, p := range problems {
		got = append(got, fmt.Sprintf("%s:%d: %s", p.Document, p.Line, p.Text))
	}
	if !slices.EqualFunc(got, want, func(got, want string) bool { return strings.HasPrefix(got, prefix+want) }) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestLintComparesDocuments(t *testing.T) {
	set, problems := defaults(t).Lint(map[string]string{
		"security": "# Ours\n",
		"broken":   "No title.\n",
		"a":        amendments("| test/T8 | nit | tests | x |"),
		"b":        amendments("| test/T8 | major | tests | y |"),
	})
	expect(t, problems, "", []string{
		"b:5: test/T8 is amended by line 5 of a too",
		"broken:1: no title",
		"security:1: it replaces the only document of the dimension [Security]: begin its title with that tag",
	})
	old := Set{}.Overlay(parsed(t, "own", "# Own\n"), parsed(t, "old", amendments("| old/O1 | minor | !all | Keep it. |")))
	_, of := old.Lint(map[string]string{"own": "# [Graph] Own\n",
		"before": "# [Graph] Before\n" + strings.TrimPrefix(amendments("| before/B1 | nit | all | Keep it. |"), "# What is different here\n")})
	expect(t, of, "", []string{"before:5: before/B1 is nit, and old/O1 says the same and is minor"})
	_, alone := Set{}.Overlay(parsed(t, "own", "# Own\n")).Lint(map[string]string{"own": "# [Graph] Own\n"})
	expect(t, alone, "", nil)
	if row, _ := set.Row("test/T8"); row.Source != "b" || slices.Contains(names(set), "broken") {
		t.Errorf("got %+v in %v", row, names(set))
	}
}

func FuzzLint(f *testing.F) {
	base, err := Default()
	if err != nil {
		f.Fatal(err)
	}
	for _, doc := range base.Documents {
		f.Add(doc.Name, doc.Text)
	}
	f.Add("own", amendments("| doc/D12 | off | all | x |", "| own/O1 | minor | code !code | y |", "", "- [ ] z", "`security/S99`"))
	f.Add("Own", "")
	f.Add("own", "# T\n\n| Severity | Scope |\n|---|---|\n```\n<!--")
	f.Fuzz(func(t *testing.T, name, text string) {
		set, problems := base.Lint(map[string]string{name: text})
		lines := strings.Count(normalise(text), "\n") + 1
		for _, p := range problems {
			if p.Document != name || p.Line < 1 || p.Line > lines || p.Text == "" {
				t.Fatalf("of %d lines: %+v", lines, p)
			}
		}
		if doc, err := Parse(name, text); err != nil {
			if len(problems) == 0 || set.Version() != base.Version() {
				t.Fatalf("a broken document passes: %v", err)
			}
		} else if base.Overlay(doc).Version() != set.Version() {
			t.Fatal("what is linted is not what is laid over")
		}
		_, _ = set.For(changed("a.go")), set.RenderAll()
	})
}
