package worker

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"touchstone/agent/author"
	"touchstone/agent/config"
	"touchstone/agent/e2e/loopback"
	"touchstone/agent/engine"
	"touchstone/agent/forge"
	"touchstone/agent/githubsim"
	"touchstone/agent/journal"
	"touchstone/agent/merger"
	"touchstone/agent/pull"
	"touchstone/verdict"
	"touchstone/verdict/decide"
	"touchstone/worktree"
	"touchstone/worktree/await"
)

var unsafe = verdict.Finding{
	Dimension: verdict.Security, Severity: verdict.Major, Rule: "security/S1", Path: "code.txt", Line: 1, Quote: "unsafe()",
	Claim: "This is unsafe.",
}

// authorOf is an author's agent with a model, all that it needs to fix, and a journal.
func authorOf(t *testing.T, g *loopback.GitHub, model loopback.Model) *Agent {
	t.Helper()
	a := agentOf(g, decide.Author, loopback.Author)
	log, err := journal.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	client := g.Client(loopback.Author)
	a.Journal, a.Worktrees, a.Remote = log, g.Worktrees, client.Remote
	a.Author = &author.Author{
		Worktrees: g.Worktrees, Engine: model, Read: client, Remote: client.Remote,
		Identity: worktree.Identity{Name: "Alice", Email: "alice@example.com"}, Reviewers: []string{loopback.Judge}, Unwanted: a.Unwanted,
	}
	a.Merger = &merger.Merger{Read: client, Act: forge.NewMerger(client), Decider: a.Decider}
	return a
}

// objected is a pull request whose review requests changes.
func objected(t *testing.T) (*loopback.GitHub, forge.PullRequest) {
	g := loopback.New(t, map[string]string{"README.md": "one\n"})
	g.Commit("topic", "Add code", map[string]string{"code.txt": "unsafe()\n"})
	return g, g.Reviewed(g.Open("topic"), verdict.RequestChanges, unsafe)
}

// spend has the journal say that an act on a pull request cost so much.
func spend(t *testing.T, a *Agent, pr forge.PullRequest, outcome journal.Outcome) {
	t.Helper()
	id, err := a.Journal.Begin(journal.Entry{Ref: pr.Ref.String(), SHA: pr.Head.SHA, Act: string(decide.Fix)})
	if err == nil {
		err = a.Journal.End(id, outcome)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func comment(g *loopback.GitHub, login, body string) {
	g.Call(login, http.MethodPost, "issues/1/comments", map[string]any{"body": body}, nil)
}

func unneeded(t *testing.T) loopback.Model {
	return func(loopback.Asked) (string, error) {
		t.Error("a model was run")
		return "", nil
	}
}

// entries are the journal's of one kind of act.
func entries(a *Agent, act string) (all []journal.Entry) {
	a.Journal.Each(func(e journal.Entry) {
		if e.Act == act {
			all = append(all, e)
		}
	})
	return all
}

func TestAuthorWaitsAfterAPersonsPush(t *testing.T) {
	t.Parallel()
	g, pr := objected(t)
	g.Commit("topic", "My own idea", map[string]string{"mine.txt": "mine\n"})
	pr = g.Reviewed(pr.Ref, verdict.RequestChanges, unsafe)
	a := authorOf(t, g, unneeded(t))
	action := decided(t, g, a, pr)
	if action.Kind != decide.Wait || !action.Noted || action.Recheck <= 0 || action.Recheck > 10*time.Minute {
		t.Fatalf("it comes to %+v", action)
	}
	pause := a.Config().Author.Pause
	configure(a, func(c *config.Config) { c.Author.Pause = 0 })
	if action := decided(t, g, a, pr); action.Kind != decide.Fix {
		t.Errorf("without a pause it comes to %+v", action)
	}
	configure(a, func(c *config.Config) { c.Author.Pause = pause })
	a.Note(t.Context(), pr.Ref, pr.Head.SHA, decided(t, g, a, pr))
	if waits := entries(a, journal.Wait); len(waits) != 1 || waits[0].Ended.IsZero() ||
		!strings.Contains(waits[0].String(), loopback.Author+" pushed to the branch, and the agent leaves it alone until ") {
		t.Errorf("touchstone status shows %q", waits)
	}
}

// TestHeadsAreSeenToChange checks that a head that appeared while this process watched counts as pushed now,
// however old its commit is.
func TestHeadsAreSeenToChange(t *testing.T) {
	t.Parallel()
	var h heads
	at := func(sha string) time.Time {
		pr := forge.PullRequest{Open: true, Ref: forge.Ref{Number: 1}, Head: forge.Branch{SHA: sha}}
		h.note(pr, pull.Facts{Now: time.Now()}, decide.Action{})
		return h.recall(pr, time.Now()).at
	}
	for range 2 {
		if !at("a").IsZero() {
			t.Error("the first head is taken for a push")
		}
	}
	changed := at("b")
	if time.Since(changed) > time.Minute || !at("b").Equal(changed) {
		t.Errorf("the push was at %v", changed)
	}
	h.forget(forge.Ref{Number: 1})
	if !at("c").IsZero() {
		t.Error("what was forgotten is remembered")
	}
}

func TestSpentBudgetsCallAPersonWhoCanGrantMore(t *testing.T) {
	t.Parallel()
	g, pr := objected(t)
	// GitHub's times are of whole seconds, and the call comes after the review.
	reviewed := time.Now().Truncate(time.Second)
	await.Until(t, "the next second", func() bool { return time.Since(reviewed) > time.Second })
	a := authorOf(t, g, unneeded(t))
	configure(a, func(c *config.Config) { c.Budgets.PullRequest, c.Budgets.Round = 3, 2 })
	if action := decided(t, g, a, pr); action.Kind != decide.Fix || action.Allowance.USD != 2 {
		t.Fatalf("at first it comes to %+v", action)
	}
	spend(t, a, pr, journal.Outcome{Detail: "it crashed", Account: journal.Account{CostUSD: 2.5}})
	if action := decided(t, g, a, pr); action.Kind != decide.Fix || action.Allowance.USD != 0.5 {
		t.Errorf("a failed session leaves %+v", action)
	}
	spend(t, a, pr, journal.Outcome{Detail: "it crashed", Account: journal.Account{CostUSD: 0.5}})
	action := decided(t, g, a, pr)
	if action.Kind != decide.Escalate || action.Tomorrow || !strings.Contains(action.Reason, "$3.00 of the $3.00") {
		t.Fatalf("it comes to %+v", action)
	}
	if _, err := a.Act(t.Context(), pr, action); err != nil {
		t.Fatal(err)
	}
	comment(g, loopback.Person, "/touchstone resume")
	release := decided(t, g, a, pr)
	if release.Kind != decide.Release {
		t.Fatalf("it comes to %+v", release)
	}
	if _, err := a.Act(t.Context(), pr, release); err != nil {
		t.Fatal(err)
	}
	if again := decided(t, g, a, pr); again.Kind != decide.Wait || again.Turn != verdict.TurnReviewer {
		t.Errorf("once resumed it comes to %+v", again)
	}
	g.Reviewed(pr.Ref, verdict.RequestChanges, unsafe)
	if again := decided(t, g, a, pr); again.Kind != decide.Fix || again.Allowance.USD != 2 {
		t.Errorf("once resumed and reviewed anew it comes to %+v", again)
	}
}

func TestASpentDayEndsAtMidnight(t *testing.T) {
	t.Parallel()
	g, pr := objected(t)
	a := authorOf(t, g, unneeded(t))
	configure(a, func(c *config.Config) { c.Budgets.Day = 3 })
	other := pr
	other.Ref.Number = 2
	spend(t, a, other, journal.Outcome{OK: true, Account: journal.Account{CostUSD: 3}})
	action := decided(t, g, a, pr)
	if action.Kind != decide.Escalate || !action.Tomorrow {
		t.Fatalf("it comes to %+v", action)
	}
	if _, err := a.Act(t.Context(), pr, action); err != nil {
		t.Fatal(err)
	}
	now := g.Read(loopback.Author, pr.Ref)
	if len(now.Comments) != 1 || !strings.Contains(now.Comments[0].Body, "continue by themselves after") ||
		!slices.Contains(now.Labels, "needs-human") {
		t.Fatalf("comments %+v, labels %q", now.Comments, now.Labels)
	}
	if action := decided(t, g, a, pr); action.Kind != decide.Wait {
		t.Errorf("on the same day it comes to %+v", action)
	}
	rested := func(days int) bool {
		a.Now = func() time.Time { return time.Now().AddDate(0, 0, days) }
		return stateOf(t, a, g.Read(loopback.Author, pr.Ref)).Rested
	}
	if today, tomorrow := rested(0), rested(1); today || !tomorrow {
		t.Errorf("over today: %v, over tomorrow: %v", today, tomorrow)
	}
	if !stateOf(t, a, now).EscalatedAt.IsZero() {
		t.Error("a day's end begins a fresh count of rounds")
	}
	// A person's label is a person's to take off.
	g.Call(loopback.Person, http.MethodDelete, "issues/1/labels/needs-human", nil, nil)
	g.Call(loopback.Person, http.MethodPost, "issues/1/labels", []string{"needs-human"}, nil)
	if rested(1) {
		t.Error("a person's label ends with the day")
	}
}

// TestActsThatWouldFailAgainAreTriedOnce checks that an act that would fail again is not retried: a person is
// called at once.
func TestActsThatWouldFailAgainAreTriedOnce(t *testing.T) {
	t.Parallel()
	mend := loopback.Model(func(r loopback.Asked) (string, error) { return "Done.", write(r.Dir, "code.txt", "safe()\n") })
	for name, tc := range map[string]struct {
		model  loopback.Model
		push   int // the status of an answer to a push; 0 is as usual
		remedy string
	}{
		"the branch is protected": {mend, http.StatusForbidden, "allow this login to push to the branch"},
		"all that is open is for a person": {func(loopback.Asked) (string, error) {
			return "Needs a person " + verdict.Fingerprint(unsafe) + ": decide whether it may be called.", nil
		}, 0, "decide whether it may be called"},
		"the budget is used up": {func(loopback.Asked) (string, error) { return "", engine.Errorf(engine.Budget, "it took all of $2") }, 0,
			"it took all of $2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, pr := objected(t)
			a := authorOf(t, g, tc.model)
			g.Sim.Intercept(func(_ string, r *http.Request) githubsim.Fault {
				if tc.push != 0 && r.URL.Query().Get("service") == "git-receive-pack" {
					return githubsim.Fault{Status: tc.push}
				}
				return githubsim.Fault{}
			})
			if acts := looks(t, g, a, pr.Ref, nil); !strings.HasSuffix(acts, " escalate wait") {
				t.Errorf("it comes to %q", acts)
			}
			if tries := entries(a, string(decide.Fix)); len(tries) != 1 || !strings.Contains(tries[0].Outcome.Detail, tc.remedy) {
				t.Errorf("it was tried: %+v", tries)
			}
			now := g.Read(loopback.Author, pr.Ref)
			if now.Head.SHA != pr.Head.SHA || !strings.Contains(now.Comments[0].Body, tc.remedy) {
				t.Errorf("the head is %s, the briefing %s", now.Head.SHA, now.Comments[0].Body)
			}
		})
	}
}

// TestAFullDiskIsWaitedOut checks that an act that cannot be recorded is not begun, and is not tried again
// and again.
func TestAFullDiskIsWaitedOut(t *testing.T) {
	t.Parallel()
	g, pr := objected(t)
	a := authorOf(t, g, unneeded(t))
	if err := a.Journal.Close(); err != nil {
		t.Fatal(err)
	}
	step, err := a.Act(t.Context(), pr, decide.Action{Kind: decide.Fix, SHA: pr.Head.SHA})
	if !errors.Is(err, journal.ErrUnwritten) || CountsAsAttempt(err, step) || !strings.Contains(err.Error(), "free space on the disk") {
		t.Errorf("it ends in %v, which counts: %v", err, CountsAsAttempt(err, step))
	}
	if now := g.Read(loopback.Author, pr.Ref); now.Head.SHA != pr.Head.SHA || len(now.Comments) > 0 {
		t.Error("something happened all the same")
	}
}

// TestTheDefaultBranchIsNotFixed covers a pull request between two shared branches: no agent pushes to its
// head, and neither branch is deleted after the merge.
func TestTheDefaultBranchIsNotFixed(t *testing.T) {
	t.Parallel()
	g := loopback.New(t, map[string]string{"README.md": "one\n"})
	g.Commit("release", "Release", map[string]string{"VERSION": "1\n"})
	g.Commit("main", "Add code", map[string]string{"code.txt": "unsafe()\n"})
	var made struct{ Number int }
	g.Call(loopback.Author, http.MethodPost, "pulls", map[string]any{"title": "Release it", "head": "main", "base": "release"}, &made)
	pr := g.Reviewed(forge.Ref{Repo: loopback.Repo, Number: made.Number}, verdict.RequestChanges, unsafe)
	a := authorOf(t, g, unneeded(t))
	if action := decided(t, g, a, pr); action.Kind != decide.Tell || !strings.Contains(action.Reason, "other branches are built on") {
		t.Errorf("it comes to %+v", action)
	}
	if err := a.Merger.Tidy(t.Context(), pr, pr.Head.SHA); err != nil {
		t.Error(err)
	}
	if _, err := g.Client(loopback.Root).File(t.Context(), loopback.Repo, "main", "code.txt"); err != nil {
		t.Errorf("the default branch: %v", err)
	}
}

// TestASessionGetsWhatIsLeft checks that a session gets the budget that the decision leaves it, and that a
// session requested by hand gets a round's budget.
func TestASessionGetsWhatIsLeft(t *testing.T) {
	t.Parallel()
	for _, left := range []verdict.Allowance{{USD: 0.75, Time: 90 * time.Second}, {}} {
		g, pr := objected(t)
		var asked engine.Request
		a := authorOf(t, g, func(r loopback.Asked) (string, error) {
			asked = r.Request
			return "", engine.Errorf(engine.Crash, "it crashed")
		})
		configure(a, func(c *config.Config) {
			c.Budgets.Round, c.Budgets.RoundTime = 2, config.Duration(3*time.Minute)
		})
		if _, err := a.Act(t.Context(), pr, decide.Action{Kind: decide.Fix, SHA: pr.Head.SHA, Allowance: left}); err == nil {
			t.Fatal("it did not crash")
		}
		want := left
		if left == (verdict.Allowance{}) {
			want = verdict.Allowance{USD: 2, Time: 3 * time.Minute}
		}
		if asked.Budget != want.USD || asked.Timeout != want.Time {
			t.Errorf("with %+v left it may take $%v and %v", left, asked.Budget, asked.Timeout)
		}
	}
}

func giveUp(t *testing.T, a *Agent, pr forge.PullRequest) {
	t.Helper()
	if err := a.GiveUp(t.Context(), pr); err != nil {
		t.Error(err)
	}
}

// TestBranchesGoBehindTheMergeQueue checks that the branch of a pull request that a merge queue merged is
// deleted once, as after a merge by the agent.
func TestBranchesGoBehindTheMergeQueue(t *testing.T) {
	t.Parallel()
	g, pr := approved(t, map[string]string{"README.md": "one\n"}, fine)
	a := authorOf(t, g, unneeded(t))
	there := func() bool {
		_, err := g.Client(loopback.Root).File(t.Context(), loopback.Repo, "topic", "code.txt")
		return err == nil
	}
	merged := func() forge.PullRequest {
		g.Call(loopback.Person, http.MethodPut, "pulls/1/merge", map[string]any{"merge_method": "squash"}, nil)
		return g.Read(loopback.Author, pr.Ref)
	}()
	giveUp(t, a, merged)
	configure(a, func(c *config.Config) { c.Merge.DeleteBranch = true })
	giveUp(t, a, merged)
	if !there() {
		t.Fatal("the branch of what a person merged is gone")
	}
	id, err := a.Journal.Begin(journal.Entry{Ref: pr.Ref.String(), SHA: pr.Head.SHA, Act: string(decide.Merge)})
	if err == nil {
		err = a.Journal.End(id, journal.Outcome{OK: true})
	}
	if err != nil {
		t.Fatal(err)
	}
	giveUp(t, a, merged)
	if there() {
		t.Error("the branch is still there")
	}
	giveUp(t, a, merged)
	if n := len(entries(a, tidying)); n != 1 {
		t.Errorf("it was deleted %d times: a branch that a person restores would go again", n)
	}
}

// write writes a file of a session's worktree.
func write(dir, name, text string) error {
	return os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)
}
