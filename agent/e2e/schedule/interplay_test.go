package schedule

import (
	"context"
	"flag"
	"fmt"
	"iter"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"touchstone/agent/e2e/arena"
	"touchstone/agent/forge"
	"touchstone/agent/githubsim"
	"touchstone/verdict"
	"touchstone/verdict/decide"
	"touchstone/worktree/steps"
)

// scene is a pull request for which a test decides what happens when.
type scene struct {
	*world
	t *testing.T
}

// on runs play on a stage of its own.
func on(t *testing.T, play func(*Stage)) {
	t.Parallel()
	err := arena.Within(t.Context(), t.TempDir(), func(ctx context.Context, a *arena.Arena) error {
		stage, err := NewStage(ctx, a, t.TempDir())
		if err == nil {
			err = steps.Try(func() { play(stage) })
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// open opens pull request number n with a text of the file, on a branch that is
// protected by these rules.
func (s *Stage) open(t *testing.T, n uint64, text string, rules githubsim.Protection) *scene {
	t.Helper()
	w := s.world(t.Context(), n)
	w.rules = rules
	sc := &scene{world: w, t: t}
	w.open(text)
	t.Cleanup(w.close)
	for _, m := range w.machines {
		m.random = nil
		w.start(m)
	}
	s.Sim.Intercept(w.intercept)
	return sc
}

func (s *scene) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatalf("%v\n%s", err, strings.Join(s.result.Steps, "\n"))
	}
}

// look makes a machine look and act once, and returns what it did. Machines 0 and 1 are the reviewer's, 2 and 3
// the author's.
func (s *scene) look(machine int) string {
	s.must(s.Sim.Settle(s.Ctx))
	s.act(s.Ctx, s.machines[machine])
	return s.result.Steps[len(s.result.Steps)-1]
}

// ends lets the agents finish, and requires this end without violations.
func (s *scene) ends(want string) {
	s.t.Helper()
	s.finish()
	s.check()
	if s.result.End != want || s.result.Stuck != "" || len(s.result.Violations) > 0 {
		s.t.Errorf("it ended %q, want %q; violations %q, stuck %q\n%s", s.result.End, want, s.result.Violations, s.result.Stuck,
			strings.Join(s.result.Steps, "\n"))
	}
}

// said requires that the latest thing that a machine did contains a text.
func (s *scene) said(did, want string) {
	s.t.Helper()
	if !strings.Contains(did, want) {
		s.t.Errorf("it did %q, want %q\n%s", did, want, strings.Join(s.result.Steps, "\n"))
	}
}

// reviews returns the reviews of the reviewer's machines that are not withdrawn.
func (s *scene) reviews() []arena.Post {
	return slices.DeleteFunc(s.Reviews(), func(r arena.Post) bool { return r.User.Login != arena.Judge || r.State == "DISMISSED" })
}

// every is the distance between two outward calls at which something happens.
var every = flag.Int("every", 3, "have something happen at every so many of an agent's outward calls, from a random one on; 1 takes all")

// moments yields the numbers of the outward calls of a turn at which something happens, for as long as there
// are calls: a different sample each time.
func moments(t *testing.T) iter.Seq[int] {
	first := 1 + rand.IntN(*every)
	t.Logf("it happens at call %d and each %d on; -every 1 takes all", first, *every)
	return func(yield func(int) bool) {
		for at := first; yield(at); at += *every {
		}
	}
}

// atEveryCall lets a second machine take its whole turn at outward calls of a first one, with a new pull
// request for each.
func atEveryCall(t *testing.T, first, second int, before func(*scene), after func(*scene)) {
	on(t, func(stage *Stage) {
		for at := range moments(t) {
			s := stage.open(t, uint64(4*at), body("unsafe()"), githubsim.Protection{}) // reviewers fetch over HTTP there
			before(s)
			s.during(plan{login: s.machines[first].login(), at: at, do: func() { s.act(s.Ctx, s.machines[second]) }})
			s.look(first)
			calls := s.during(plan{}).calls
			after(s)
			if calls < at && at < 6 {
				t.Errorf("a whole turn made only %d calls", calls)
			}
			if t.Failed() || calls < at {
				return
			}
		}
	})
}

func TestTwoReviewerMachinesLeaveOneReview(t *testing.T) {
	atEveryCall(t, 0, 1, func(*scene) {}, func(s *scene) {
		if n := len(s.reviews()); n != 1 {
			s.t.Errorf("%d reviews of one head stand", n)
		}
		s.ends("merged")
	})
}

// TestTwoReviewerMachinesLeaveOneApprovalOnAPersonsWord checks that a person's word leads to one approval only.
func TestTwoReviewerMachinesLeaveOneApprovalOnAPersonsWord(t *testing.T) {
	atEveryCall(t, 0, 1, func(s *scene) {
		s.look(0)
		s.order(arena.Owner, verdict.BreakGlass+" it burns")
	}, func(s *scene) {
		if n := len(s.reviews()); n != 2 {
			s.t.Errorf("%d reviews of one head stand, want the session's and one approval", n)
		}
		s.ends("merged")
	})
}

func TestTwoAuthorMachinesPushOneFix(t *testing.T) {
	atEveryCall(t, 2, 3, func(s *scene) { s.look(0) }, func(s *scene) {
		var commits []struct{ SHA string }
		s.Call(arena.Owner, http.MethodGet, fmt.Sprintf("pulls/%d/commits", s.Ref.Number), nil, &commits)
		if len(commits) != 2 {
			s.t.Errorf("%d commits, want the author's and one fix", len(commits))
		}
		s.ends("merged")
	})
}

// A commit that a person removes from the branch stays off it, whenever in a fix that happens.
func TestPersonTakesACommitOff(t *testing.T) {
	on(t, func(stage *Stage) {
		for at := range moments(t) {
			s := stage.open(t, uint64(4*at), body("unsafe()"), githubsim.Protection{})
			s.push(arena.Person, branch, map[string]string{"leak.txt": "leak\n"})
			s.look(0)
			s.during(plan{login: arena.Author, at: at, do: func() {
				s.pushed = s.pushed[:1]
				s.reset(s.pushed[0])
			}})
			s.look(2)
			calls := s.during(plan{}).calls
			s.checkPushes()
			if len(s.result.Violations) > 0 {
				t.Errorf("at call %d: %q", at, s.result.Violations)
			}
			if calls < at && at < 6 {
				t.Errorf("a whole turn made only %d calls", calls)
			}
			if t.Failed() || calls < at {
				return
			}
		}
	})
}

func TestAgentsRespectWhatOthersDo(t *testing.T) {
	fine, bad := body("fine()"), body("unsafe()")
	for name, tc := range map[string]struct {
		text string
		play func(*scene)
		end  string
	}{
		"a person objects to what the agent approves": {fine, func(s *scene) {
			s.look(0)
			s.review("REQUEST_CHANGES")
			s.said(s.look(2), "walter still requests changes")
		}, "objected"},
		"and takes it back": {fine, func(s *scene) {
			s.review("REQUEST_CHANGES")
			s.look(0)
			s.look(2)
			s.review("APPROVE")
		}, "merged"},
		"a person approves what the agent objects to": {bad, func(s *scene) {
			s.look(0)
			s.review("APPROVE")
			s.said(s.look(2), "fix ")
		}, "merged"},
		"a bot pushes to what is approved": {fine, func(s *scene) {
			s.look(0)
			s.push(arena.CI, branch, map[string]string{"deps.txt": "newer\n"})
			s.said(s.look(2), "this head is not reviewed yet")
		}, "merged"},
		"a bot rebases what is approved": {fine, func(s *scene) {
			s.look(0)
			s.rebase(arena.CI, fine)
			s.said(s.look(2), "this head is not reviewed yet")
		}, "merged"},
		"a bot force-pushes while the fix is made": {bad, func(s *scene) {
			s.look(0)
			s.during(plan{login: arena.Author, at: 4, do: func() { s.rebase(arena.CI, bad) }})
			s.look(2)
			s.during(plan{})
			p := s.Pull()
			if p.Head.SHA != s.pushed[len(s.pushed)-1] {
				s.t.Errorf("the bot's commit is not the head any more")
			}
		}, "merged"},
		"it is closed in the middle of a review": {fine, func(s *scene) {
			s.during(plan{login: arena.Judge, at: 2, do: s.toggle})
			s.look(0)
			s.during(plan{})
			if n := len(s.reviews()); n != 0 {
				s.t.Errorf("%d reviews of what was closed meanwhile", n)
			}
		}, "closed"},
		"it is closed and opened again": {fine, func(s *scene) {
			s.look(0)
			s.toggle()
			s.said(s.look(2), "the pull request is closed")
			s.toggle()
			s.said(s.look(0), "this head is reviewed")
		}, "merged"},
		"its base branch is changed after the approval": {fine, func(s *scene) {
			s.others = []string{"release"}
			s.push(arena.Owner, "release", map[string]string{"release.md": "1.0\n"})
			s.look(0)
			s.Edit(arena.Author, map[string]any{"base": "release"})
			s.said(s.look(2), "this head is not reviewed yet")
			s.said(s.look(0), "review ")
		}, "merged"},
		"its branch is deleted, as a renaming does": {bad, func(s *scene) {
			s.look(0)
			s.Delete(arena.Author, branch)
			s.said(s.look(2), "the pull request is closed")
			s.pushed = nil // and its commits with it, but for the pull request's own ref
		}, "closed"},
	} {
		t.Run(name, func(t *testing.T) {
			on(t, func(stage *Stage) {
				s := stage.open(t, 1, tc.text, githubsim.Protection{})
				tc.play(s)
				s.ends(tc.end)
			})
		})
	}
}

// rebase puts the file's text on top of a moved base, in place of the branch's history.
func (s *scene) rebase(login, text string) {
	s.push(arena.Owner, "main", map[string]string{"moved.md": "moved\n"})
	sha, err := s.Sim.Commit(s.Ctx, login, s.Ref.Repo.String(), "rebased", "Search", map[string]string{file: text})
	s.must(err)
	s.Move(arena.Owner, branch, sha)
	s.pushed, s.others = []string{sha}, []string{"rebased"}
}

func TestBaseBranchIsDeleted(t *testing.T) {
	on(t, func(stage *Stage) {
		s := stage.open(t, 1, body("fine()"), githubsim.Protection{})
		s.look(0)
		s.Delete(arena.Owner, "main")
		s.said(s.look(2), "GitHub closed it because its base branch main was deleted")
		if s.Pull().Merged {
			t.Error("merged into nothing")
		}
	})
}

func TestRepositoryIsTransferred(t *testing.T) {
	on(t, func(stage *Stage) {
		s := stage.open(t, 4, // its reviewers fetch over HTTP
			body("fine()"), githubsim.Protection{})
		old := s.Ref.Repo
		s.must(s.Sim.Transfer(old.String(), "initech", "app"))
		_, _, err := s.machines[0].agent.Look(s.Ctx, s.Ref)
		want := "the repository " + old.String() +
			" was renamed to initech/app; write the new name in `repositories`, and restart the agent"
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("it says %v, want %q", err, want)
		}
		s.Ref.Repo = forge.Repo{Owner: "initech", Name: "app"}
		s.said(s.look(0), string(decide.Review))
		s.said(s.look(2), string(decide.Merge))
	})
}
