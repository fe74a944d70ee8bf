package forge_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-github/v66/github"

	"touchstone/agent/forge"
	"touchstone/agent/githubsim"
)

func TestFailedChecks(t *testing.T) {
	w := start(t, githubsim.RepoOptions{})
	_, sha := w.open("topic")
	long := strings.Repeat("ok\n", 20000) + "FAIL: TestSum"
	w.check("test", sha, "completed", "failure",
		&github.CheckRunOutput{Title: github.String("1 failed"), Summary: github.String("TestSum"), Text: &long})
	w.check("vet", sha, "completed", "success", nil)
	w.check("slow", sha, "queued", "", nil)
	w.check("late", sha, "completed", "timed_out", nil)
	w.check("off", sha, "completed", "cancelled", nil)
	w.check("gate", sha, "completed", "action_required", nil)
	w.check("extra", sha, "completed", "neutral", nil)
	w.check("docs", sha, "completed", "skipped", nil)
	w.status("deploy", sha, "error")
	w.status("lint", sha, "success")
	failed, err := w.as(octocat).FailedChecks(t.Context(), app, sha)
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]forge.FailedCheck{}
	for _, check := range failed {
		byName[check.Name] = check
	}
	if len(failed) != 5 || byName["deploy"].Summary != "it said error" {
		t.Errorf("failed %+v; want test, late, off, gate and deploy", failed)
	}
	for name, conclusion := range map[string]string{"late": "timed_out", "off": "cancelled", "gate": "action_required"} {
		if check := byName[name]; check.Summary != "It ended as "+conclusion+"." {
			t.Errorf("%s says %q; it ended as %s", name, check.Summary, conclusion)
		}
	}
	reported, err := w.as(octocat).ChecksOf(t.Context(), app, sha)
	if err != nil {
		t.Fatal(err)
	}
	states := map[string]forge.CheckState{}
	for _, check := range reported {
		states[check.Name] = check.State
	}
	for name, want := range map[string]forge.CheckState{
		"test": forge.CheckFailure, "late": forge.CheckFailure, "deploy": forge.CheckFailure,
		"slow": forge.CheckPending, "lint": forge.CheckSuccess, "docs": forge.CheckSkipped,
	} {
		if states[name] != want {
			t.Errorf("%s is %q, want %q", name, states[name], want)
		}
	}
	if check := byName["test"]; check.Summary != "It ended as failure.\n1 failed\nTestSum" ||
		!strings.HasSuffix(check.Text, "FAIL: TestSum") || len(check.Text) > 32<<10 {
		t.Errorf("test says %q and %d bytes", check.Summary, len(check.Text))
	}
}

func TestJobLogsAndAnnotations(t *testing.T) {
	key := "ghp_" + strings.Repeat("x", 36)
	log := strings.Repeat("ok\n", 50000) + "\x1b[31mFAIL\x1b[0m: TestSum with " + key + " and token-of-octocat\n"
	w := startWithCI(t, githubsim.RepoOptions{}, func(context.Context, string, string, string) githubsim.CIResult {
		return githubsim.CIResult{Conclusion: "failure", Summary: "1 failed", Log: log}
	})
	_, sha := w.open("topic")
	w.check("lint", sha, "completed", "failure",
		&github.CheckRunOutput{Title: github.String("2 problems"), Summary: github.String("Look."), Annotations: []*github.CheckRunAnnotation{
			{Path: github.String("topic.go"), StartLine: github.Int(4), EndLine: github.Int(4), AnnotationLevel: github.String("failure"),
				Message: github.String("a is unused"), Title: github.String("unused:")},
			{Path: github.String("topic.go"), StartLine: github.Int(5), EndLine: github.Int(5), AnnotationLevel: github.String("warning"),
				Message: github.String("b is too short")},
		}})
	failed, err := w.as(octocat).FailedChecks(t.Context(), app, sha)
	if err != nil || len(failed) != 2 {
		t.Fatalf("failed %+v, %v; want the job and lint", failed, err)
	}
	job, lint := failed[0], failed[1]
	if want := "topic.go:4: failure: unused: a is unused\ntopic.go:5: warning: b is too short"; lint.Text != want {
		t.Errorf("lint says %q; want %q", lint.Text, want)
	}
	if !strings.HasSuffix(job.Text, "ok\nok\nFAIL: TestSum with [redacted] and [redacted]") {
		t.Errorf("the job's log ends in %q", job.Text[max(0, len(job.Text)-200):])
	}
	if len(job.Text) < 60<<10 || len(job.Text) > 64<<10 || !strings.HasPrefix(job.Text, "[the beginning is left out]") {
		t.Errorf("%d bytes of the log, which begin with %.60q", len(job.Text), job.Text)
	}
}

func TestBaseChecks(t *testing.T) {
	w := start(t, githubsim.RepoOptions{})
	first := w.commit("main", map[string]string{"first.txt": "1\n"})
	w.status("deploy", first, "success")
	w.status("flaky", first, "pending")
	ref, head := w.open("topic")
	w.check("build", head, "completed", "success", nil)
	w.check("docs", head, "completed", "skipped", nil)
	author := w.As(octocat)
	if _, _, err := author.Repositories.CreateStatus(t.Context(), app.Owner, app.Name, head,
		&github.RepoStatus{Context: github.String("mine"), State: github.String("success")}); err != nil {
		t.Fatal(err)
	}
	w.read(ref) // settles
	if _, err := forge.NewMerger(w.as(octocat)).SquashMerge(t.Context(), ref, forge.SquashRequest{SHA: head, Title: "Topic"}); err != nil {
		t.Fatal(err)
	}
	tip := w.commit("main", map[string]string{"last.txt": "1\n"})
	base, err := w.as(octocat).BaseChecks(t.Context(), app, tip)
	if err != nil || len(base.Expected) != 1 || base.Expected[0].Name != "build" {
		t.Errorf("expected are %+v, %v; want what reported on the pull request merged last", base.Expected, err)
	}
	if build := base.Expected[0].Source(); !base.Sources[build] || len(base.Sources) != 2 {
		t.Errorf("the sources are %v; want that of %s and of what reported on main itself", base.Sources, build)
	}
	before, err := w.as(octocat).BaseChecks(t.Context(), app, first)
	if err != nil || len(before.Expected) != 1 || before.Expected[0].Name != "deploy" {
		t.Errorf("before, expected are %+v, %v", before.Expected, err)
	}
}
