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
		fork := forge.Repo{Owner: arena.Author, Name: s.Ref.Name}
		s.must(stage.Sim.CreateRepo(s.Ctx, githubsim.RepoOptions{Owner: fork.Owner, Name: fork.Name, ForkOf: s.Ref.Repo.String()}))
		push := func(text string) string {
			sha, err := stage.Sim.Commit(s.Ctx, arena.Author, fork.String(), "elsewhere", "Search", map[string]string{file: text})
			s.must(err)
			return sha
		}
		head := push(body("unsafe()"))
		s.Open("Another", "", fork.Owner+":elsewhere", "main") // with which the test continues
		s.look(0)
		s.said(s.look(2), "tell ")
		if p := s.Pull(); p.Head.SHA != head {
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
		s.Ref.Repo = fork
		if s.Call(arena.Author, http.MethodGet, "branches/elsewhere", nil, &tip); tip.Commit.SHA != head {
			t.Errorf("the fork's branch is at %s, want %s", tip.Commit.SHA, head)
		}
	})
}

// Stacked pull requests are merged from the bottom. The agents do not merge a pull request into the branch of
// another one, whether that is open or merged.
func TestStackedPullRequests(t *testing.T) {
	on(t, func(stage *Stage) {
		s := stage.open(t, 1, body("fine()"), githubsim.Protection{})
		below := s.Ref.Number
		s.others = []string{"above"}
		s.push(arena.Author, "above", map[string]string{"above.md": "above\n"})
		s.Open("Another", "", "above", branch)
		above := s.Ref.Number
		waits := fmt.Sprintf("waits for its author to merge it: its base %s is the branch of another pull request, #%d", branch, below)
		s.look(0)
		s.said(s.look(2), "tell ")
		s.said(s.look(2), waits)
		s.Ref.Number = below
		s.look(0)
		s.said(s.look(2), "merge ")
		s.Ref.Number = above
		s.said(s.look(2), waits)
		s.Edit(arena.Author, map[string]any{"base": "main"})
		s.ends("merged")
	})
}
