package worker

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"touchstone/agent/e2e/loopback"
	"touchstone/agent/forge"
	"touchstone/agent/githubsim"
	"touchstone/verdict"
	"touchstone/verdict/decide"
)

// proposed is an approved pull request with a nit whose suggestion can be applied.
func proposed(t *testing.T, base map[string]string) (*loopback.GitHub, forge.Ref) {
	t.Helper()
	const text = "package app\n\n// Parse raeds.\nfunc Parse() {}\n"
	g := loopback.New(t, base)
	g.Commit("topic", "Add code", map[string]string{"parse.go": text})
	ref := g.Open("topic")
	pr := g.Read(loopback.Judge, ref)
	nit := verdict.Finding{Dimension: verdict.Doc, Severity: verdict.Nit, Rule: "doc/D4", Path: "parse.go", Line: 3, Quote: "// Parse raeds.",
		Claim: "A word is misspelt."}
	nit.ID = verdict.Fingerprint(nit)
	e, ok := verdict.NewEdit(nit.ID, nit.Path, 3, 3, "// Parse reads.", []byte(text))
	record := verdict.Record{
		Verdict: verdict.Approve, Settled: true, Head: pr.Head.SHA, Base: pr.Base.SHA, BaseBranch: pr.Base.Name, Tree: g.Tree(pr), Round: 1,
		Ledger: verdict.Ledger(nil).After(1, verdict.Judgement{Verdict: verdict.Approve, Complete: true,
			Answer: verdict.Answer{Findings: []verdict.Finding{nit}}}),
		Edits: []verdict.Edit{e},
	}
	seal, err := record.Seal(verdict.Signer{})
	if err != nil || !ok {
		t.Fatal(err, ok)
	}
	_, err = forge.NewPoster(g.Client(loopback.Judge)).PostReview(t.Context(), ref,
		forge.Review{SHA: pr.Head.SHA, Event: string(verdict.Approve), Body: "Fine.\n\n" + seal,
			Comments: []forge.ReviewComment{{Path: "parse.go", Line: 3, Side: "RIGHT", Body: "**[Doc] nit** · " + verdict.FindingTag(nit.ID)}}})
	if err != nil {
		t.Fatal(err)
	}
	return g, ref
}

var readme = map[string]string{"README.md": "one\n"}

// looks has an agent look and act until it merges or waits, and gives the kinds of its acts. What
// happens during an Apply happens once that is decided on.
func looks(t *testing.T, g *loopback.GitHub, a *Agent, ref forge.Ref, during func(*loopback.GitHub)) string {
	t.Helper()
	var acts []string
	for range 4 {
		g.Settle()
		pr, action, err := a.Look(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		acts = append(acts, string(action.Kind))
		if action.Kind == decide.Wait || action.Kind == decide.Done {
			break
		}
		if action.Kind == decide.Apply && during != nil {
			during(g)
		}
		if step, err := a.Act(t.Context(), pr, action); err != nil {
			acts = append(acts, fmt.Sprintf("(%v)", err))
		} else if step.Head != "" && action.Kind == decide.Apply {
			acts = append(acts, "pushed")
		}
	}
	return strings.Join(acts, " ")
}

// TestNitsAreAppliedOnceAndNeverHoldAMergeUp checks that the head is merged without the nits if applying them
// fails.
func TestNitsAreAppliedOnceAndNeverHoldAMergeUp(t *testing.T) {
	t.Parallel()
	failing := map[string]string{"README.md": "one\n", ".touchstone/config.yaml": "verify:\n  command: [git, no-such-command]\n"}
	reply := func(login, body string) func(*loopback.GitHub) {
		return func(g *loopback.GitHub) {
			var comments []struct{ ID int64 }
			g.Call(login, http.MethodGet, "pulls/1/comments", map[string]any{}, &comments)
			g.Call(login, http.MethodPost, fmt.Sprintf("pulls/1/comments/%d/replies", comments[0].ID), map[string]any{"body": body}, nil)
		}
	}
	for name, tc := range map[string]struct {
		base      map[string]string
		before    func(*loopback.GitHub)
		during    func(*loopback.GitHub)
		forgetful bool                                                  // the agent has no journal
		fault     func(*http.Request, *loopback.GitHub) githubsim.Fault // of the author's requests
		want      string
		said      int // replies of the agent's
	}{
		"applied":                          {want: "apply pushed wait", said: 1},
		"verify fails":                     {base: failing, want: "apply merge done", said: 1},
		"verify fails, without a journal":  {base: failing, forgetful: true, want: "apply merge done", said: 1},
		"a person talks of it":             {before: reply(loopback.Person, "It is a name."), want: "merge done"},
		"its author talks of it":           {before: reply(loopback.Author, "It is a name."), want: "merge done"},
		"the reviewer talks of it":         {before: reply(loopback.Judge, "Still there."), want: "apply pushed wait", said: 1},
		"GitHub takes no push":             {fault: faultOf("git-receive-pack", http.StatusForbidden), want: "apply merge done", said: 1},
		"GitHub is down for pushes":        {fault: faultOf("git-receive-pack", http.StatusBadGateway), want: "apply (push", said: 0},
		"verify fails, and nobody is told": {base: failing, fault: faultOf("replies", http.StatusBadGateway), want: "apply merge done"},
		"disputed while it is done":        {during: dispute, want: "apply (the pull request changed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tc.base == nil {
				tc.base = readme
			}
			g, ref := proposed(t, tc.base)
			if tc.before != nil {
				tc.before(g)
			}
			if tc.fault != nil {
				g.Sim.Intercept(func(login string, r *http.Request) githubsim.Fault {
					if login != loopback.Author {
						return githubsim.Fault{}
					}
					return tc.fault(r, g)
				})
			}
			a := authorOf(t, g, func(loopback.Asked) (string, error) { return "", errors.New("a model was run") })
			if tc.forgetful {
				a.Journal = nil
			}
			got := looks(t, g, a, ref, tc.during)
			if !strings.HasPrefix(got, tc.want) || strings.Contains(tc.want, "(") && !strings.HasSuffix(got, " merge done") {
				t.Errorf("it comes to %q, want %q", got, tc.want)
			}
			said := 0
			for _, c := range g.Read(loopback.Author, ref).Threads[0].Comments[1:] {
				if verdict.Answers(c.Body) {
					said++
				}
			}
			if said != tc.said {
				t.Errorf("the thread was told %d times, want %d", said, tc.said)
			}
		})
	}
}

// faultOf answers requests to a path with a status.
func faultOf(path string, status int) func(*http.Request, *loopback.GitHub) githubsim.Fault {
	return func(r *http.Request, _ *loopback.GitHub) githubsim.Fault {
		if strings.Contains(r.URL.Path+"?"+r.URL.RawQuery, path) {
			return githubsim.Fault{Status: status}
		}
		return githubsim.Fault{}
	}
}

// dispute has a person dispute the nit.
func dispute(g *loopback.GitHub) {
	record, err := verdict.ParseRecord(g.Read(loopback.Root, forge.Ref{Repo: loopback.Repo, Number: 1}).Reviews[0].Body)
	if err == nil {
		comment(g, loopback.Person, fmt.Sprintf("/touchstone dispute %s It is a name.", record.Ledger[0].ID))
	}
}

// TestAMergeByHandAppliesNothing checks that a manual merge applies no nits: the person has seen what there
// is.
func TestAMergeByHandAppliesNothing(t *testing.T) {
	t.Parallel()
	g, ref := proposed(t, readme)
	a := authorOf(t, g, nil)
	a.ByHand = true
	if action, err := a.Decide(context.WithoutCancel(t.Context()), g.Read(loopback.Author, ref)); err != nil || action.Kind != decide.Merge {
		t.Errorf("it comes to %+v, %v", action, err)
	}
}
