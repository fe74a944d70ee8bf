package merger_test

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"touchstone/agent/e2e/loopback"
	"touchstone/agent/forge"
	"touchstone/agent/githubsim"
	"touchstone/agent/merger"
	"touchstone/verdict"
)

type decision = func(context.Context, forge.PullRequest) (verdict.Action, error)

// decided always has the same decision, whatever was read.
func decided(kind verdict.Kind, sha string) decision {
	return func(context.Context, forge.PullRequest) (verdict.Action, error) {
		return verdict.Action{Kind: kind, SHA: sha, Reason: "so it was decided"}, nil
	}
}

func open(t *testing.T) (*loopback.GitHub, forge.PullRequest) {
	g := loopback.New(t, map[string]string{"README.md": "one\n"})
	g.Commit("topic", "Add code", map[string]string{"code.txt": "fine\n"})
	return g, g.Read(loopback.Author, g.Open("topic"))
}

func newMerger(g *loopback.GitHub, decide decision) *merger.Merger {
	client := g.Client(loopback.Author)
	return &merger.Merger{Read: client, Act: forge.NewMerger(client), Decide: decide}
}

func TestMergeSquashes(t *testing.T) {
	t.Parallel()
	g, pr := open(t)
	sha, err := newMerger(g, decided(verdict.Merge, pr.Head.SHA)).Merge(t.Context(), pr.Ref, pr.Head.SHA)
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

// TestNothingElseIsMerged: whatever changes between the decision and the merge
// ends without one.
func TestNothingElseIsMerged(t *testing.T) {
	t.Parallel()
	other := "0123456789012345678901234567890123456789"
	for name, tc := range map[string]struct {
		arrange func(g *loopback.GitHub, pr forge.PullRequest) decision
		want    error
	}{
		"the decision is another by now": {func(_ *loopback.GitHub, pr forge.PullRequest) decision {
			return decided(verdict.Wait, pr.Head.SHA)
		}, merger.ErrOvertaken},
		"the decision is about another head": {func(*loopback.GitHub, forge.PullRequest) decision {
			return decided(verdict.Merge, other)
		}, merger.ErrOvertaken},
		"a push right before the merge": {func(g *loopback.GitHub, pr forge.PullRequest) decision {
			g.Sim.SetFaults(githubsim.Faults{MoveHead: 1})
			return decided(verdict.Merge, pr.Head.SHA)
		}, forge.ErrHeadMoved},
		"a push to the base right before the merge": {func(g *loopback.GitHub, pr forge.PullRequest) decision {
			g.Sim.SetFaults(githubsim.Faults{MoveBase: 1})
			return decided(verdict.Merge, pr.Head.SHA)
		}, forge.ErrBaseMoved},
		"conflicts": {func(g *loopback.GitHub, pr forge.PullRequest) decision {
			g.Commit("main", "Collide", map[string]string{"code.txt": "other\n"})
			g.Read(loopback.Author, pr.Ref)
			return decided(verdict.Merge, pr.Head.SHA)
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
