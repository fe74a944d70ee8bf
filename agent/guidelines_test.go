package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"touchstone/agent/githubsim/simtest"
	"touchstone/agent/remoteguidelines"
	"touchstone/guidelines"
)

const rulesHead = "\n| ID | Severity | Scope | Criterion |\n| --- | --- | --- | --- |\n"

// TestGuidelinesShowPrintsTheRulesThatApply compares the whole output for documents of its own, so that a better word
// in a default document does not change it.
func TestGuidelinesShowPrintsTheRulesThatApply(t *testing.T) {
	set, err := remoteguidelines.Lay(guidelines.Set{}, map[string]string{
		"security": "# [Security] Ways in\n" + rulesHead +
			"| security/S1 | critical | code !tests | Values are bound: `a \\| b`. |\n| security/S2 | minor | docs | Never here. |\n| " +
			"security/S3 | nit | all | Off. |\n",
		"test":  "# [Test] Proof\n" + rulesHead + "| test/T1 | major | bug-fix | It is reproduced. |\n",
		"local": "# Local\n" + rulesHead + "| test/T1 | minor | code bug-fix | It is reproduced, roughly. |\n| security/S3 | off | all | No. |\n",
	})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	err = show(&out, set, guidelines.Change{Title: "Fix it", Files: []guidelines.File{{Path: "a.go"}, {Path: "b.go"}, {Path: "c\x1b.go"}}})
	want := `2 of 3 rules apply to 3 changed files (guidelines ` + set.Version() + `)

security/S1  critical  (code !tests)
  why: a.go and 2 more
  Values are bound: ` + "`a | b`" + `.

test/T1  minor  (code bug-fix), as amended by local
  why: a.go and 2 more; the title says fix
  It is reproduced, roughly.
`
	if err != nil || out.String() != want {
		t.Errorf("%v, got:\n%s\nwant:\n%s", err, out.String(), want)
	}
}

// TestShowReadsThePullRequestsBase has a pull request try to switch off a rule.
func TestShowReadsThePullRequestsBase(t *testing.T) {
	dir := t.TempDir()
	w := newWorld(t, dir)
	own := "# Own\n" + rulesHead + "| own/O1 | minor | code | Ours. |\n| doc/D4 | off | all | No. |\n"
	bold := "# Own\n" + rulesHead + "| security/S1 | off | all | No. |\n"
	const name = guidelineDir + "/own.md"
	if _, err := w.Commit(w.Ctx, root, "acme/app", "main", "Add rules", map[string]string{name: own}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Commit(w.Ctx, alice, "acme/app", "bold", "Fix it", map[string]string{name: bold, "a.go": "package a\n"}); err != nil {
		t.Fatal(err)
	}
	if err := w.pull([]string{"bold"}); err != nil {
		t.Fatal(err)
	}
	for _, variable := range []string{"XDG_CONFIG_HOME", "APPDATA"} {
		t.Setenv(variable, filepath.Join(dir, "config"))
	}
	for _, variable := range []string{"XDG_STATE_HOME", "LOCALAPPDATA"} {
		t.Setenv(variable, filepath.Join(dir, "state"))
	}
	t.Setenv("GITHUB_TOKEN", simtest.Token(judge))
	var out bytes.Buffer
	cmd := newRoot()
	cmd.SetOut(&out)
	cmd.SetArgs([]string{"guidelines", "show", "--pr", "1"})
	if err := cmd.ExecuteContext(w.Ctx); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{
		"\nown/O1  minor  (code)\n  why: a.go\n": true, "\nsecurity/S1  critical ": true, "\nseverity/Q7  critical ": true, "\ndoc/D4 ": false,
	} {
		if strings.Contains(out.String(), text) != want {
			t.Errorf("%q is there: %v\n%s", text, !want, out.String())
		}
	}
}
