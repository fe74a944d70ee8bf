package worker

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"touchstone/agent/config"
	"touchstone/agent/e2e/loopback"
	"touchstone/verdict"
	"touchstone/verdict/decide"
	"touchstone/worktree/await"
)

func TestAnUnclearOrderIsAnsweredOnce(t *testing.T) {
	t.Parallel()
	g, pr := objected(t)
	a := agentOf(g, decide.Reviewer, loopback.Judge)
	comment(g, loopback.Person, "/touchstone resum")
	comment(g, loopback.Person, "/touchstone waive "+verdict.Fingerprint(unsafe)+" ours")
	for _, want := range []string{"The orders are `/touchstone review`", "`waive` needs more rights"} {
		action := decided(t, g, a, pr)
		if action.Kind != decide.Reply {
			t.Fatalf("it comes to %+v", action)
		}
		if _, err := a.Act(t.Context(), pr, action); err != nil {
			t.Fatal(err)
		}
		comments := g.Read(loopback.Judge, pr.Ref).Comments
		if said := comments[len(comments)-1].Body; !strings.Contains(said, want) || !strings.HasPrefix(said, "`"+loopback.Person+"`") {
			t.Errorf("it said %q, want %q", said, want)
		}
	}
	if action := decided(t, g, a, pr); action.Kind != decide.Wait {
		t.Errorf("it comes to %+v", action)
	}
	configure(a, func(c *config.Config) { c.Rights.Waive = config.RightWrite })
	if orders, err := a.Orders(t.Context(), g.Read(loopback.Judge, pr.Ref)); err != nil || len(orders) != 1 ||
		orders[0].Verb != verdict.Waive {
		t.Errorf("with the right to waive the orders are %+v, %v", orders, err)
	}
}

// What is said in a review or on a line is no order, and is answered so; but to stop is.
func TestInAReviewOnlyStopIsAnOrder(t *testing.T) {
	t.Parallel()
	g, pr := approved(t, map[string]string{"README.md": "one\n"}, fine)
	author, judge := agentOf(g, decide.Author, loopback.Author), agentOf(g, decide.Reviewer, loopback.Judge)
	review := func(body string) {
		g.Call(loopback.Person, http.MethodPost, "pulls/1/reviews", map[string]any{"commit_id": pr.Head.SHA, "event": "COMMENT", "body": body},
			nil)
	}
	review("/touchstone fix")
	action := decided(t, g, judge, pr)
	if action.Kind != decide.Reply || !strings.Contains(action.Unclear.Why, "only in a comment on the conversation") {
		t.Fatalf("an order in a review comes to %+v", action)
	}
	if _, err := judge.Act(t.Context(), pr, action); err != nil {
		t.Fatal(err)
	}
	if action := decided(t, g, author, pr); action.Kind != decide.Merge {
		t.Errorf("once it is answered, it comes to %+v", action)
	}
	g.Call(loopback.Person, http.MethodPost, "pulls/1/reviews",
		map[string]any{"commit_id": pr.Head.SHA, "event": "COMMENT", "comments": []map[string]any{
			{"path": "code.txt", "line": 1, "side": "RIGHT", "body": "/touchstone stop"},
		}}, nil)
	if action := decided(t, g, author, pr); action.Kind != decide.Wait || action.Reason != loopback.Person+" has stopped the agents here" {
		t.Errorf("to stop, on a line, comes to %+v", action)
	}
	// GitHub's times are of whole seconds, and of two orders in one to stop is what counts.
	stopped := time.Now().Truncate(time.Second)
	await.Until(t, "the next second", func() bool { return time.Since(stopped) > time.Second })
	comment(g, loopback.Person, "/touchstone resume")
	if action := decided(t, g, author, pr); action.Kind != decide.Merge {
		t.Errorf("resumed, it comes to %+v", action)
	}
	review("`/touchstone stop`, please")
	if action := decided(t, g, author, pr); action.Kind != decide.Wait {
		t.Errorf("to stop, in a review, comes to %+v", action)
	}
}
