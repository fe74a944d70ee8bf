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
	"touchstone/agent/reviewer"
	"touchstone/verdict"
	"touchstone/verdict/decide"
)

// agentOf is an agent without an engine, which can look and speak.
func agentOf(g *loopback.GitHub, role decide.Role, login string) *Agent {
	cfg := config.Default()
	cfg.Reviewers = []string{loopback.Judge}
	cfg.Merge.RequireChecks = false
	client := g.Client(login)
	return &Agent{Role: role, Config: config.NewLive(cfg, nil).Config, Read: client, Caller: forge.NewSpeaker(client), Worktrees: g.Worktrees,
		Remote: client.Remote, Approve: forge.NewPoster(client), Report: forge.NewReporter(client),
		Reviewer: &reviewer.Reviewer{Read: client, Withdraw: forge.NewWithdrawer(client)}}
}

// decide is what an agent decides on a pull request as it is now.
func decided(t *testing.T, g *loopback.GitHub, a *Agent, pr forge.PullRequest) decide.Action {
	t.Helper()
	g.Read(loopback.Root, pr.Ref) // what GitHub computes is computed
	_, action, err := a.Look(t.Context(), pr.Ref)
	if err != nil {
		t.Fatal(err)
	}
	return action
}

// stateOf is the state on which an agent decides.
func stateOf(t *testing.T, a *Agent, pr forge.PullRequest) decide.State {
	t.Helper()
	f, _, err := a.decide(t.Context(), knowledge{a.Read, a}, pr, nil)
	if err != nil {
		t.Fatal(err)
	}
	return pull.StateOf(pr, a.Role, a.Config(), f)
}

// approved is a pull request that the reviewer approves, over a base with files.
func approved(t *testing.T, base, change map[string]string) (*loopback.GitHub, forge.PullRequest) {
	g := loopback.New(t, base)
	g.Commit("topic", "Add code", change)
	return g, g.Reviewed(g.Open("topic"), verdict.Approve)
}

var fine = map[string]string{"code.txt": "fine\n"}

// TestARewrittenBaseMakesAnApprovalVoid: what came to the base before the review was no part of it. If
// the base loses that again, it would come with the merge, unread.
func TestARewrittenBaseMakesAnApprovalVoid(t *testing.T) {
	t.Parallel()
	g := loopback.New(t, map[string]string{"README.md": "one\n"})
	first := g.Commit("main", "First", map[string]string{"README.md": "two\n"})
	g.Commit("main", "Second", map[string]string{"unread.txt": "unread\n"})
	g.Commit("topic", "Add code", fine)
	pr := g.Reviewed(g.Open("topic"), verdict.Approve)
	author, judge := agentOf(g, decide.Author, loopback.Author), agentOf(g, decide.Reviewer, loopback.Judge)
	if a := decided(t, g, author, pr); a.Kind != decide.Merge {
		t.Fatalf("before: %+v", a)
	}
	g.Commit("main", "Third", map[string]string{"README.md": "three\n"})
	if a := decided(t, g, author, pr); a.Kind != decide.Merge {
		t.Errorf("the base moved on: %+v", a)
	}
	if a := decided(t, g, judge, pr); a.Kind != decide.Wait {
		t.Errorf("the base moved on: %+v", a)
	}
	g.Call(loopback.Root, http.MethodPatch, "git/refs/heads/main", map[string]any{"sha": first, "force": true}, nil)
	if a := decided(t, g, author, pr); a.Kind != decide.Wait || !strings.Contains(a.Reason, "not reviewed") {
		t.Errorf("the base was rewritten: %+v", a)
	}
	if a := decided(t, g, judge, pr); a.Kind != decide.Review {
		t.Errorf("the base was rewritten: %+v", a)
	}
}

// files are so many.
func files(n int) map[string]string {
	all := map[string]string{}
	for i := range n {
		all[fmt.Sprintf("src/%d.txt", i)] = "text\n"
	}
	return all
}

func TestMergingIsLeftToTheAuthor(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		repository string
		base       string // another file on main
		change     map[string]string
		set        func(*Agent)
		label      string
		reason     string // a part of it; empty where the agent merges
	}{
		"nothing is said": {},
		"off on this machine": {set: func(a *Agent) { configure(a, func(c *config.Config) { c.Merge.Auto = false }) },
			reason: "in the agent's configuration"},
		"a label":               {label: "touchstone-manual", reason: "label touchstone-manual"},
		"off in the repository": {repository: "merge:\n  auto: false\n", reason: "merge.auto is off in .touchstone/config.yaml"},
		"on in the repository":  {repository: "merge:\n  auto: true\n"},
		"a file that it names": {repository: "merge:\n  manual: ['payments/**']\n",
			change: map[string]string{"payments/a.go": "package payments\n"}, reason: "merge.manual"},
		"another file": {repository: "merge:\n  manual: ['payments/**']\n"},
		"more files than GitHub lists": {repository: "merge:\n  manual: ['payments/**']\n", change: files(3000),
			reason: "more files than GitHub lists"},
		"settings that are no file": {base: config.RepositoryPath + "/settings", reason: "cannot be read"},
		"settings behind a file":    {base: config.RepositoryDir, reason: "make it a directory"},
		"broken":                    {repository: "merge:\n  autoo: true\n", reason: "cannot be read"},
		"by hand, whatever is said": {repository: "merge:\n  auto: false\n", set: func(a *Agent) { a.ByHand = true }},
		"the change would switch it on": {repository: "merge:\n  auto: false\n",
			change: map[string]string{config.RepositoryPath: "merge:\n  auto: true\n"}, reason: "merge.auto is off"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := map[string]string{"README.md": "one\n"}
			if tc.repository != "" {
				base[config.RepositoryPath] = tc.repository
			}
			if tc.base != "" {
				base[tc.base] = "text\n"
			}
			if tc.change == nil {
				tc.change = fine
			}
			g, pr := approved(t, base, tc.change)
			a := agentOf(g, decide.Author, loopback.Author)
			if tc.set != nil {
				tc.set(a)
			}
			if tc.label != "" {
				g.Call(loopback.Author, http.MethodPost, "issues/1/labels", []string{tc.label}, nil)
			}
			action := decided(t, g, a, pr)
			if tc.reason == "" {
				if action.Kind != decide.Merge {
					t.Errorf("it comes to %+v", action)
				}
				return
			}
			if action.Kind != decide.Tell || !strings.Contains(action.Reason, tc.reason) {
				t.Fatalf("it comes to %+v", action)
			}
			if _, err := a.Act(t.Context(), pr, action); err != nil {
				t.Fatal(err)
			}
			comments := g.Read(loopback.Author, pr.Ref).Comments
			if len(comments) != 1 || !strings.Contains(comments[0].Body, "waits for its author") ||
				!strings.Contains(comments[0].Body, "`touchstone merge 1 --repo acme/app`") {
				t.Errorf("it said %+v", comments)
			}
			if again := decided(t, g, a, pr); again.Kind != decide.Wait {
				t.Errorf("once it is said, it comes to %+v", again)
			}
		})
	}
}

// A strangers' order is none, and what people may do is asked of GitHub.
func TestOrdersTakeTheRightTo(t *testing.T) {
	t.Parallel()
	g, pr := approved(t, map[string]string{"README.md": "one\n"}, fine)
	a := agentOf(g, decide.Author, loopback.Author)
	g.Call(loopback.Person, http.MethodPost, "issues/1/comments", map[string]any{"body": "/touchstone stop"}, nil)
	if action := decided(t, g, a, pr); action.Kind != decide.Wait || action.Reason != loopback.Person+" has stopped the agents here" {
		t.Errorf("it comes to %+v", action)
	}
	g.Call(loopback.Judge, http.MethodPost, "issues/1/comments", map[string]any{"body": "/touchstone resume"}, nil)
	if action := decided(t, g, a, pr); action.Kind != decide.Wait {
		t.Errorf("an agent's order is followed: %+v", action)
	}
	g.Call(loopback.Root, http.MethodPost, "issues/1/comments", map[string]any{"body": "/touchstone resume"}, nil)
	if action := decided(t, g, a, pr); action.Kind != decide.Merge {
		t.Errorf("it comes to %+v", action)
	}
}

// Where GitHub does not show who may do what, an insider's word stops the agents, and no
// other order of theirs counts.
func TestStopIsHeardWhereRightsCannotBeSeen(t *testing.T) {
	t.Parallel()
	g, pr := approved(t, map[string]string{"README.md": "one\n"}, fine)
	g.Sim.Intercept(func(_ string, r *http.Request) githubsim.Fault {
		if strings.HasSuffix(r.URL.Path, "/permission") {
			return githubsim.Fault{Status: http.StatusNotFound}
		}
		return githubsim.Fault{}
	})
	a := agentOf(g, decide.Author, loopback.Author)
	for _, order := range []string{"stop", "resume"} {
		g.Call(loopback.Person, http.MethodPost, "issues/1/comments", map[string]any{"body": "/touchstone " + order}, nil)
		if action := decided(t, g, a, pr); action.Kind != decide.Wait || action.Reason != loopback.Person+" has stopped the agents here" {
			t.Errorf("after %s it comes to %+v", order, action)
		}
	}
	stranger := g.Read(loopback.Author, pr.Ref)
	for i := range stranger.Comments {
		stranger.Comments[i].Association = "CONTRIBUTOR"
	}
	if orders, err := a.Orders(t.Context(), stranger); err != nil || len(orders) > 0 {
		t.Errorf("a stranger orders %+v, %v", orders, err)
	}
}

// TestNothingIsDecidedOnHalfTheFacts checks that there is no decision if one of the facts for it is missing.
func TestNothingIsDecidedOnHalfTheFacts(t *testing.T) {
	t.Parallel()
	g, pr := approved(t, map[string]string{"README.md": "one\n"}, fine)
	g.Call(loopback.Person, http.MethodPost, "issues/1/comments", map[string]any{"body": "/touchstone stop"}, nil)
	g.Sim.Intercept(refuse("/permission"))
	if _, action, err := agentOf(g, decide.Author, loopback.Author).Look(t.Context(), pr.Ref); err == nil {
		t.Errorf("it comes to %+v", action)
	}
}

// refuse has GitHub fail at what ends in path.
func refuse(path string) func(string, *http.Request) githubsim.Fault {
	return func(_ string, r *http.Request) githubsim.Fault {
		if strings.HasSuffix(r.URL.Path, path) {
			return githubsim.Fault{Status: http.StatusUnauthorized}
		}
		return githubsim.Fault{}
	}
}
