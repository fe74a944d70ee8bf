package worker

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"touchstone/agent/config"
	"touchstone/agent/e2e/loopback"
	"touchstone/agent/e2e/reading"
	"touchstone/agent/forge"
	"touchstone/verdict"
	"touchstone/verdict/decide"
)

// TestWhatIsSaidDuringAFixIsHeard: a session takes minutes, in which people say what makes it
// useless. It is heard before the push, and the watch hears it as soon as the event comes.
func TestWhatIsSaidDuringAFixIsHeard(t *testing.T) {
	t.Parallel()
	finding := verdict.Fingerprint(unsafe)
	order := func(login, text string) func(*loopback.GitHub, forge.PullRequest) {
		return func(g *loopback.GitHub, _ forge.PullRequest) { comment(g, login, text) }
	}
	label := func(name string) func(*loopback.GitHub, forge.PullRequest) {
		return func(g *loopback.GitHub, _ forge.PullRequest) {
			g.Call(loopback.Person, http.MethodPost, "issues/1/labels", []string{name}, nil)
		}
	}
	change := func(field, value string) func(*loopback.GitHub, forge.PullRequest) {
		return func(g *loopback.GitHub, _ forge.PullRequest) {
			g.Call(loopback.Author, http.MethodPatch, "pulls/1", map[string]any{field: value}, nil)
		}
	}
	for name, tc := range map[string]struct {
		meanwhile func(*loopback.GitHub, forge.PullRequest)
		want      string // a part of why it is given up; empty where it is not
	}{
		"nothing":               {func(*loopback.GitHub, forge.PullRequest) {}, ""},
		"somebody chats":        {order(loopback.Person, "How nice."), ""},
		"it is asked for again": {order(loopback.Person, "/touchstone fix"), ""},
		"it is stopped":         {order(loopback.Person, "/touchstone stop"), "has stopped the agents"},
		"it may be stopped":     {order(loopback.Person, "/touchstone stopp"), "gave an order that cannot be followed"},
		"break-glass":           {order(loopback.Root, "/touchstone break-glass it burns"), "a person lets it pass"},
		"a finding is waived":   {order(loopback.Root, "/touchstone waive "+finding+" it may stay"), "names nothing that a fix could address"},
		"a finding is disputed": {order(loopback.Person, "/touchstone dispute "+finding+" it is right"), "is disputed"},
		"it is closed":          {change("state", "closed"), "closed"},
		"its base is changed":   {change("base", "release"), "its base branch is release now"},
		"the review is dismissed": {func(g *loopback.GitHub, pr forge.PullRequest) {
			path := fmt.Sprintf("pulls/1/reviews/%d/dismissals", pr.Reviews[0].ID)
			g.Call(loopback.Root, http.MethodPut, path, map[string]any{"message": "No.", "event": "DISMISS"}, nil)
		}, "was dismissed"},
		"the head is approved": {func(g *loopback.GitHub, pr forge.PullRequest) { g.Reviewed(pr.Ref, verdict.Approve) }, "approved"},
		"its branch is proposed elsewhere too": {func(g *loopback.GitHub, _ forge.PullRequest) {
			g.Call(loopback.Author, http.MethodPost, "pulls",
				map[string]any{"title": "Backport", "head": "topic", "base": "release", "body": "Why."}, nil)
		}, "acme/app#2 has the same branch"},
		"a person is called": {label(config.Default().Labels.NeedsHuman), "waits for a person"},
		"it is held":         {label(config.Default().Labels.Hold), "the label touchstone-hold holds it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, pr := objected(t)
			g.Commit("release", "Begin", map[string]string{"release.txt": "one\n"})
			a := authorOf(t, g, func(asked loopback.Asked) (string, error) {
				tc.meanwhile(g, pr)
				return reading.Repaired(asked.Prompt), write(asked.Dir, "code.txt", "safe()\n")
			})
			action := decided(t, g, a, pr)
			if action.Kind != decide.Fix {
				t.Fatalf("it comes to %+v", action)
			}
			_, err := a.Act(t.Context(), pr, action)
			if (tc.want == "") != (err == nil) || err != nil && (!Overtaken(err) || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("it ends in %v", err)
			}
			if pushed := g.Read(loopback.Author, pr.Ref).Head.SHA != pr.Head.SHA; pushed != (tc.want == "") {
				t.Errorf("pushed: %v", pushed)
			}
			if tc.want == "" {
				return
			}
			if why, err := a.Overtaken(t.Context(), pr, decide.Fix); err != nil || !strings.Contains(why, tc.want) {
				t.Errorf("a hint ends the session because %q, %v", why, err)
			}
			if again := decided(t, g, a, pr); again.Kind == decide.Fix {
				t.Errorf("the next look has it fixed all the same: %+v", again)
			}
		})
	}
}

// TestAFixOfLessIsBegunAnew: what a person waives is not changed all the same, while another
// finding is.
func TestAFixOfLessIsBegunAnew(t *testing.T) {
	t.Parallel()
	g := loopback.New(t, map[string]string{"README.md": "one\n"})
	g.Commit("topic", "Add code", map[string]string{"code.txt": "unsafe()\n", "more.txt": "unsafe()\n"})
	other := unsafe
	other.Path = "more.txt"
	pr := g.Reviewed(g.Open("topic"), verdict.RequestChanges, unsafe, other)
	waived := verdict.Fingerprint(other)
	turns := 0
	a := authorOf(t, g, func(asked loopback.Asked) (string, error) {
		if turns++; turns == 1 {
			comment(g, loopback.Root, "/touchstone waive "+waived+" it may stay")
			return "Done.", errors.Join(write(asked.Dir, "code.txt", "safe()\n"), write(asked.Dir, "more.txt", "safe()\n"))
		}
		return "Done.", write(asked.Dir, "code.txt", "safe()\n")
	})
	if _, err := a.Act(t.Context(), pr, decided(t, g, a, pr)); !Overtaken(err) || !strings.Contains(err.Error(), "finding "+waived) {
		t.Errorf("it ends in %v", err)
	}
	if why, err := a.Overtaken(t.Context(), pr, decide.Fix); err != nil || !strings.Contains(why, "finding "+waived) {
		t.Errorf("a hint ends the session because %q, %v", why, err)
	}
	pr, action, err := a.Look(t.Context(), pr.Ref)
	if err == nil {
		_, err = a.Act(t.Context(), pr, action)
	}
	if err != nil {
		t.Fatal(err)
	}
	if text, err := a.Read.File(t.Context(), loopback.Repo, g.Read(loopback.Author, pr.Ref).Head.SHA, "more.txt"); err != nil ||
		string(text) != "unsafe()\n" {
		t.Errorf("more.txt is %q, %v", text, err)
	}
}

// TestASessionGoesOn checks that events that leave the reason for a session intact do not end it.
func TestASessionGoesOn(t *testing.T) {
	t.Parallel()
	unknown := func(pr *forge.PullRequest) { pr.Mergeable = forge.MergeableUnknown }
	for name, tc := range map[string]struct {
		role   decide.Role
		login  string
		before func(*loopback.GitHub, forge.PullRequest) forge.PullRequest
		begun  decide.Kind // what is decided at first
		during func(*loopback.GitHub, forge.PullRequest)
		read   func(*forge.PullRequest)
		want   string
	}{
		"GitHub computes anew whether it merges": {decide.Author, loopback.Author,
			func(g *loopback.GitHub, pr forge.PullRequest) forge.PullRequest {
				g.Commit("main", "Mine", map[string]string{"code.txt": "mine\n"})
				return g.Reviewed(pr.Ref, verdict.Approve)
			}, decide.Fix, func(*loopback.GitHub, forge.PullRequest) {}, unknown, ""},
		"it does not conflict any more": {decide.Author, loopback.Author, func(g *loopback.GitHub, pr forge.PullRequest) forge.PullRequest {
			g.Reviewed(pr.Ref, verdict.Approve)
			g.Commit("main", "Mine", map[string]string{"code.txt": "mine\n"})
			return g.Read(loopback.Author, pr.Ref)
		}, decide.Fix, func(g *loopback.GitHub, _ forge.PullRequest) {
			g.Commit("main", "Not mine", map[string]string{"code.txt": ""})
		}, nil, "approved and green"},
		"a draft is fixed by hand": {decide.Author, loopback.Author, func(g *loopback.GitHub, pr forge.PullRequest) forge.PullRequest {
			pr = g.Reviewed(pr.Ref, verdict.RequestChanges, unsafe)
			pr.Draft = true
			return pr
		}, decide.Wait, func(*loopback.GitHub, forge.PullRequest) {}, func(pr *forge.PullRequest) { pr.Draft = true }, ""},
		"a draft is fixed by hand, and stopped": {decide.Author, loopback.Author,
			func(g *loopback.GitHub, pr forge.PullRequest) forge.PullRequest {
				pr = g.Reviewed(pr.Ref, verdict.RequestChanges, unsafe)
				pr.Draft = true
				return pr
			}, decide.Wait, func(g *loopback.GitHub, _ forge.PullRequest) { comment(g, loopback.Person, "/touchstone stop") },
			func(pr *forge.PullRequest) { pr.Draft = true }, "has stopped"},
		"the base is merged in": {decide.Author, loopback.Author, func(g *loopback.GitHub, pr forge.PullRequest) forge.PullRequest {
			return g.Reviewed(pr.Ref, verdict.RequestChanges, unsafe)
		}, decide.Fix, func(g *loopback.GitHub, _ forge.PullRequest) {
			g.Commit("main", "Move on", map[string]string{"README.md": "two\n"})
			g.Call(loopback.Person, http.MethodPut, "pulls/1/update-branch", map[string]any{}, nil)
		}, nil, ""},
		"a review is posted, and is its own": {decide.Reviewer, loopback.Judge, asRequested, decide.Review,
			func(g *loopback.GitHub, pr forge.PullRequest) {
				g.Reviewed(pr.Ref, verdict.Approve)
			}, nil, ""},
		"a review's author orders what nobody can follow": {decide.Reviewer, loopback.Judge, asRequested, decide.Review,
			func(g *loopback.GitHub, _ forge.PullRequest) {
				comment(g, loopback.Person, "/touchstone frobnicate")
			}, nil, ""},
		"a review is not asked for any more": {decide.Reviewer, loopback.Judge, asRequested, decide.Review,
			func(g *loopback.GitHub, _ forge.PullRequest) {
				g.Call(loopback.Author, http.MethodDelete, "pulls/1/requested_reviewers", map[string]any{"reviewers": []string{loopback.Judge}}, nil)
			}, nil, "nobody asked"},
		"a review's base is changed": {decide.Reviewer, loopback.Judge, asRequested, decide.Review,
			func(g *loopback.GitHub, _ forge.PullRequest) {
				g.Call(loopback.Author, http.MethodPatch, "pulls/1", map[string]any{"base": "release"}, nil)
			}, nil, "its base branch is release now"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := loopback.New(t, map[string]string{"README.md": "one\n"})
			g.Commit("release", "Begin", map[string]string{"release.txt": "one\n"})
			g.Commit("topic", "Add code", map[string]string{"code.txt": "unsafe()\n"})
			begun := tc.before(g, g.Read(tc.login, g.Open("topic")))
			a := agentOf(g, tc.role, tc.login)
			if action, err := a.Decide(t.Context(), begun); err != nil || action.Kind != tc.begun {
				t.Fatalf("it comes to %+v, %v", action, err)
			}
			tc.during(g, begun)
			now := g.Read(tc.login, begun.Ref)
			if tc.read != nil {
				tc.read(&now)
			}
			kind := map[decide.Role]decide.Kind{decide.Reviewer: decide.Review, decide.Author: decide.Fix}[tc.role]
			why, err := a.Unwanted(t.Context(), kind, begun, now)
			if err != nil || (tc.want == "") != (why == "") || !strings.Contains(why, tc.want) {
				t.Errorf("it ends because %q, %v", why, err)
			}
		})
	}
}

// asRequested is a pull request whose review is asked for.
func asRequested(g *loopback.GitHub, pr forge.PullRequest) forge.PullRequest {
	g.Call(loopback.Author, http.MethodPost, "pulls/1/requested_reviewers", map[string]any{"reviewers": []string{loopback.Judge}}, nil)
	return g.Read(loopback.Judge, pr.Ref)
}
