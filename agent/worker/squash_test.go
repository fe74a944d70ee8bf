package worker

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"touchstone/agent/config"
	"touchstone/agent/e2e/loopback"
	"touchstone/agent/forge"
	"touchstone/agent/githubsim"
	"touchstone/agent/pull"
	"touchstone/verdict"
	"touchstone/verdict/decide"
)

// longFile is a file in which a change of line 20 leaves much around it.
func longFile(edits map[int]string) map[string]string {
	lines := make([]string, 40)
	for i := range lines {
		lines[i] = fmt.Sprintf("line %d", i+1)
	}
	for line, text := range edits {
		lines[line-1] = text
	}
	return map[string]string{"long.txt": strings.Join(lines, "\n") + "\n"}
}

// approvedEdit is an approved pull request that changes line 20 of a file.
func approvedEdit(t *testing.T) (*loopback.GitHub, forge.PullRequest, *Agent) {
	t.Helper()
	g := loopback.New(t, longFile(nil))
	g.Commit("topic", "Begin", nil)
	g.Commit("main", "Go on", map[string]string{"some.txt": "some\n"})
	g.Commit("topic", "Edit", longFile(map[int]string{20: "changed"}))
	pr := g.Reviewed(g.Open("topic"), verdict.Approve)
	return g, pr, agentOf(g, decide.Author, loopback.Author)
}

// TestApprovalIsOfWhatTheMergeChanges: where the base goes on so that the merge changes something
// else, the head is reviewed again, and not merged meanwhile.
func TestApprovalIsOfWhatTheMergeChanges(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		base   map[string]string
		author decide.Kind
		judge  decide.Kind
	}{
		"nothing":              {nil, decide.Merge, decide.Wait},
		"another file":         {map[string]string{"other.txt": "other\n"}, decide.Merge, decide.Wait},
		"lines far away":       {longFile(map[int]string{2: "base"}), decide.Merge, decide.Wait},
		"a line beside it":     {longFile(map[int]string{18: "base"}), decide.Wait, decide.Review},
		"the very line":        {longFile(map[int]string{20: "base"}), decide.Fix, decide.Wait},
		"the change, for good": {longFile(map[int]string{20: "changed"}), decide.Wait, decide.Review},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, pr, author := approvedEdit(t)
			if tc.base != nil {
				g.Commit("main", "Go on", tc.base)
			}
			if action := decided(t, g, author, pr); action.Kind != tc.author {
				t.Errorf("the author's agent decides %+v, want %s", action, tc.author)
			}
			if action := decided(t, g, agentOf(g, decide.Reviewer, loopback.Judge), pr); action.Kind != tc.judge {
				t.Errorf("the reviewer's agent decides %+v, want %s", action, tc.judge)
			}
		})
	}
}

// TestMergeIsComparedWithWhatWasApproved: what comes to the base between the last look and the
// merge is merged over, and people are called if that makes another change.
func TestMergeIsComparedWithWhatWasApproved(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		meanwhile func(g *loopback.GitHub)
		want      string
	}{
		"nothing":      {func(*loopback.GitHub) {}, ""},
		"another file": {func(g *loopback.GitHub) { g.Commit("main", "Go on", map[string]string{"other.txt": "other\n"}) }, ""},
		"a line beside it": {func(g *loopback.GitHub) { g.Commit("main", "Go on", longFile(map[int]string{18: "base"})) },
			"is not what was approved"},
		"another base": {func(g *loopback.GitHub) {
			g.Call(loopback.Author, http.MethodPatch, "pulls/1", map[string]any{"base": "release"}, nil)
		}, "was approved for main and merged into release"},
		"a base rewritten": {func(g *loopback.GitHub) {
			var tip struct{ Parents []struct{ SHA string } }
			g.Call(loopback.Root, http.MethodGet, "commits/main", nil, &tip)
			g.Call(loopback.Root, http.MethodPatch, "git/refs/heads/main", map[string]any{"sha": tip.Parents[0].SHA, "force": true}, nil)
		}, "main was force-pushed at that moment"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, pr, a := approvedEdit(t)
			g.Commit("release", "Begin a release", map[string]string{"release.txt": "1\n"})
			a.Merger = authorOf(t, g, nil).Merger
			action := decided(t, g, a, pr)
			g.Sim.Intercept(func(login string, r *http.Request) githubsim.Fault {
				if r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, "/merge") {
					tc.meanwhile(g)
				}
				return githubsim.Fault{}
			})
			step, err := a.Act(t.Context(), pr, action)
			if err != nil || step.Head == "" {
				t.Fatalf("%s ends in %+v, %v", action.Kind, step, err)
			}
			now := g.Read(loopback.Author, pr.Ref)
			said := ""
			for _, c := range now.Comments {
				said += c.Body
			}
			called := pull.Labelled(now, a.Config().Labels.NeedsHuman)
			if called != (tc.want != "") || !strings.Contains(said, tc.want) {
				t.Fatalf("people were called: %v, by %q", called, said)
			}
			if called && !strings.Contains(said, "git revert --no-edit "+step.Head) {
				t.Errorf("it does not say how to take %s back: %s", step.Head, said)
			}
			giveUp(t, a, now)
			if again := g.Read(loopback.Author, pr.Ref); len(again.Comments) != len(now.Comments) {
				t.Errorf("people are called again: %v", again.Comments)
			}
		})
	}
}

// A call to a merge that is not what was approved is complete only with the label: where GitHub refused it, the
// next look sets it, and where a person has removed it, it stays off.
func TestMergeThatWasNotApprovedIsLabelled(t *testing.T) {
	t.Parallel()
	g, pr, _ := approvedEdit(t)
	a := authorOf(t, g, nil)
	action := decided(t, g, a, pr)
	g.Sim.Intercept(func(_ string, r *http.Request) githubsim.Fault {
		switch {
		case r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, "/merge"):
			g.Commit("main", "Go on", longFile(map[int]string{18: "base"}))
		case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/labels"):
			return githubsim.Fault{Status: http.StatusUnprocessableEntity}
		}
		return githubsim.Fault{}
	})
	if step, err := a.Act(t.Context(), pr, action); err != nil || step.Head == "" {
		t.Fatalf("%s ends in %+v, %v", action.Kind, step, err)
	}
	label := a.Config().Labels.NeedsHuman
	now := g.Read(loopback.Author, pr.Ref)
	if len(now.Comments) != 1 || pull.Labelled(now, label) {
		t.Fatalf("the call is %v, with labels %v; want a comment only", now.Comments, now.Labels)
	}
	g.Sim.Intercept(nil)
	giveUp(t, a, now)
	now = g.Read(loopback.Author, pr.Ref)
	if len(now.Comments) != 1 || !pull.Labelled(now, label) {
		t.Errorf("the call has %d comments and the labels %v, want one and %s", len(now.Comments), now.Labels, label)
	}
	g.Call(loopback.Author, http.MethodDelete, "issues/1/labels/"+label, nil, nil)
	if err := a.checkMerge(t.Context(), now, pr.Head.SHA, now.MergeSHA); err != nil {
		t.Fatal(err)
	}
	if pull.Labelled(g.Read(loopback.Author, pr.Ref), label) {
		t.Errorf("%s is set again after a person removed it", label)
	}
}

// A reviewer's approval for another base says nothing about a merge that another reviewer approved.
func TestApprovalsForAnotherBaseAreNoPartOfAMerge(t *testing.T) {
	t.Parallel()
	approval := func(by, base string) forge.SubmittedReview {
		seal, err := verdict.Record{Verdict: verdict.Approve, Head: "aaa", BaseBranch: base, Round: 1}.Seal(verdict.Signer{})
		if err != nil {
			t.Fatal(err)
		}
		return forge.SubmittedReview{Author: forge.User{Login: by}, SHA: "aaa", State: forge.Approved, Body: seal}
	}
	g := loopback.New(t, longFile(nil))
	a := agentOf(g, decide.Author, loopback.Author)
	cfg := a.Config()
	cfg.Reviewers = []string{"judge", "other"}
	a.Config = func() config.Config { return cfg }
	pr := forge.PullRequest{Viewer: loopback.Author, Base: forge.Branch{Name: "main"}}
	for name, test := range map[string]struct {
		reviews []forge.SubmittedReview
		want    string
	}{
		"beside one for this base": {[]forge.SubmittedReview{approval("other", "release"), approval("judge", "main")}, "main"},
		"alone":                    {[]forge.SubmittedReview{approval("other", "release")}, "release"},
	} {
		pr.Reviews = test.reviews
		if all := a.approvals(pr, "aaa"); len(all) != 1 || all[0].BaseBranch != test.want {
			t.Errorf("%s: it is merged on %+v, want the one for %s", name, all, test.want)
		}
	}
}
