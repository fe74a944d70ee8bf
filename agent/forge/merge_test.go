package forge_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-github/v66/github"

	"touchstone/agent/forge"
	"touchstone/agent/githubsim"
)

func TestMergeQueue(t *testing.T) {
	w := start(t, githubsim.RepoOptions{Protected: map[string]githubsim.Protection{"main": {Approvals: 1, MergeQueue: true}}})
	ref, old := w.open("topic")
	sha := w.commit("topic", map[string]string{"more.go": "package main\n"})
	w.Settle()
	w.SetFaults(githubsim.Faults{HoldMergeQueue: true})
	merger := forge.NewMerger(w.as(octocat))
	pr := w.read(ref)
	if !pr.Queue || pr.InQueue {
		t.Errorf("there is a queue: %t; it waits in it: %t", pr.Queue, pr.InQueue)
	}
	if err := merger.Enqueue(t.Context(), pr.ID, sha); !errors.Is(err, forge.ErrNotMergeable) {
		t.Errorf("without an approval: %v", err)
	}
	if _, err := w.post(ref, sha, forge.Approve, "Good."); err != nil {
		t.Fatal(err)
	}
	if _, err := merger.SquashMerge(t.Context(), ref, forge.SquashRequest{SHA: sha, Title: "Add it"}); !errors.Is(err, forge.ErrNotMergeable) {
		t.Errorf("merged past the queue: %v", err)
	}
	if err := merger.Enqueue(t.Context(), pr.ID, old); !errors.Is(err, forge.ErrHeadMoved) {
		t.Errorf("an older head: %v", err)
	}
	if err := forge.NewMerger(w.as(guest)).Enqueue(t.Context(), "PR_0", sha); !errors.Is(err, forge.ErrNotFound) {
		t.Errorf("what is not there: %v", err)
	}
	if err := merger.Enqueue(t.Context(), pr.ID, sha); err != nil {
		t.Fatal(err)
	}
	if pr := w.read(ref); !pr.InQueue || pr.Merged || pr.Enqueued.By.Login != octocat || pr.Enqueued.At.IsZero() {
		t.Errorf("in the queue %t, merged %t, put there %+v", pr.InQueue, pr.Merged, pr.Enqueued)
	}
	w.SetFaults(githubsim.Faults{})
	w.Settle()
	if pr := w.read(ref); pr.InQueue || !pr.Merged || pr.MergedAt == nil || pr.MergedBy.Login != octocat {
		t.Errorf("in the queue %t, merged %t by %+v", pr.InQueue, pr.Merged, pr.MergedBy)
	}
}

func TestLeavingTheMergeQueue(t *testing.T) {
	w := start(t, githubsim.RepoOptions{Permissions: map[string]string{octocat: "write"},
		Protected: map[string]githubsim.Protection{"main": {MergeQueue: true}}})
	ref, sha := w.open("topic")
	w.SetFaults(githubsim.Faults{HoldMergeQueue: true})
	merger := forge.NewMerger(w.as(octocat))
	pr := w.read(ref)
	if err := merger.Dequeue(t.Context(), pr.ID); err == nil {
		t.Error("it left a queue that it was not in")
	}
	if err := merger.Enqueue(t.Context(), pr.ID, sha); err != nil {
		t.Fatal(err)
	}
	if err := forge.NewMerger(w.as(guest)).Dequeue(t.Context(), pr.ID); !errors.Is(err, forge.ErrForbidden) {
		t.Errorf("taken out by a guest: %v", err)
	}
	if err := merger.Dequeue(t.Context(), pr.ID); err != nil {
		t.Fatal(err)
	}
	w.SetFaults(githubsim.Faults{})
	w.Settle()
	if pr := w.read(ref); pr.InQueue || pr.Merged || pr.Enqueued != (forge.Enqueuing{}) {
		t.Errorf("in the queue %t, merged %t after it was taken out; put there %+v", pr.InQueue, pr.Merged, pr.Enqueued)
	} else if out := pr.Dequeued; len(out) != 1 || out[0].By.Login != octocat || out[0].By.Bot || out[0].At.IsZero() {
		t.Errorf("it was taken out %+v", out)
	}
}

func TestAPushLeavesTheMergeQueue(t *testing.T) {
	w := start(t, githubsim.RepoOptions{Protected: map[string]githubsim.Protection{"main": {MergeQueue: true}}})
	ref, sha := w.open("topic")
	w.SetFaults(githubsim.Faults{HoldMergeQueue: true})
	if err := forge.NewMerger(w.as(octocat)).Enqueue(t.Context(), w.read(ref).ID, sha); err != nil {
		t.Fatal(err)
	}
	w.commit("topic", map[string]string{"more.go": "package main\n"})
	w.SetFaults(githubsim.Faults{})
	w.Settle()
	if pr := w.read(ref); pr.InQueue || pr.Merged {
		t.Errorf("in the queue %t, merged %t after a push", pr.InQueue, pr.Merged)
	}
}

func TestDeleteBranch(t *testing.T) {
	w := start(t, githubsim.RepoOptions{Permissions: map[string]string{octocat: "write"}})
	old := w.commit("topic", map[string]string{"a.go": "package main\n"})
	sha := w.commit("topic", map[string]string{"b.go": "package main\n"})
	merger := forge.NewMerger(w.as(octocat))
	if err := merger.DeleteBranch(t.Context(), app, "topic", old); err == nil {
		t.Error("a branch that moved on is deleted")
	}
	if err := forge.NewMerger(w.as(guest)).DeleteBranch(t.Context(), app, "topic", sha); !errors.Is(err, forge.ErrForbidden) {
		t.Errorf("deleted by a guest: %v", err)
	}
	w.commit("above", map[string]string{"c.go": "package main\n"})
	above, _, err := w.As(octocat).PullRequests.Create(t.Context(), app.Owner, app.Name,
		&github.NewPullRequest{Title: github.String("Above"), Head: github.String("above"), Base: github.String("topic")})
	if err != nil {
		t.Fatal(err)
	}
	if err := merger.DeleteBranch(t.Context(), app, "topic", sha); err == nil ||
		!strings.Contains(err.Error(), "#1 has it as its base; change the base of that pull request first") {
		t.Errorf("a branch that #%d is to be merged into: %v", above.GetNumber(), err)
	}
	if _, _, err := w.As(octocat).Git.GetRef(t.Context(), app.Owner, app.Name, "heads/topic"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.As(octocat).PullRequests.Edit(t.Context(), app.Owner, app.Name, above.GetNumber(),
		&github.PullRequest{State: github.String("closed")}); err != nil {
		t.Fatal(err)
	}
	if err := merger.DeleteBranch(t.Context(), app, "topic", sha); err != nil {
		t.Fatal(err)
	}
	if _, response, _ := w.As(octocat).Git.GetRef(t.Context(), app.Owner, app.Name, "heads/topic"); response.StatusCode != 404 {
		t.Errorf("the branch is still there: %s", response.Status)
	}
	if err := merger.DeleteBranch(t.Context(), app, "topic", sha); err == nil {
		t.Error("a branch that is gone is deleted")
	}
}
