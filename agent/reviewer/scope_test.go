package reviewer

import (
	"strings"
	"testing"

	"touchstone/agent/forge"
	"touchstone/guidelines"
	"touchstone/worktree/diff"
)

func TestOnlyRulesThatApplyAreSent(t *testing.T) {
	rules, err := guidelines.Default()
	if err != nil {
		t.Fatal(err)
	}
	sent := func(path string) string {
		diff := diff.Diff{Files: []diff.File{{Path: path, Status: "modified", Patch: []byte("@@ -1 +1 @@\n-a\n+b\n")}}}
		return rules.Render(rules.For(ChangeOf(forge.PullRequest{Title: "Change it"}, diff, nil, 1)))
	}
	// security/S1 is about code, security/S3 about everything.
	if code := sent("store/store.go"); !strings.Contains(code, "| security/S1 |") || !strings.Contains(code, "| security/S3 |") {
		t.Error("a rule for code is not sent with a change of code")
	}
	if docs := sent("README.md"); strings.Contains(docs, "| security/S1 |") || !strings.Contains(docs, "| security/S3 |") {
		t.Error("a change of documents is sent the rules for code, or not those for everything")
	}
}
