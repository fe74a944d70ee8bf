package worker

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"touchstone/agent/config"
	"touchstone/agent/e2e/loopback"
	"touchstone/agent/forge"
	"touchstone/agent/githubsim"
	"touchstone/verdict"
	"touchstone/verdict/decide"
)

// look is the request that reads a pull request.
const look = "look"

// requests are the author's agent's, in order, and what happens right before one of them.
type requests struct {
	mu     sync.Mutex
	made   []string
	before int // counted from 1; 0 is none
	happen func()
}

func (r *requests) intercept(login string, request *http.Request) githubsim.Fault {
	r.mu.Lock()
	if login != loopback.Author || request.UserAgent() == "Go-http-client/1.1" { // by hand
		r.mu.Unlock()
		return githubsim.Fault{}
	}
	asked, err := io.ReadAll(request.Body)
	if err != nil {
		panic(err)
	}
	request.Body = io.NopCloser(bytes.NewReader(asked))
	made := request.Method + " " + request.URL.Path
	if strings.Contains(string(asked), "query PullRequest(") {
		made = look
	}
	r.made = append(r.made, made)
	now := len(r.made) == r.before
	r.mu.Unlock()
	if now {
		r.happen()
	}
	return githubsim.Fault{}
}

// readyToMerge is an approved pull request about which a decision takes requests of every kind: an order was given, the
// base has moved on and holds settings, and an earlier head was reviewed.
func readyToMerge(t *testing.T) (*loopback.GitHub, forge.PullRequest, *Agent) {
	t.Helper()
	g := loopback.New(t, map[string]string{config.RepositoryPath: "merge:\n  manual: ['payments/**']\n"})
	g.Commit("main", "Something", map[string]string{"some.txt": "some\n"})
	g.Commit("topic", "Add code", map[string]string{"code.txt": "unsafe()\n"})
	ref := g.Open("topic")
	first := g.Reviewed(ref, verdict.RequestChanges, unsafe)
	reports(g, first.Head.SHA, "build", "success")
	comment(g, loopback.Person, "/touchstone resume")
	g.Commit("topic", "Make it safe", fine)
	pr := g.Reviewed(ref, verdict.Approve)
	g.Commit("main", "Something else", map[string]string{"else.txt": "else\n"})
	reports(g, pr.Head.SHA, "build", "success")
	return g, g.Read(loopback.Author, ref), authorOf(t, g, nil)
}

// TestTheLastLookIsTheLastRequestBeforeTheMerge: what happens up to that look is no longer merged over.
func TestTheLastLookIsTheLastRequestBeforeTheMerge(t *testing.T) {
	t.Parallel()
	g, pr, a := readyToMerge(t)
	action := decided(t, g, a, pr)
	seen := &requests{}
	g.Sim.Intercept(seen.intercept)
	if _, err := a.Act(t.Context(), pr, action); err != nil {
		t.Fatalf("%+v: %v", action, err)
	}
	last := 0
	for i, made := range seen.made {
		if strings.HasPrefix(made, "PUT ") && strings.HasSuffix(made, "/merge") {
			last = i
		}
	}
	if last < 2 || seen.made[last-1] != look {
		t.Fatalf("the requests are %q, want the merge right after a look", seen.made)
	}
	for name, happen := range map[string]func(g *loopback.GitHub, pr forge.PullRequest){
		"it is pointed at another base": func(g *loopback.GitHub, _ forge.PullRequest) {
			g.Call(loopback.Author, http.MethodPatch, "pulls/1", map[string]any{"base": "release"}, nil)
		},
		"a check fails": func(g *loopback.GitHub, pr forge.PullRequest) { reports(g, pr.Head.SHA, "build", "failure") },
		"a person stops it": func(g *loopback.GitHub, _ forge.PullRequest) {
			comment(g, loopback.Person, "/touchstone stop")
		},
		"the approval is dismissed": func(g *loopback.GitHub, pr forge.PullRequest) {
			review := pr.Reviews[len(pr.Reviews)-1].ID
			g.Call(loopback.Root, http.MethodPut, fmt.Sprintf("pulls/1/reviews/%d/dismissals", review), map[string]string{"message": "No."}, nil)
		},
		"a person requests changes": func(g *loopback.GitHub, _ forge.PullRequest) {
			g.Call(loopback.Person, http.MethodPost, "pulls/1/reviews", map[string]string{"event": "REQUEST_CHANGES", "body": "Wait."}, nil)
		},
		"somebody holds it": func(g *loopback.GitHub, _ forge.PullRequest) {
			g.Call(loopback.Person, http.MethodPost, "issues/1/labels", []string{"touchstone-hold"}, nil)
		},
		"its base is rewritten": func(g *loopback.GitHub, pr forge.PullRequest) {
			before := pr.Base.SHA // and then what the review was against, and what came before that
			for range 2 {
				var commit struct{ Parents []struct{ SHA string } }
				g.Call(loopback.Root, http.MethodGet, "commits/"+before, nil, &commit)
				before = commit.Parents[0].SHA
			}
			g.Call(loopback.Root, http.MethodPatch, "git/refs/heads/main", map[string]any{"sha": before, "force": true}, nil)
		},
		"the repository's settings leave it to its author": func(g *loopback.GitHub, _ forge.PullRequest) {
			g.Commit("main", "Merge by hand", map[string]string{config.RepositoryPath: "merge:\n  auto: false\n"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, pr, a := readyToMerge(t)
			g.Commit("release", "Begin a release", map[string]string{"release.txt": "1\n"})
			action := decided(t, g, a, pr)
			if action.Kind != decide.Merge {
				t.Fatalf("before, it comes to %+v", action)
			}
			seen := &requests{before: last, happen: func() { happen(g, pr) }}
			g.Sim.Intercept(seen.intercept)
			_, err := a.Act(t.Context(), pr, action)
			g.Sim.Intercept(nil)
			if now := g.Read(loopback.Author, pr.Ref); !Overtaken(err) || now.Merged {
				t.Errorf("merged: %v; the merge ends in %v, want that it was overtaken", now.Merged, err)
			}
		})
	}
}
