package forgery

import (
	"fmt"
	"net/http"

	"touchstone/agent/e2e/arena"
	"touchstone/agent/githubsim"
)

// protected sets the protection of a repository's main.
func protected(rule githubsim.Protection) func(*githubsim.RepoOptions) {
	return func(options *githubsim.RepoOptions) {
		options.Protected = map[string]githubsim.Protection{"main": rule}
	}
}

// autoMerge makes GitHub merge the pull request as soon as the base's rules allow it.
func (s *scene) autoMerge(login string) {
	s.mutate(login, `mutation($id: ID!) { enablePullRequestAutoMerge(input: {pullRequestId: $id, mergeMethod: SQUASH}) { `+
		`clientMutationId } }`)
}

// approve approves the head on GitHub, as a login.
func (s *scene) approve(login string) { s.Submit(login, "APPROVE", "I have read it.") }

// rules returns the attacks by what GitHub's own rules allow, and the changes that they must allow.
func rules() []Case {
	approval := protected(githubsim.Protection{Approvals: 1})
	owned := protected(githubsim.Protection{CodeOwners: []string{arena.Person}, Ruleset: true})
	tested := protected(githubsim.Protection{RequiredChecks: []string{"test"}, Ruleset: true})
	ci := func(s *scene, conclusion string) { s.checkRun(arena.CI, s.head(), "test", conclusion, "It ran.") }
	own := checked("test")
	own.repository = tested
	byStatus := reported()
	byStatus.repository = tested
	all := []Case{
		{Name: "legitimate: a code owner approves", Legitimate: true, stage: stage{repository: owned},
			act: func(s *scene) { s.approve(arena.Person) }},
		{Name: "legitimate: the check that a ruleset requires passes", Legitimate: true, stage: own,
			act: func(s *scene) { ci(s, "success") }},
		{Name: "legitimate: auto-merge, and the agents approve", Legitimate: true,
			stage: stage{repository: approval, early: func(s *scene) { s.autoMerge(arena.Author) }}},
		{Name: "author: code owners: none of them approves", stage: stage{repository: owned},
			told: []string{"the rules of main block the merge"}},
		{Name: "writer: code owners: another one approves", stage: stage{repository: owned}, told: []string{"the rules of main block the merge"},
			act: func(s *scene) { s.approve(neutral) }},
		{Name: "writer: code owners: an owner's approval of what was not approved", stage: stage{text: defect, repository: owned},
			act: func(s *scene) { s.approve(arena.Person) }},
		{Name: "author: status: the one that a ruleset requires", stage: own, act: green},
		{Name: "legitimate: the status that a ruleset requires passes", Legitimate: true, stage: byStatus,
			act: func(s *scene) { s.Status(arena.CI, s.head(), "success", "test", "It passed.") }},
		{Name: "writer: status: the one that a ruleset requires", stage: byStatus,
			act: func(s *scene) { s.Status(arena.Person, s.head(), "success", "test", "It passed.") }},
		{Name: "writer: status: over a failed one that a ruleset requires", stage: byStatus, act: func(s *scene) {
			s.Status(arena.CI, s.head(), "failure", "test", "It failed.")
			s.Status(arena.Person, s.head(), "success", "test", "It passed.")
		}},
		{Name: "another App: check run: the one that a ruleset requires", stage: own,
			act: func(s *scene) { s.checkRun(helper, s.head(), "test", "success", "It ran.") }},
		{Name: "CI: check run: the one that a ruleset requires does not report", stage: own},
		{Name: "CI: check run: run again after it passed, and still running", stage: own, act: func(s *scene) {
			ci(s, "success")
			s.Call(arena.CI, http.MethodPost, "check-runs", map[string]any{"name": "test", "head_sha": s.head(), "status": "in_progress"},
				nil)
		}},
		{Name: "author: auto-merge: over a hold label, once the agents approve", harmed: untold, told: []string{"touchstone-hold"},
			stage: stage{repository: approval, early: func(s *scene) {
				s.autoMerge(arena.Author)
				s.Label(arena.Person, "touchstone-hold")
			}}},
	}
	for _, actor := range []string{arena.Author, arena.Person} {
		for text, what := range map[string]string{defect: "not approved", held: "held"} {
			all = append(all, Case{
				Name:  fmt.Sprintf("%s: auto-merge: of what is %s, with a person's approval", who(actor), what),
				stage: stage{text: text, repository: protected(githubsim.Protection{CodeOwners: []string{neutral}})}, harmed: untold,
				told: []string{"was dismissed"},
				act: func(s *scene) {
					s.autoMerge(actor)
					s.Dismiss(actor, s.ownReview().ID, "It is settled.") // GitHub would wait for that
					s.approve(neutral)
				},
			})
		}
	}
	return all
}

// rename renames a branch as a login.
func (s *scene) rename(login, from, to string) {
	s.Call(login, http.MethodPost, "branches/"+from+"/rename", map[string]any{"new_name": to}, nil)
}

// renames returns the attacks by renamed branches.
func renames() []Case {
	var all []Case
	for _, w := range personsWords {
		all = append(all,
			Case{Name: "writer: branch rename: the base, after " + w.name, stage: stage{text: w.text, base: sandbox},
				act: w.then(true, func(s *scene) { s.rename(arena.Person, sandbox, "release") })},
			Case{Name: "owner: branch rename: another base into main's place, after " + w.name, stage: stage{text: w.text, base: sandbox},
				act: w.then(true, func(s *scene) {
					s.rename(arena.Owner, "main", "old")
					s.rename(arena.Owner, sandbox, "main")
				})},
			Case{Name: "writer: branch rename: the head and back, with another commit, after " + w.name, stage: stage{text: w.text},
				act: w.then(true, func(s *scene) {
					s.rename(arena.Person, branch, "elsewhere")
					s.push(arena.Person, "elsewhere", map[string]string{"more.go": "package app\n\n// " + defect + "\n"})
					s.rename(arena.Person, "elsewhere", branch)
					s.Edit(arena.Person, map[string]any{"state": "open"})
				})},
		)
	}
	return all
}
