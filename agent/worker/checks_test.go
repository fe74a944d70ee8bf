package worker

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"touchstone/agent/config"
	"touchstone/agent/e2e/loopback"
	"touchstone/agent/forge"
	"touchstone/agent/githubsim"
	"touchstone/agent/pull"
	"touchstone/verdict"
	"touchstone/verdict/decide"
)

// reports has CI say of a commit how a check of it stands.
func reports(g *loopback.GitHub, sha, check, state string) {
	g.Call(loopback.Person, http.MethodPost, "statuses/"+sha, map[string]any{"state": state, "context": check}, nil)
}

// TestChecksThatHaveNotBegunAreWaitedFor checks that the agent waits for CI to start: an approval can come
// within seconds, and a quick check can pass before the rest of CI has started.
func TestChecksThatHaveNotBegunAreWaitedFor(t *testing.T) {
	t.Parallel()
	g, first := approved(t, map[string]string{"README.md": "one\n"}, fine)
	reports(g, first.Head.SHA, "lint", "success")
	reports(g, first.Head.SHA, "build", "failure")
	a := agentOf(g, decide.Author, loopback.Author)
	g.Commit("topic", "Build again", map[string]string{"code.txt": "better\n"})
	pr := g.Reviewed(first.Ref, verdict.Approve)
	reports(g, pr.Head.SHA, "lint", "success")
	action := decided(t, g, a, pr)
	if action.Kind != decide.Wait || !strings.Contains(action.Reason, `the check "build"`) || action.Recheck <= 0 ||
		action.Recheck > 10*time.Minute {
		t.Fatalf("before CI has begun it comes to %+v", action)
	}
	reports(g, pr.Head.SHA, "build", "pending")
	if action := decided(t, g, a, pr); action.Kind != decide.Wait || action.Reason != "checks are running" {
		t.Errorf("while CI runs it comes to %+v", action)
	}
	reports(g, pr.Head.SHA, "build", "success")
	if action := decided(t, g, a, pr); action.Kind != decide.Merge {
		t.Errorf("after CI it comes to %+v", action)
	}
}

// TestACheckThatFailedHasToBeSeenToPass checks that a failed check must pass on the repaired head: otherwise
// an outage of CI at that moment would let the head through.
func TestACheckThatFailedHasToBeSeenToPass(t *testing.T) {
	t.Parallel()
	g, first := approved(t, map[string]string{"README.md": "one\n"}, fine)
	reports(g, first.Head.SHA, "lint", "success")
	reports(g, first.Head.SHA, "build", "failure")
	a := agentOf(g, decide.Author, loopback.Author)
	g.Commit("topic", "Build again", map[string]string{"code.txt": "better\n"})
	pr := g.Reviewed(first.Ref, verdict.Approve)
	reports(g, pr.Head.SHA, "lint", "success")
	// By GitHub's clock, a quarter of an hour goes by.
	later := func() decide.Action {
		t.Helper()
		a.Now = func() time.Time { return time.Now().Add(15 * time.Minute) }
		action, err := a.Decide(t.Context(), g.Read(loopback.Author, pr.Ref))
		if err != nil {
			t.Fatal(err)
		}
		return action
	}
	action := later()
	if action.Kind != decide.Tell || !strings.Contains(action.Reason,
		`the check "build" failed on an earlier head, and has not run on this one`) {
		t.Fatalf("it comes to %+v", action)
	}
	if _, err := a.Act(t.Context(), pr, action); err != nil {
		t.Fatal(err)
	}
	if action := later(); action.Kind != decide.Wait {
		t.Errorf("once it is said it comes to %+v", action)
	}
	reports(g, pr.Head.SHA, "build", "success")
	if action := later(); action.Kind != decide.Merge {
		t.Errorf("once it passes it comes to %+v", action)
	}
}

// TestItsAuthorIsToldOnceOfEachReason checks that the author is told a reason about the whole pull request
// once, and a reason about a head once per head.
func TestItsAuthorIsToldOnceOfEachReason(t *testing.T) {
	t.Parallel()
	g, pr := approved(t, map[string]string{"README.md": "one\n"}, fine)
	a := agentOf(g, decide.Author, loopback.Author)
	tell := func(action decide.Action) {
		t.Helper()
		if action.Kind != decide.Tell {
			t.Fatalf("it comes to %+v", action)
		}
		if _, err := a.Act(t.Context(), pr, action); err != nil {
			t.Fatal(err)
		}
	}
	configure(a, func(c *config.Config) { c.Merge.Auto = false })
	tell(decided(t, g, a, pr))
	g.Commit("topic", "More", map[string]string{"more.txt": "more\n"})
	pr = g.Reviewed(pr.Ref, verdict.Approve)
	if action := decided(t, g, a, pr); action.Kind != decide.Wait {
		t.Errorf("of the next head, for the same reason, it comes to %+v", action)
	}
	configure(a, func(c *config.Config) { c.Merge.Auto = true })
	g.Call(loopback.Author, http.MethodPost, "issues/1/labels", []string{"touchstone-manual"}, nil)
	tell(decided(t, g, a, pr))
	told := stateOf(t, a, g.Read(loopback.Author, pr.Ref)).Notices
	if len(told) != 2 || told[0].Topic != "setting" || told[0].SHA == told[1].SHA ||
		told[1] != (decide.Notice{Topic: "label", SHA: pr.Head.SHA}) {
		t.Errorf("it was told of %+v", told)
	}
}

// Patience is counted from what begins anew, and from no comment.
func TestWhatRenewsAPullRequest(t *testing.T) {
	t.Parallel()
	g, pr := approved(t, map[string]string{"README.md": "one\n"}, fine)
	now := func() forge.PullRequest { return g.Read(loopback.Author, pr.Ref) }
	a := agentOf(g, decide.Author, loopback.Author)
	renewed := func() time.Time { return stateOf(t, a, now()).RenewedAt }
	comment(g, loopback.Person, "What a day.")
	g.Call(loopback.Person, http.MethodPost, "issues/1/labels", []string{"urgent"}, nil)
	g.Call(loopback.Person, http.MethodDelete, "issues/1/labels/urgent", nil, nil)
	if at := renewed(); !at.IsZero() {
		t.Fatalf("talk renewed it at %v", at)
	}
	g.Call(loopback.Person, http.MethodPost, "issues/1/labels", []string{"touchstone-hold"}, nil)
	g.Call(loopback.Person, http.MethodDelete, "issues/1/labels/touchstone-hold", nil, nil)
	if renewed().IsZero() {
		t.Error("a hold that was lifted did not renew it")
	}
	for _, state := range []string{"closed", "open"} {
		g.Call(loopback.Author, http.MethodPatch, "pulls/1", map[string]any{"state": state}, nil)
	}
	if now().RenewedAt.IsZero() {
		t.Error("opening it again did not renew it")
	}
}

// GitHub begins to compute when it is asked, so only what this process saw counts, and it
// counts from the first look at which there was no answer.
func TestSinceWhenGitHubComputes(t *testing.T) {
	t.Parallel()
	var h heads
	since := func(m forge.Mergeable) time.Time {
		pr := forge.PullRequest{Open: true, Head: forge.Branch{SHA: "a"}, Mergeable: m}
		h.note(pr, pull.Facts{Now: time.Now()}, decide.Action{})
		return h.recall(pr, time.Now()).unknown
	}
	first := since(forge.MergeableUnknown)
	if first.IsZero() || !since(forge.MergeableUnknown).Equal(first) {
		t.Errorf("it computes since %v", first)
	}
	if at := since(forge.MergeableClean); !at.IsZero() {
		t.Errorf("once it has answered, it computes since %v", at)
	}
}

// TestABranchThatOthersBuildOnIsLeftToItsAuthor checks that a branch that no agent pushes to is left to its
// author, with one sentence on the pull request.
func TestABranchThatOthersBuildOnIsLeftToItsAuthor(t *testing.T) {
	t.Parallel()
	g := loopback.New(t, map[string]string{"README.md": "one\n"})
	g.Commit("release", "Begin a release", map[string]string{"RELEASE.md": "1\n"})
	g.Commit("main", "Go on", map[string]string{"code.txt": "unsafe()\n"})
	g.Call(loopback.Author, http.MethodPost, "pulls", map[string]any{"head": "main", "base": "release", "title": "Release"}, nil)
	ref := forge.Ref{Repo: loopback.Repo, Number: 1}
	a := agentOf(g, decide.Author, loopback.Author)
	for _, step := range []struct {
		v    verdict.Verdict
		said string
	}{
		{verdict.RequestChanges, ": the review requests changes, and that is left to its author: other branches are built on its branch. Push " +
			"to the branch yourself"},
		{verdict.Approve, " is approved and green, and waits for its author to merge it: other branches are built on its branch. Merge it on " +
			"GitHub.\n"},
	} {
		pr := g.Reviewed(ref, step.v)
		action := decided(t, g, a, pr)
		if action.Kind != decide.Tell {
			t.Fatalf("it comes to %+v", action)
		}
		if _, err := a.Act(t.Context(), pr, action); err != nil {
			t.Fatal(err)
		}
		comments := g.Read(loopback.Author, ref).Comments
		if said := comments[len(comments)-1].Body; !strings.HasPrefix(said, pr.Head.SHA[:7]+step.said) {
			t.Errorf("it says %q", said)
		}
		if again := decided(t, g, a, pr); again.Kind != decide.Wait {
			t.Errorf("once it is said, it comes to %+v", again)
		}
	}
}

// TestWhatARulesetRequiresIsNamed: a check that never begins is only in the rules.
func TestWhatARulesetRequiresIsNamed(t *testing.T) {
	t.Parallel()
	for _, rules := range []githubsim.Protection{{RequiredChecks: []string{"build", "e2e"}},
		{Ruleset: true, RequiredChecks: []string{"build", "e2e"}}} {
		g := loopback.New(t, map[string]string{"README.md": "one\n"})
		g.Commit("stable/1", "Begin", fine)
		g.Must(g.Protect(loopback.Repo.String(), map[string]githubsim.Protection{"stable/1": rules}))
		g.Commit("topic", "Add code", fine)
		var made struct{ Number int }
		g.Call(loopback.Author, http.MethodPost, "pulls", map[string]any{"title": "t", "head": "topic", "base": "stable/1"}, &made)
		pr := g.Reviewed(forge.Ref{Repo: loopback.Repo, Number: made.Number}, verdict.Approve)
		reports(g, pr.Base.SHA, "build", "success")
		reports(g, pr.Head.SHA, "build", "success")
		action := decided(t, g, agentOf(g, decide.Author, loopback.Author), pr)
		if want := `the check "e2e" has not begun, which the rules of stable/1 require`; action.Kind != decide.Wait ||
			!strings.Contains(action.Reason, want) {
			t.Errorf("it comes to %+v, want %q", action, want)
		}
	}
}

// reportsAs has a login say of a commit how a check of it stands.
func reportsAs(g *loopback.GitHub, login, sha, check, state string) {
	g.Call(login, http.MethodPost, "statuses/"+sha, map[string]any{"state": state, "context": check}, nil)
}

// TestOnlyWhatTheBaseKnowsIsGreen covers a base without required checks, where a single check from anywhere
// used to let a head through.
func TestOnlyWhatTheBaseKnowsIsGreen(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		settings string
		reports  func(g *loopback.GitHub, base, head string)
		want     decide.Kind
		reason   string // a part of it
	}{
		"what reports on the base passes": {"", func(g *loopback.GitHub, base, head string) {
			reports(g, base, "build", "success")
			reports(g, head, "build", "success")
		}, decide.Merge, ""},
		"the author says so": {"", func(g *loopback.GitHub, base, head string) {
			reports(g, base, "build", "success")
			reportsAs(g, loopback.Author, head, "lint", "success")
		}, decide.Tell, `the check "lint" passed on it, but nothing on main came from where that comes from, or it comes from the author`},
		"the author says it over CI": {"", func(g *loopback.GitHub, base, head string) {
			reports(g, base, "build", "success")
			reports(g, base, "cla", "success")
			reports(g, head, "cla", "success")
			reports(g, head, "build", "failure")
			reportsAs(g, loopback.Author, head, "build", "success")
		}, decide.Fix, "a check failed"},
		"somebody else says so": {"", func(g *loopback.GitHub, base, head string) {
			reports(g, base, "build", "success")
			reportsAs(g, loopback.Root, head, "lint", "success")
		}, decide.Tell, `the check "lint" passed on it, but nothing on main came from`},
		"nothing reports on the base": {"", func(g *loopback.GitHub, _, head string) {
			reports(g, head, "build", "success")
		}, decide.Tell, `the check "build" passed on it, but nothing on main came from`},
		"one passes, and what tests it has not seen it": {"", func(g *loopback.GitHub, base, head string) {
			reportsAs(g, loopback.Root, base, "build", "success")
			reports(g, base, "cla", "success")
			reports(g, head, "cla", "success")
		}, decide.Tell, `the check "build", which reports on main, has not run on it`},
		"one of two does not run": {"", func(g *loopback.GitHub, base, head string) {
			reports(g, base, "build", "success")
			reports(g, base, "docs", "success")
			reports(g, head, "docs", "success")
		}, decide.Tell, `the check "build", which reports on main, has not run on it`},
		"the settings name it": {"merge:\n  checks: [build]\n", func(g *loopback.GitHub, _, head string) {
			reports(g, head, "build", "success")
		}, decide.Merge, ""},
		"the settings name another": {"merge:\n  checks: [test]\n", func(g *loopback.GitHub, base, head string) {
			reports(g, base, "build", "success")
			reports(g, head, "build", "success")
		}, decide.Wait, `the check "test" has not begun; merge.checks in .touchstone/config.yaml names it`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := map[string]string{"README.md": "one\n"}
			if tc.settings != "" {
				base[config.RepositoryPath] = tc.settings
			}
			g, pr := approved(t, base, fine)
			a := agentOf(g, decide.Author, loopback.Author)
			configure(a, func(c *config.Config) { c.Merge.RequireChecks = true })
			tc.reports(g, pr.Base.SHA, pr.Head.SHA)
			a.Now = func() time.Time { return time.Now().Add(15 * time.Minute) } // what has not begun by then does not begin
			action, err := a.Decide(t.Context(), g.Read(loopback.Author, pr.Ref))
			if err != nil || action.Kind != tc.want || !strings.Contains(action.Reason, tc.reason) {
				t.Errorf("it comes to %+v, %v; want %s for %q", action, err, tc.want, tc.reason)
			}
		})
	}
}
