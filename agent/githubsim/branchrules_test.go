package githubsim_test

import (
	"net/http"
	"testing"

	"github.com/google/go-github/v66/github"

	"touchstone/agent/githubsim"
)

// ask makes a request that go-github has no method for.
func (w *world) ask(login, method, path string, body, answer any) error {
	w.t.Helper()
	client := w.As(login)
	request, err := client.NewRequest(method, "repos/acme/app/"+path, body)
	if err == nil {
		_, err = client.Do(w.t.Context(), request, answer)
	}
	return err
}

func (w *world) approve(login string, number int) {
	w.t.Helper()
	must(w.As(login).PullRequests.CreateReview(w.t.Context(), "acme", "app", number,
		&github.PullRequestReviewRequest{Event: github.String("APPROVE")}))(w.t)
}

func TestAutoMergeWaitsForTheRules(t *testing.T) {
	w := start(t, nil, githubsim.RepoOptions{Protected: map[string]githubsim.Protection{"main": {CodeOwners: []string{reviewer}}}})
	pr := w.open("feature", map[string]string{"a.txt": "a\n"})
	merged := func() bool {
		w.Settle()
		return must(w.As(author).PullRequests.Get(t.Context(), "acme", "app", pr.GetNumber()))(t).GetMerged()
	}
	w.query(author, `mutation($id: ID!) { enablePullRequestAutoMerge(input: {pullRequestId: $id, mergeMethod: SQUASH}) { pullRequest { `+
		`autoMergeRequest { enabledBy { login } mergeMethod } } } }`, map[string]any{"id": pr.GetNodeID()})
	w.approve("admin", pr.GetNumber())
	if merged() {
		t.Error("it is merged without the approval of its owner")
	}
	w.approve(reviewer, pr.GetNumber())
	if !merged() {
		t.Error("it is not merged although its owner approved it")
	}
}

func TestARenamedBranchTakesItsPullRequestsAlong(t *testing.T) {
	w := start(t, nil, githubsim.RepoOptions{})
	into, of := w.open("one", map[string]string{"a.txt": "a\n"}), w.open("two", map[string]string{"b.txt": "b\n"})
	for from, to := range map[string]string{"main": "trunk", "two": "second"} {
		if err := w.ask("admin", http.MethodPost, "branches/"+from+"/rename", map[string]string{"new_name": to}, nil); err != nil {
			t.Fatal(err)
		}
	}
	get := func(number int) *github.PullRequest {
		return must(w.As(author).PullRequests.Get(t.Context(), "acme", "app", number))(t)
	}
	if pr := get(into.GetNumber()); pr.GetBase().GetRef() != "trunk" || pr.GetState() != "open" {
		t.Errorf("the one into the branch is %s and goes into %s", pr.GetState(), pr.GetBase().GetRef())
	}
	if pr := get(of.GetNumber()); pr.GetState() != "closed" {
		t.Errorf("the one of the branch is %s", pr.GetState())
	}
	if err := w.ask(author, http.MethodPost, "branches/trunk/rename", map[string]string{"new_name": "main"},
		nil); status(err) != http.StatusForbidden {
		t.Errorf("somebody who may only write renames the default branch: %v", err)
	}
}

func TestRulesetsAreListed(t *testing.T) {
	w := start(t, nil, githubsim.RepoOptions{Protected: map[string]githubsim.Protection{
		"main": {Ruleset: true, Approvals: 1, RequiredChecks: []string{"test"}, MergeQueue: true},
	}})
	var rules []struct{ Type string }
	if err := w.ask(author, http.MethodGet, "rules/branches/main", nil, &rules); err != nil || len(rules) != 3 {
		t.Errorf("%+v, %v", rules, err)
	}
}
