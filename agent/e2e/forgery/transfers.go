package forgery

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"

	"touchstone/agent/e2e/arena"
	"touchstone/agent/forge"
	"touchstone/agent/githubsim"
	"touchstone/worktree/steps"
)

// renamed and given return a repository's name after a rename and after a transfer.
func renamed(r forge.Repo) forge.Repo { r.Name += "-moved"; return r }

func given(r forge.Repo) forge.Repo { r.Owner = "newco"; return r }

// transfer moves the repository to another name. The agents' settings keep the old one.
func (s *scene) transfer(to func(forge.Repo) forge.Repo) {
	next := to(s.Ref.Repo)
	s.note("%s is called %s", s.Ref.Repo, next)
	steps.Must(s.Sim.Transfer(s.Ref.Repo.String(), next.Owner, next.Name))
}

// squat creates another repository under the old name, with the same branches and people, and opens the
// author's pull request there again.
func (s *scene) squat() {
	dir := filepath.Join(s.dir, "squatted", s.Ref.Name+".git")
	steps.Must(os.CopyFS(dir, os.DirFS(s.Bare(s.Ref.Repo).Dir)))
	steps.Must(os.RemoveAll(filepath.Join(dir, "refs", "pull"))) // its numbers start at 1 again
	s.note("another repository takes the name %s", s.Ref.Repo)
	steps.Must(s.Sim.CreateRepo(s.Ctx, githubsim.RepoOptions{Owner: s.Ref.Owner, Name: s.Ref.Name, Dir: dir, Permissions: maps.Clone(roles)}))
	s.readFrom(dir)
	s.request(branch)
}

// transfers returns the attacks by repositories that get another name, and by whoever takes the old one.
func transfers() []Case {
	var all []Case
	for what, to := range map[string]func(forge.Repo) forge.Repo{"another name": renamed, "another owner": given} {
		for text, state := range map[string]string{defect: "not approved", held: "held"} {
			all = append(all, Case{Name: fmt.Sprintf("owner: transfer: to %s, of what is %s", what, state), stage: stage{text: text}, moved: to,
				act: func(s *scene) { s.transfer(to) }})
		}
		all = append(all,
			Case{Name: "legitimate: the repository has " + what + ", and the agents are told", Legitimate: true, moved: to,
				act: func(s *scene) { s.transfer(to) }},
			Case{Name: fmt.Sprintf("owner: transfer: to %s, and another repository under the old name", what), unapproved: true,
				act: func(s *scene) {
					s.away = true
					s.transfer(to)
					s.squat()
				}},
			Case{Name: fmt.Sprintf("owner: transfer: to %s, and another repository under the old name, with glass broken in the first", what),
				stage: stage{text: defect},
				act: func(s *scene) {
					s.Comment(neutral, glass)
					s.away = true
					s.transfer(to)
					s.squat()
				}},
		)
		for before := range 6 {
			all = append(all, Case{Name: fmt.Sprintf("owner: transfer: to %s, %d calls before the merge call", what, before), stage: fixedBase,
				harmed: untold, moved: to,
				act: func(s *scene) {
					calls := s.rehearse(nil)
					s.mergeWith(calls-before, func() { s.transfer(to) })
				}})
		}
	}
	return append(all, Case{Name: "legitimate: a reviewer's new key, once the settings list it", Legitimate: true, act: func(s *scene) {
		s.rekey()
		s.Comment(arena.Person, "/touchstone review")
		s.settle()
		s.listKey()
		s.Comment(arena.Person, "/touchstone resume the key is listed")
	}})
}
