package reviewer

import (
	"testing"

	"touchstone/agent/forge"
	"touchstone/guidelines"
	"touchstone/worktree/diff"
)

func TestRulesApplyByWhatAChangeTouches(t *testing.T) {
	rules, err := guidelines.Default()
	if err != nil {
		t.Fatal(err)
	}
	applied := func(path string) map[string]bool {
		ids := map[string]bool{}
		diff := diff.Diff{Files: []diff.File{{Path: path, Status: "modified", Patch: []byte("@@ -1 +1 @@\n-a\n+b\n")}}}
		for _, a := range rules.For(ChangeOf(forge.PullRequest{Title: "Change it"}, diff, nil, 1)) {
			ids[a.Row.ID] = true
		}
		return ids
	}
	// security/S1 is about code, security/S3 about everything.
	if code := applied("store/store.go"); !code["security/S1"] || !code["security/S3"] {
		t.Error("a rule for code does not apply to a change of code")
	}
	if docs := applied("README.md"); docs["security/S1"] || !docs["security/S3"] {
		t.Error("the rules for code apply to a change of documents, or those for everything do not")
	}
}
