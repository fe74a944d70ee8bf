package worker

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rs/zerolog"

	"touchstone/agent/author"
	"touchstone/agent/config"
	"touchstone/agent/e2e/loopback"
	"touchstone/agent/forge"
	"touchstone/agent/githubsim"
	"touchstone/agent/journal"
	"touchstone/agent/pull"
	"touchstone/verdict"
	"touchstone/verdict/decide"
)

// stuck is a pull request that only a person can help, and the author's agent
// that has found that out.
func stuck(t *testing.T) (*loopback.GitHub, *Agent, forge.PullRequest) {
	g := loopback.New(t, map[string]string{"README.md": "one\n"})
	g.Commit("topic", "Add code", map[string]string{"code.txt": "unsafe()\n"})
	pr := g.Reviewed(g.Open("topic"), verdict.RequestChanges, verdict.Finding{
		Dimension: verdict.Security, Severity: verdict.Major, Rule: "security/S1", Path: "code.txt", Line: 1, Quote: "unsafe()",
		Claim: "Ask @octocat, this is unsafe.",
	})
	log, err := journal.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	cfg := config.Default()
	cfg.Reviewers = []string{loopback.Judge}
	client := g.Client(loopback.Author)
	return g, &Agent{Role: decide.Author, Config: config.NewLive(cfg, nil).Config, Read: client, Journal: log,
		Caller: forge.NewSpeaker(client), Worktrees: g.Worktrees, Remote: client.Remote}, pr
}

func call(ctx context.Context, a *Agent, pr forge.PullRequest) (Step, error) {
	return a.Act(ctx, pr, decide.Action{Kind: decide.Escalate, SHA: pr.Head.SHA, Reason: "3 attempts came to nothing"})
}

func TestBriefingSaysWhatAPersonNeeds(t *testing.T) {
	t.Parallel()
	g, a, pr := stuck(t)
	id, err := a.Journal.Begin(journal.Entry{Ref: pr.Ref.String(), SHA: pr.Head.SHA, Act: "fix"})
	if err == nil {
		err = a.Journal.End(id, journal.Outcome{Counts: true, Detail: "the model changed nothing; 0000000a needs a person: take the promise out",
			Account: journal.Account{Turns: 1, CostUSD: 4.2}})
	}
	if err != nil {
		t.Fatal(err)
	}
	step, err := call(t.Context(), a, pr)
	if err != nil {
		t.Fatal(err)
	}
	now := g.Read(loopback.Author, pr.Ref)
	if len(now.Comments) != 1 || now.Comments[0].URL != step.URL || !slices.Contains(now.Labels, "needs-human") {
		t.Fatalf("comments %+v, labels %q", now.Comments, now.Labels)
	}
	text := now.Comments[0].Body
	t.Log(text)
	for _, want := range []string{
		"### A person is needed: take the promise out, then comment `/touchstone resume`\n", "author agent stopped at " + pr.Head.SHA[:7] +
			": 3 attempts came to nothing.", "- fix of " + pr.Head.SHA[:7] + ": the model changed nothing", "Failed attempts cost another $4.20",
		"[Security] major `code.txt:1`", "this is unsafe", "To continue:", "`needs-human`",
		"([the review of " + pr.Head.SHA[:7] + "](" + pr.Reviews[0].URL + ") has the details)", "| [REQUEST_CHANGES](" + pr.Reviews[0].URL +
			") | 1 | - |", "\n1 round cost $0.00.\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the briefing lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "@octocat") {
		t.Errorf("the briefing mentions somebody:\n%s", text)
	}
	const said = "waiting for a person: take the promise out, then comment /touchstone resume"
	if action, err := a.Decide(t.Context(), now); err != nil || action.Kind != decide.Wait || action.Status.Text != said {
		t.Errorf("next comes %+v, %v", action, err)
	}
}

// TestACallOverABrokenBaseSaysSoFirst checks that the call says first that the base itself fails and must be
// repaired there, even if the review asks for more.
func TestACallOverABrokenBaseSaysSoFirst(t *testing.T) {
	t.Parallel()
	_, a, pr := stuck(t)
	latest, _ := a.latest(pr)
	failed := []journal.Entry{{Outcome: journal.Outcome{Detail: "verify failed: make test: exit status 2; " + author.ErrFailsOnBase.Error()}}}
	const want = "repair the base, or correct `verify.command` there, then comment `/touchstone resume`"
	if got := wanted(pr, latest, decide.Action{SHA: pr.Head.SHA}, failed); got != want {
		t.Errorf("a person is to %s", got)
	}
}

// A review that names nothing to repair is shown to the person who is called over it.
func TestBriefingNamesAReviewWithoutFindings(t *testing.T) {
	t.Parallel()
	g := loopback.New(t, map[string]string{"README.md": "one\n"})
	g.Commit("topic", "Add code", map[string]string{"code.txt": "unsafe()\n"})
	pr := g.Reviewed(g.Open("topic"), verdict.RequestChanges)
	a := agentOf(g, decide.Author, loopback.Author)
	text := a.briefing(pr, pull.StateOf(pr, decide.Author, a.Config(), pull.NewFacts()), decide.Action{Reason: "the review names nothing"})
	want := "[The review](" + pr.Reviews[0].URL + ") requests changes but has no finding; read it for the reason. To have " + pr.Head.SHA[:7] +
		" reviewed again, comment `/touchstone review`."
	if !strings.Contains(text, want) || strings.Contains(text, "Still open") {
		t.Errorf("the briefing is:\n%s", text)
	}
}

// TestWhatWaitsForWantOfChecksIsToldHowToGoOn checks that the comment on a pull request without checks does
// not recommend touchstone merge, which would not merge it either.
func TestWhatWaitsForWantOfChecksIsToldHowToGoOn(t *testing.T) {
	t.Parallel()
	g, pr := approved(t, map[string]string{"README.md": "one\n"}, map[string]string{"code.txt": "safe()\n"})
	action := decide.Action{Kind: decide.Tell, SHA: pr.Head.SHA, Topic: "checks",
		Reason: "it is approved, and waits for its author to merge it: no check has reported on it"}
	a := agentOf(g, decide.Author, loopback.Author)
	if _, err := a.Act(t.Context(), pr, action); err != nil {
		t.Fatal(err)
	}
	pr = g.Read(loopback.Author, pr.Ref)
	comments := pr.Comments
	if len(comments) != 1 || !strings.Contains(comments[0].Body, "turn `merge.require_checks` off") ||
		strings.Contains(comments[0].Body, "touchstone merge") || len(stateOf(t, a, pr).Notices) != 1 {
		t.Errorf("it says %+v", comments)
	}
}

// TestInterruptedEscalationIsFinishedByTheNextLook: the comment comes first, so that nobody finds a pull request
// in the queue without its briefing. What is left half done resets nothing, and the next
// look does the rest, on any machine.
func TestInterruptedEscalationIsFinishedByTheNextLook(t *testing.T) {
	t.Parallel()
	g, a, pr := stuck(t)
	var rang atomic.Int32
	hook := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { rang.Add(1) }))
	defer hook.Close()
	configure(a, func(c *config.Config) { c.Rounds.Max, c.Notify.SlackWebhook = 1, config.Secret(hook.URL) })
	var cut atomic.Bool
	g.Sim.Intercept(func(_ string, r *http.Request) githubsim.Fault {
		if strings.HasSuffix(r.URL.Path, "/labels") && cut.CompareAndSwap(false, true) {
			return githubsim.Fault{Drop: githubsim.DropBefore}
		}
		return githubsim.Fault{}
	})
	if err := act(t, g, a, pr, decide.Escalate); err == nil {
		t.Fatal("the label was set")
	}
	if now := g.Read(loopback.Author, pr.Ref); len(now.Comments) != 1 || len(now.Labels) != 0 || rang.Load() != 1 {
		t.Fatalf("comments %+v, labels %q, rang %d times", now.Comments, now.Labels, rang.Load())
	}
	a.Journal = nil // as on another disk
	if err := act(t, g, a, pr, decide.Escalate); err != nil {
		t.Fatal(err)
	}
	if now := g.Read(loopback.Author, pr.Ref); len(now.Comments) != 1 || !slices.Contains(now.Labels, "needs-human") {
		t.Errorf("comments %+v, labels %q", now.Comments, now.Labels)
	}
}

func TestEscalationNotifiesTheWebhook(t *testing.T) {
	t.Parallel()
	var got struct{ Text string }
	var kind string
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		kind = r.Header.Get("Content-Type")
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
			t.Error(err)
		}
	}))
	defer hook.Close()
	_, a, pr := stuck(t)
	configure(a, func(c *config.Config) { c.Notify.SlackWebhook = config.Secret(hook.URL + "/services/secret") })
	if _, err := call(t.Context(), a, pr); err != nil {
		t.Fatal(err)
	}
	if kind != "application/json" || !strings.HasPrefix(got.Text, "acme/app#1 needs a person: 3 attempts came to nothing\nhttp") {
		t.Errorf("it rang %q as %q", got.Text, kind)
	}
}

// configure changes an agent's settings.
func configure(a *Agent, change func(*config.Config)) {
	cfg := a.Config()
	change(&cfg)
	a.Config = config.NewLive(cfg, nil).Config
}

// A label that GitHub refuses, each time, notifies once.
func TestARefusedLabelRingsOnce(t *testing.T) {
	t.Parallel()
	g, a, pr := stuck(t)
	var rang atomic.Int32
	hook := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { rang.Add(1) }))
	defer hook.Close()
	configure(a, func(c *config.Config) { c.Notify.SlackWebhook = config.Secret(hook.URL) })
	g.Sim.Intercept(func(_ string, r *http.Request) githubsim.Fault {
		if strings.HasSuffix(r.URL.Path, "/labels") {
			return githubsim.Fault{Status: http.StatusUnprocessableEntity}
		}
		return githubsim.Fault{}
	})
	for range 3 {
		now := g.Read(loopback.Author, pr.Ref)
		if _, err := a.Act(t.Context(), now, decide.Action{Kind: decide.Escalate, SHA: now.Head.SHA, Reason: "it is stuck"}); err == nil {
			t.Fatal("the label was set")
		}
	}
	if n := len(g.Read(loopback.Author, pr.Ref).Comments); n != 1 || rang.Load() != 1 {
		t.Errorf("%d comments, rang %d times", n, rang.Load())
	}
}

// TestAFailedNotificationUndoesNothing: the label is set all the same, and the log does not tell where the
// webhook is.
func TestAFailedNotificationUndoesNothing(t *testing.T) {
	t.Parallel()
	broken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusNotFound)
	}))
	defer broken.Close()
	for name, url := range map[string]string{
		"refused":     broken.URL + "/services/hush",
		"unreachable": "http://127.0.0.1:9/services/hush",
		"unreadable":  "http://%zz/services/hush",
	} {
		t.Run(name, func(t *testing.T) {
			g, a, pr := stuck(t)
			configure(a, func(c *config.Config) { c.Notify.SlackWebhook = config.Secret(url) })
			var log strings.Builder
			logger := zerolog.New(&log)
			if _, err := call(logger.WithContext(t.Context()), a, pr); err != nil {
				t.Error(err)
			}
			if !slices.Contains(g.Read(loopback.Author, pr.Ref).Labels, "needs-human") {
				t.Error("the label is not set")
			}
			if strings.Contains(log.String(), "hush") || !strings.Contains(log.String(), "the notification failed") {
				t.Errorf("the log is %s", log.String())
			}
		})
	}
}
