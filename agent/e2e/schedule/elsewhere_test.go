package schedule

import (
	"fmt"
	"net/http"
	"testing"

	"touchstone/agent/config"
	"touchstone/agent/e2e/arena"
	"touchstone/agent/forge"
	"touchstone/agent/githubsim"
	"touchstone/agent/worker"
)

// opens opens another pull request of the author, with which the test continues.
func (s *scene) opens(head, base string) {
	s.t.Helper()
	var made struct{ Number int }
	s.call(s.ctx, arena.Author, http.MethodPost, "pulls", map[string]any{"title": "Another", "head": head, "base": base}, &made)
	s.ref.Number = made.Number
}

// configure changes the settings of the author's machines.
func (s *scene) configure(change func(*config.Config)) {
	for _, a := range []*worker.Agent{s.machines[2].agent, s.machines[3].agent} {
		cfg := a.Config()
		change(&cfg)
		a.Config = func() config.Config { return cfg }
	}
}

// A pull request from a fork is reviewed. The agents leave its branch to people, and also its merge unless the
// configuration says otherwise.
func TestForks(t *testing.T) {
	on(t, func(stage *Stage) {
		s := stage.open(t, 1, body("fine()"), githubsim.Protection{})
		fork := forge.Repo{Owner: arena.Author, Name: s.ref.Name}
		s.must(stage.Sim.CreateRepo(s.ctx, githubsim.RepoOptions{Owner: fork.Owner, Name: fork.Name, ForkOf: s.ref.Repo.String()}))
		push := func(text string) string {
			sha, err := stage.Sim.Commit(s.ctx, arena.Author, fork.String(), "elsewhere", "Search", map[string]string{file: text})
			s.must(err)
			return sha
		}
		head := push(body("unsafe()"))
		s.opens(fork.Owner+":elsewhere", "main")
		s.look(0)
		s.said(s.look(2), "tell ")
		if p := s.pull(s.ctx); p.Head.SHA != head {
			t.Errorf("the fork's branch is at %s, want %s", p.Head.SHA, head)
		}
		head = push(body("fine()"))
		s.look(0)
		s.said(s.look(2), "tell ")
		for _, author := range []int{2, 3} {
			s.said(s.look(author), "wait, it is approved and waits for its author to merge it: it comes from a fork, and merge.forks is off")
		}
		s.configure(func(c *config.Config) { c.Merge.Forks, c.Merge.DeleteBranch = true, true })
		s.said(s.look(2), "merge "+head[:7])
		s.ends("merged")
		var tip struct{ Commit struct{ SHA string } }
		if err := s.Call(s.ctx, arena.Author, http.MethodGet, fork, "branches/elsewhere", nil, &tip); err != nil || tip.Commit.SHA != head {
			t.Errorf("the fork's branch is at %s, want %s: %v", tip.Commit.SHA, head, err)
		}
	})
}

// Stacked pull requests are merged from the bottom. The agents do not merge a pull request into the branch of
// another one, whether that is open or merged.
func TestStackedPullRequests(t *testing.T) {
	on(t, func(stage *Stage) {
		s := stage.open(t, 1, body("fine()"), githubsim.Protection{})
		below := s.ref.Number
		s.others = []string{"above"}
		s.push(s.ctx, arena.Author, "above", map[string]string{"above.md": "above\n"})
		s.opens("above", branch)
		above := s.ref.Number
		waits := fmt.Sprintf("waits for its author to merge it: its base %s is the branch of another pull request, #%d", branch, below)
		s.look(0)
		s.said(s.look(2), "tell ")
		s.said(s.look(2), waits)
		s.ref.Number = below
		s.look(0)
		s.said(s.look(2), "merge ")
		s.ref.Number = above
		s.said(s.look(2), waits)
		s.call(s.ctx, arena.Author, http.MethodPatch, fmt.Sprintf("pulls/%d", above), map[string]any{"base": "main"}, nil)
		s.ends("merged")
	})
}
