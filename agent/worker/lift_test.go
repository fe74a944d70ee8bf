package worker

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"touchstone/agent/e2e/loopback"
	"touchstone/agent/forge"
	"touchstone/agent/githubsim"
	"touchstone/verdict"
	"touchstone/verdict/decide"
)

// sealed is a review with a record.
func sealed(t *testing.T, r verdict.Record) string {
	t.Helper()
	seal, err := r.Seal(verdict.Signer{})
	if err != nil {
		t.Fatal(err)
	}
	return "Text.\n\n" + seal
}

// held is a pull request that the reviewer holds for a person.
func held(t *testing.T) (*loopback.GitHub, forge.PullRequest) {
	g := loopback.New(t, map[string]string{"README.md": "one\n"})
	g.Commit("topic", "Add code", fine)
	pr := g.Read(loopback.Judge, g.Open("topic"))
	body := sealed(t, verdict.Record{
		Verdict: verdict.RequestChanges, Head: pr.Head.SHA, Base: pr.Base.SHA, BaseBranch: "main", Round: 1, Settled: true,
		Holds: []verdict.Hold{{Kind: verdict.QualityBar, Rule: "severity/Q4", Path: "code.txt", Line: 1,
			Detail: "It is skipped, says @octocat."}},
	})
	_, err := forge.NewPoster(g.Client(loopback.Judge)).PostReview(t.Context(), pr.Ref,
		forge.Review{SHA: pr.Head.SHA, Event: forge.RequestChanges, Body: body})
	if err != nil {
		t.Fatal(err)
	}
	return g, pr
}

// The status names those who are asked for a review and may push, since only they let a hold pass.
func TestTheStatusOfAHoldNamesWhoMayLetItPass(t *testing.T) {
	t.Parallel()
	g, pr := held(t)
	status := func() string {
		t.Helper()
		_, action, err := agentOf(g, decide.Reviewer, loopback.Judge).Look(t.Context(), pr.Ref)
		if err != nil {
			t.Fatal(err)
		}
		return action.Status.Text
	}
	const nobody = "waiting for a person other than @" + loopback.Author + ": only a person may let it pass"
	if got := status(); !strings.HasPrefix(got, nobody) {
		t.Errorf("nobody is asked: %s", got)
	}
	g.Call(loopback.Author, http.MethodPost, "pulls/1/requested_reviewers", map[string]any{"reviewers": []string{loopback.Person}}, nil)
	if got := status(); !strings.HasPrefix(got, "waiting for @"+loopback.Person+": only a person may let it pass") {
		t.Errorf("a person is asked: %s", got)
	}
	if err := g.Sim.SetPermission(loopback.Repo.String(), loopback.Person, "triage"); err != nil {
		t.Fatal(err)
	}
	if got := status(); !strings.HasPrefix(got, nobody) {
		t.Errorf("one is asked that may not push: %s", got)
	}
}

// act carries out what an agent has to do now, which has to be of that kind.
func act(t *testing.T, g *loopback.GitHub, a *Agent, pr forge.PullRequest, kind decide.Kind) error {
	t.Helper()
	g.Read(loopback.Root, pr.Ref) // what GitHub computes is computed
	now, action, err := a.Look(t.Context(), pr.Ref)
	if err != nil {
		t.Fatal(err)
	}
	if action.Kind != kind {
		t.Fatalf("it comes to %+v, want %s", action, kind)
	}
	_, err = a.Act(t.Context(), now, action)
	return err
}

// approve has a person approve the head, and returns the review's id.
func approve(g *loopback.GitHub, pr forge.PullRequest) int64 {
	var made struct{ ID int64 }
	g.Call(loopback.Person, http.MethodPost, "pulls/1/reviews",
		map[string]any{"commit_id": pr.Head.SHA, "event": "APPROVE", "body": "I have read it."}, &made)
	return made.ID
}

// TestInterruptedLiftIsFinishedByTheNextLook: after any part of it, the next look does the
// rest, and the author's side touches nothing meanwhile.
func TestInterruptedLiftIsFinishedByTheNextLook(t *testing.T) {
	t.Parallel()
	g, pr := held(t)
	judge, author := agentOf(g, decide.Reviewer, loopback.Judge), agentOf(g, decide.Author, loopback.Author)
	if a := decided(t, g, author, pr); a.Kind != decide.Wait {
		t.Errorf("before a person is called, the author comes to %+v", a)
	}
	if err := act(t, g, judge, pr, decide.Escalate); err != nil {
		t.Fatal(err)
	}
	briefing := g.Read(loopback.Judge, pr.Ref).Comments[0].Body
	if !strings.Contains(briefing, "- quality-bar `code.txt:1` It is skipped, says @&#8203;octocat.") ||
		!strings.Contains(briefing, "approve exactly this commit") {
		t.Errorf("the briefing is\n%s", briefing)
	}
	id := approve(g, pr)
	var cut atomic.Bool
	g.Sim.Intercept(func(login string, r *http.Request) githubsim.Fault {
		if login == loopback.Judge && r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/reviews") &&
			cut.CompareAndSwap(false, true) {
			return githubsim.Fault{Drop: githubsim.DropBefore}
		}
		return githubsim.Fault{}
	})
	if err := act(t, g, judge, pr, decide.Lift); err == nil {
		t.Fatal("it was not cut off")
	}
	if now := g.Read(loopback.Judge, pr.Ref); slices.Contains(now.Labels, "needs-human") || len(now.Reviews) != 2 {
		t.Fatalf("halfway, labels are %q and there are %d reviews", now.Labels, len(now.Reviews))
	}
	if a := decided(t, g, author, pr); a.Kind != decide.Wait || !strings.Contains(a.Reason, "about to approve") {
		t.Errorf("halfway, the author comes to %+v", a)
	}
	if err := act(t, g, judge, pr, decide.Lift); err != nil {
		t.Fatal(err)
	}
	now := g.Read(loopback.Judge, pr.Ref)
	last := now.Reviews[len(now.Reviews)-1]
	record, err := verdict.ParseRecord(last.Body)
	if err != nil || last.State != forge.Approved || record.Lifted == nil || record.Lifted.By != loopback.Person || len(record.Holds) != 1 {
		t.Fatalf("the last review is %+v: %v", last, err)
	}
	if !strings.Contains(last.Body, "`walter` approved exactly this commit") || strings.Contains(last.Body, "@octocat") {
		t.Errorf("the approval says\n%s", last.Body)
	}
	if a := decided(t, g, author, pr); a.Kind != decide.Merge {
		t.Errorf("then the author comes to %+v", a)
	}
	if a := decided(t, g, judge, pr); a.Kind != decide.Wait {
		t.Errorf("then the reviewer comes to %+v", a)
	}
	// The word can be taken back for as long as it is not merged.
	g.Call(loopback.Root, http.MethodPut, fmt.Sprintf("pulls/1/reviews/%d/dismissals", id), map[string]any{"message": "not so fast"}, nil)
	if a := decided(t, g, author, pr); a.Kind == decide.Merge {
		t.Errorf("without the word, the author comes to %+v", a)
	}
}

// TestHoldIsLeftToBeFixed: a person who takes the label off and approves nothing
// leaves it to the author's side.
func TestHoldIsLeftToBeFixed(t *testing.T) {
	t.Parallel()
	g, pr := held(t)
	judge, author := agentOf(g, decide.Reviewer, loopback.Judge), agentOf(g, decide.Author, loopback.Author)
	if err := act(t, g, judge, pr, decide.Escalate); err != nil {
		t.Fatal(err)
	}
	g.Call(loopback.Person, http.MethodDelete, "issues/1/labels/needs-human", nil, nil)
	if a := decided(t, g, author, pr); a.Kind != decide.Fix {
		t.Errorf("the author comes to %+v", a)
	}
	if a := decided(t, g, judge, pr); a.Kind != decide.Wait {
		t.Errorf("the reviewer comes to %+v", a)
	}
}

// TestResumeTakesTheLabelOff, but not one that was put on since.
func TestResumeTakesTheLabelOff(t *testing.T) {
	t.Parallel()
	g, pr := held(t)
	judge := agentOf(g, decide.Reviewer, loopback.Judge)
	if err := act(t, g, judge, pr, decide.Escalate); err != nil {
		t.Fatal(err)
	}
	g.Call(loopback.Person, http.MethodPost, "issues/1/comments", map[string]any{"body": "/touchstone resume"}, nil)
	if err := act(t, g, judge, pr, decide.Release); err != nil {
		t.Fatal(err)
	}
	if now := g.Read(loopback.Judge, pr.Ref); len(now.Labels) != 0 {
		t.Errorf("labels are %q", now.Labels)
	}
}
