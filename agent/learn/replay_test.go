package learn_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"touchstone/agent/e2e/loopback"
	"touchstone/agent/engine"
	"touchstone/agent/forge"
	"touchstone/agent/learn"
	"touchstone/agent/reviewer"
	"touchstone/guidelines"
	"touchstone/verdict"
)

var finding = verdict.Finding{
	Dimension: verdict.Security, Severity: verdict.Major, Rule: "security/S3", Path: "code.txt", Line: 1, Quote: "unsafe()",
	Claim: "This is unsafe.", Why: "It breaks.",
}

// reviewed is a GitHub with one pull request that has one recorded round, and what is planned for it.
func reviewed(t *testing.T) (*loopback.GitHub, learn.Plan) {
	g := loopback.New(t, map[string]string{"README.md": "one\n"})
	g.Commit("topic", "Add code", map[string]string{"code.txt": "unsafe()\n"})
	pr := g.Reviewed(g.Open("topic"), verdict.RequestChanges, finding)
	record, err := verdict.ParseRecord(pr.Reviews[0].Body)
	if err != nil {
		t.Fatal(err)
	}
	return g, learn.Plan{Rounds: []learn.Round{{Pull: pr, Record: record, Last: record.Ledger}}, BudgetUSD: 1, Most: 5}
}

func replayed(t *testing.T, g *loopback.GitHub, plan learn.Plan, session loopback.Model) learn.Replay {
	t.Helper()
	rules, err := guidelines.Default()
	if err != nil {
		t.Fatal(err)
	}
	client := g.Client(loopback.Judge)
	r := &reviewer.Reviewer{
		Examiner:  reviewer.Examiner{Engine: session, Guidelines: rules, TempDir: t.TempDir()},
		Worktrees: g.Worktrees, Read: client, Remote: client.Remote,
	}
	none := func(context.Context, forge.PullRequest) (map[string]string, error) { return nil, nil }
	return plan.Run(t.Context(), r, none, verdict.Allowance{}, func(string) {})
}

// TestRoundsWhoseCommitsAreGoneAreCounted checks that neither such rounds nor an unfinished session keep the
// other rounds from being replayed.
func TestRoundsWhoseCommitsAreGoneAreCounted(t *testing.T) {
	t.Parallel()
	g, plan := reviewed(t)
	gone := plan.Rounds[0]
	gone.Record.Head = strings.Repeat("a", 40)
	plan.Rounds = []learn.Round{gone, plan.Rounds[0]}
	result := replayed(t, g, plan, func(loopback.Asked) (string, error) {
		return "", &engine.Error{Class: engine.Overloaded, Err: errors.New("it is busy")}
	})
	if result.Gone != 1 || result.Replayed != 0 || len(result.Failed) != 1 || !strings.Contains(result.Failed[0].Reason, "did not finish") {
		t.Errorf("%+v", result)
	}
	var text strings.Builder
	if err := result.Write(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"1 round was not replayed, since the commits are gone",
		"round 1 gave no review: the session did not finish"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, text.String())
		}
	}
}

// TestAReplayEndsWhereNoModelCanBeAsked checks that the replay keeps its results up to then.
func TestAReplayEndsWhereNoModelCanBeAsked(t *testing.T) {
	t.Parallel()
	g, plan := reviewed(t)
	plan.Rounds = append(plan.Rounds, plan.Rounds[0], plan.Rounds[0])
	asked := 0
	result := replayed(t, g, plan, func(loopback.Asked) (string, error) {
		asked++
		return "", &engine.Error{Class: engine.Auth, Err: errors.New("log in first")}
	})
	if asked != 1 || len(result.Failed) != 1 || result.Left != 2 {
		t.Errorf("asked %d times, %+v", asked, result)
	}
}

// partly cannot read one of the pull requests.
type partly struct {
	learn.Reader
	unread forge.Ref
	why    error
}

func (p partly) PullRequest(ctx context.Context, ref forge.Ref) (forge.PullRequest, error) {
	if ref == p.unread {
		return forge.PullRequest{}, p.why
	}
	return p.Reader.PullRequest(ctx, ref)
}

// TestAPullRequestThatCannotBeReadKeepsNoOtherFromTheReplay checks that only what will stay so is passed over.
func TestAPullRequestThatCannotBeReadKeepsNoOtherFromTheReplay(t *testing.T) {
	t.Parallel()
	g, _ := reviewed(t)
	g.Commit("other", "Add code", map[string]string{"other.txt": "unsafe()\n"})
	other := g.Reviewed(g.Open("other"), verdict.RequestChanges, finding)
	client := g.Client(loopback.Judge)
	past, _, err := client.History(t.Context(), loopback.Repo, time.Now().Add(-time.Hour), 10)
	if err != nil {
		t.Fatal(err)
	}
	for why, passed := range map[error]bool{forge.ErrUnreadable: true, forge.ErrNotFound: true, forge.ErrUnavailable: false} {
		plan := learn.Plan{Most: 5}
		err := plan.Find(t.Context(), partly{client, other.Ref, why}, past, []string{loopback.Judge}, nil)
		if said := strings.Contains(plan.String(), "Left out: 1 round in pull requests that are gone"); said != passed || passed == (err != nil) {
			t.Errorf("%v: %v\n%s", why, err, plan)
		}
		if passed && plan.Carried != 1 {
			t.Errorf("%v: of the other pull request it knows %+v", why, plan)
		}
	}
}

// stopping is stopped in its first round.
type stopping func()

func (s stopping) Replay(ctx context.Context, _ forge.PullRequest, _ verdict.Record, _ map[string]string,
	_ reviewer.Options) (verdict.Record, error) {
	s()
	return verdict.Record{}, ctx.Err()
}

// TestEveryRoundOfAStoppedReplayIsAccountedFor checks that the round in which it was stopped is counted too.
func TestEveryRoundOfAStoppedReplayIsAccountedFor(t *testing.T) {
	t.Parallel()
	for _, rounds := range []int{1, 3} {
		ctx, stop := context.WithCancel(t.Context())
		plan := learn.Plan{Rounds: make([]learn.Round, rounds), BudgetUSD: 1}
		none := func(context.Context, forge.PullRequest) (map[string]string, error) { return nil, nil }
		if r := plan.Run(ctx, stopping(stop), none, verdict.Allowance{}, func(string) {}); r.Left != rounds {
			t.Errorf("of %d rounds %d are left", rounds, r.Left)
		}
	}
}

// TestPlanBelievesReviewersAlone also checks that rounds from before the time span are left out.
func TestPlanBelievesReviewersAlone(t *testing.T) {
	t.Parallel()
	g, _ := reviewed(t)
	client := g.Client(loopback.Judge)
	past, _, err := client.History(t.Context(), loopback.Repo, time.Now().Add(-time.Hour), 10)
	if err != nil {
		t.Fatal(err)
	}
	const none = "0 rounds of 0 pull requests to replay, recorded at $0.00.\n" +
		"The sessions may cost $2.00 together; the request that exceeds this is the last one."
	for _, tc := range []struct {
		reviewers []string
		since     time.Time
		most      int
		want      string
	}{
		{[]string{loopback.Judge}, time.Time{}, 5, none + "\nLeft out: 1 round that approved without a session."},
		{[]string{loopback.Person}, time.Time{}, 5, none},
		{[]string{loopback.Judge}, time.Now().Add(time.Hour), 5, none},
	} {
		plan := learn.Plan{Since: tc.since, BudgetUSD: 2, Most: tc.most}
		if err := plan.Find(t.Context(), client, past, tc.reviewers, nil); err != nil || plan.String() != tc.want {
			t.Errorf("%q since %s: %v\n%s", tc.reviewers, tc.since, err, plan)
		}
	}
}
