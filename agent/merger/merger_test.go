package merger_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-github/v66/github"

	"touchstone/agent/e2e/loopback"
	"touchstone/agent/forge"
	"touchstone/agent/githubsim"
	"touchstone/agent/merger"
	"touchstone/verdict"
	"touchstone/verdict/decide"
)

// decided always has the same decision, and needs nothing besides what was read.
func decided(kind decide.Kind, sha string) merger.Decide {
	return func(context.Context, forge.PullRequest) (decide.Action, bool, error) {
		return decide.Action{Kind: kind, SHA: sha, Reason: "so it was decided"}, true, nil
	}
}

func open(t *testing.T) (*loopback.GitHub, forge.PullRequest) {
	g := loopback.New(t, map[string]string{"README.md": "one\n"})
	g.Commit("topic", "Add code", map[string]string{"code.txt": "fine\n"})
	return g, g.Read(loopback.Author, g.Open("topic"))
}

func newMerger(g *loopback.GitHub, decide merger.Decide) *merger.Merger {
	client := g.Client(loopback.Author)
	return &merger.Merger{Read: client, Act: forge.NewMerger(client), Decider: func() merger.Decide { return decide }}
}

func TestMergeSquashes(t *testing.T) {
	t.Parallel()
	g, pr := open(t)
	sha, err := newMerger(g, decided(decide.Merge, pr.Head.SHA)).Merge(t.Context(), pr.Ref, pr.Head.SHA)
	if err != nil {
		t.Fatal(err)
	}
	var commit struct {
		Commit  struct{ Message string }
		Parents []struct{ SHA string }
	}
	g.Call(loopback.Root, http.MethodGet, "commits/"+sha, nil, &commit)
	if want := "Change topic (#1)\n\nWhy."; commit.Commit.Message != want || len(commit.Parents) != 1 || commit.Parents[0].SHA != pr.Base.SHA {
		t.Errorf("the merge is %+v, want one commit on the base that says %q", commit, want)
	}
	if now := g.Read(loopback.Author, pr.Ref); !now.Merged || now.MergeSHA != sha {
		t.Errorf("merged: %v at %s", now.Merged, now.MergeSHA)
	}
}

// What was not reviewed does not get into the base's history: not a title or a description
// that was changed since.
func TestTheMessageIsWhatWasReviewed(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ change, want string }{
		"as reviewed":         {"", "Change topic (#1)\n\nWhy."},
		"another title":       {"title", "Change topic (#1)\n\nWhy."},
		"another description": {"body", "Change topic (#1)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, pr := open(t)
			approval := &verdict.Record{}
			approval.State(pr.Title, pr.Body, nil)
			if tc.change != "" {
				g.Call(loopback.Author, http.MethodPatch, "pulls/1", map[string]any{tc.change: "Ship what nobody saw"}, nil)
			}
			decide := func(context.Context, forge.PullRequest) (decide.Action, bool, error) {
				return decide.Action{Kind: decide.Merge, SHA: pr.Head.SHA, Record: approval}, true, nil
			}
			sha, err := newMerger(g, decide).Merge(t.Context(), pr.Ref, pr.Head.SHA)
			if err != nil {
				t.Fatal(err)
			}
			var commit struct{ Commit struct{ Message string } }
			g.Call(loopback.Root, http.MethodGet, "commits/"+sha, nil, &commit)
			if commit.Commit.Message != tc.want {
				t.Errorf("the merge says %q, want %q", commit.Commit.Message, tc.want)
			}
		})
	}
}

// TestADescriptionDoesNotKeepCIFromRunning: GitHub starts no workflow for a commit whose message has one of these, even
// where it only quotes them.
func TestADescriptionDoesNotKeepCIFromRunning(t *testing.T) {
	t.Parallel()
	g, pr := open(t)
	said := "Update left-pad.\n\n- chore(release): 1.2.0 [skip ci]\n- `[CI Skip]`, [no ci], [skip actions], [actions skip]; " +
		"see [1]: [no citation]\n\n\nskip-checks: true"
	g.Call(loopback.Author, http.MethodPatch, "pulls/1", map[string]any{"body": said}, nil)
	sha, err := newMerger(g, decided(decide.Merge, pr.Head.SHA)).Merge(t.Context(), pr.Ref, pr.Head.SHA)
	if err != nil {
		t.Fatal(err)
	}
	var commit struct{ Commit struct{ Message string } }
	g.Call(loopback.Root, http.MethodGet, "commits/"+sha, nil, &commit)
	want := "Change topic (#1)\n\nUpdate left-pad.\n\n- chore(release): 1.2.0 (skip ci)\n- `(CI Skip)`, (no ci), (skip actions), " +
		"(actions skip); see [1]: [no citation]\n\n\nskip-checks true"
	if commit.Commit.Message != want {
		t.Errorf("the merge says %q, want %q", commit.Commit.Message, want)
	}
}

// TestAnyChangeAfterTheDecisionStopsTheMerge: each thing that changes between the decision and the merge
// ends without one.
func TestAnyChangeAfterTheDecisionStopsTheMerge(t *testing.T) {
	t.Parallel()
	other := "0123456789012345678901234567890123456789"
	for name, tc := range map[string]struct {
		arrange func(g *loopback.GitHub, pr forge.PullRequest) merger.Decide
		want    error
	}{
		"the decision is another by now": {func(_ *loopback.GitHub, pr forge.PullRequest) merger.Decide {
			return decided(decide.Wait, pr.Head.SHA)
		}, merger.ErrOvertaken},
		"the decision is about another head": {func(*loopback.GitHub, forge.PullRequest) merger.Decide {
			return decided(decide.Merge, other)
		}, merger.ErrOvertaken},
		"a push right before the merge": {func(g *loopback.GitHub, pr forge.PullRequest) merger.Decide {
			g.Sim.SetFaults(githubsim.Faults{MoveHead: 1})
			return decided(decide.Merge, pr.Head.SHA)
		}, forge.ErrHeadMoved},
		"a base that does not keep still": {func(g *loopback.GitHub, pr forge.PullRequest) merger.Decide {
			g.Sim.SetFaults(githubsim.Faults{MoveBase: 99})
			return decided(decide.Merge, pr.Head.SHA)
		}, forge.ErrBaseMoved},
		"conflicts": {func(g *loopback.GitHub, pr forge.PullRequest) merger.Decide {
			g.Commit("main", "Collide", map[string]string{"code.txt": "other\n"})
			g.Read(loopback.Author, pr.Ref)
			return decided(decide.Merge, pr.Head.SHA)
		}, forge.ErrNotMergeable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, pr := open(t)
			_, err := newMerger(g, tc.arrange(g, pr)).Merge(t.Context(), pr.Ref, pr.Head.SHA)
			if !errors.Is(err, tc.want) {
				t.Errorf("it ends in %v, want %v", err, tc.want)
			}
			if overtaken := errors.Is(err, merger.ErrOvertaken); overtaken == errors.Is(tc.want, forge.ErrNotMergeable) {
				t.Errorf("overtaken: %v in %v", overtaken, err)
			}
			if g.Read(loopback.Author, pr.Ref).Merged {
				t.Error("it was merged")
			}
		})
	}
}

// TestMergeOutlastsABaseThatMoves: GitHub refuses a merge while another one is
// under way, and takes it a moment later.
func TestMergeOutlastsABaseThatMoves(t *testing.T) {
	t.Parallel()
	g, pr := open(t)
	g.Sim.SetFaults(githubsim.Faults{MoveBase: 2})
	looks := 0
	m := newMerger(g, func(context.Context, forge.PullRequest) (decide.Action, bool, error) {
		looks++
		return decide.Action{Kind: decide.Merge, SHA: pr.Head.SHA}, true, nil
	})
	if sha, err := m.Merge(t.Context(), pr.Ref, pr.Head.SHA); err != nil || sha == "" {
		t.Fatalf("%q, %v", sha, err)
	}
	if looks != 3 {
		t.Errorf("it was decided %d times, want anew before each of three tries", looks)
	}
}

// TestADecisionThatTookRequestsIsMadeAgain: what was read for it may be older than the look it is about.
func TestADecisionThatTookRequestsIsMadeAgain(t *testing.T) {
	t.Parallel()
	for settledAt, merges := range map[int]bool{1: true, 3: true, 100: false} {
		g, pr := open(t)
		looks := 0
		sha, err := newMerger(g, func(context.Context, forge.PullRequest) (decide.Action, bool, error) {
			looks++
			return decide.Action{Kind: decide.Merge, SHA: pr.Head.SHA}, looks >= settledAt, nil
		}).Merge(t.Context(), pr.Ref, pr.Head.SHA)
		if merges && (err != nil || sha == "" || looks != settledAt) || !merges && !errors.Is(err, merger.ErrOvertaken) {
			t.Errorf("settled at look %d: %q, %v after %d looks", settledAt, sha, err, looks)
		}
	}
}

func TestMergeNamesEverybodyWhoWroteIt(t *testing.T) {
	t.Parallel()
	g, pr := open(t)
	const message = "More\n\nCo-authored-by: Mona  Lisa <mona@example.com>\nCo-authored-by: <nobody@example.com>\nco-authored-by: Again " +
		"<MONA@example.com>"
	head, err := g.Sim.Commit(t.Context(), loopback.Person, loopback.Repo.String(), "topic", message, map[string]string{"more.txt": "more\n"})
	if err != nil {
		t.Fatal(err)
	}
	g.Read(loopback.Author, pr.Ref)
	sha, err := newMerger(g, decided(decide.Merge, head)).Merge(t.Context(), pr.Ref, head)
	if err != nil {
		t.Fatal(err)
	}
	var commit struct{ Commit struct{ Message string } }
	g.Call(loopback.Root, http.MethodGet, "commits/"+sha, nil, &commit)
	text := commit.Commit.Message
	if !strings.HasPrefix(text, "Change topic (#1)\n\nWhy.\n\nCo-authored-by: walter <") ||
		!strings.Contains(text, "\nCo-authored-by: Mona Lisa <mona@example.com>") ||
		strings.Count(text, "Co-authored-by") != 2 {
		t.Errorf("the message is %q", text)
	}
}

func TestMergeWaitsInTheQueue(t *testing.T) {
	t.Parallel()
	g, _ := open(t)
	repo := forge.Repo{Owner: loopback.Repo.Owner, Name: "queued"}
	err := g.Sim.CreateRepo(t.Context(), githubsim.RepoOptions{
		Owner: repo.Owner, Name: repo.Name, Files: map[string]string{"README.md": "one\n"},
		Protected: map[string]githubsim.Protection{"main": {MergeQueue: true}},
	})
	if err != nil {
		t.Fatal(err)
	}
	head, err := g.Sim.Commit(t.Context(), loopback.Author, repo.String(), "topic", "Add code", map[string]string{"code.txt": "fine\n"})
	if err != nil {
		t.Fatal(err)
	}
	ref := forge.Ref{Repo: repo, Number: 1}
	hand, err := github.NewClient(nil).WithAuthToken("token-of-"+loopback.Author).WithEnterpriseURLs(g.URL, g.URL)
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = hand.PullRequests.Create(t.Context(), repo.Owner, repo.Name,
		&github.NewPullRequest{Title: github.String("Change"), Head: github.String("topic"), Base: github.String("main")})
	if err != nil {
		t.Fatal(err)
	}
	g.Sim.SetFaults(githubsim.Faults{HoldMergeQueue: true})
	if sha, err := newMerger(g, decided(decide.Merge, head)).Merge(t.Context(), ref, head); err != nil || sha != "" {
		t.Fatalf("%q, %v", sha, err)
	}
	if now := g.Read(loopback.Author, ref); !now.InQueue || now.Merged {
		t.Errorf("in the queue %v, merged %v", now.InQueue, now.Merged)
	}
}

func TestTidyDeletesTheMergedBranch(t *testing.T) {
	t.Parallel()
	g, pr := open(t)
	m := newMerger(g, decided(decide.Merge, pr.Head.SHA))
	if err := m.Tidy(t.Context(), pr, "0123456789012345678901234567890123456789"); err == nil {
		t.Error("a branch that moved on was deleted")
	}
	fork, shared := pr, pr
	fork.Fork, shared.SameBranch = true, "acme/app#7"
	for _, kept := range []forge.PullRequest{fork, shared} {
		if err := m.Tidy(t.Context(), kept, pr.Head.SHA); err != nil {
			t.Error(err)
		}
	}
	g.Commit("above", "More", map[string]string{"more.txt": "more\n"})
	var above struct{ Number int }
	g.Call(loopback.Author, http.MethodPost, "pulls", map[string]any{"title": "Above", "head": "above", "base": "topic"}, &above)
	if err := m.Tidy(t.Context(), pr, pr.Head.SHA); err == nil || !strings.Contains(err.Error(), "has it as its base") {
		t.Errorf("the base of another pull request: %v", err)
	}
	g.Call(loopback.Author, http.MethodPatch, fmt.Sprintf("pulls/%d", above.Number), map[string]any{"state": "closed"}, nil)
	// An open pull request is closed when its branch goes.
	there := func() bool { return g.Read(loopback.Author, pr.Ref).Open }
	if !there() {
		t.Fatal("the branch is gone")
	}
	if err := m.Tidy(t.Context(), pr, pr.Head.SHA); err != nil || there() {
		t.Errorf("the branch is there: %v, %v", there(), err)
	}
}
