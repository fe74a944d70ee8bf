package forgery

import (
	"fmt"

	"touchstone/agent/e2e/arena"
	"touchstone/agent/githubsim"
	"touchstone/worktree/steps"
)

// takeOver renames an account and gives its login to the thief, with a role in the repository. Until the case
// is over, the account exists under another login and can read.
func (s *scene) takeOver(login, role string) {
	old := login + "-renamed"
	steps.Must(s.Sim.Rename(login, old))
	s.note("%s renames itself and leaves, and a thief takes the login with the role %q", login, role)
	s.undo = append(s.undo, func() error { return s.Sim.Rename(old, login) })
	steps.Must(s.Sim.AddUser(githubsim.User{Login: login, Token: arena.Token(thief)}))
	s.undo = append(s.undo, func() error { return s.Sim.Delete(login) })
	s.away = true
	s.permit(old, "read")
	s.permit(login, role)
}

// takeSlug renames CI's App, and gives its slug to another App with write access.
func (s *scene) takeSlug() {
	old := arena.CI + "-renamed"
	steps.Must(s.Sim.Rename(arena.CI, old))
	s.note("%s is renamed, and another App takes the slug", arena.CI)
	s.undo = append(s.undo, func() error { return s.Sim.Rename(old, arena.CI) })
	steps.Must(s.Sim.AddUser(githubsim.User{Login: arena.CI, Token: arena.Token(thief), App: true}))
	s.undo = append(s.undo, func() error { return s.Sim.Delete(arena.CI) })
	s.permit(arena.CI, "write")
}

// leave deletes an account until the case is over.
func (s *scene) leave(login string) {
	s.note("%s deletes the account", login)
	s.undo = append(s.undo, func() error {
		return s.Sim.AddUser(githubsim.User{Login: login, Token: arena.Token(login), App: login == arena.CI})
	})
	steps.Must(s.Sim.Delete(login))
}

// identities returns the attacks by accounts that are not what their login says.
func identities() []Case {
	var all []Case
	for _, role := range []string{"", "read", "triage", "write"} {
		for _, fresh := range []bool{false, true} {
			name := fmt.Sprintf("%s: approving review: the reviewer's login with the role %q", who(thief), role)
			if fresh {
				name += ", new to the author's agent"
			}
			all = append(all, Case{Name: name, stage: stage{text: defect}, act: func(s *scene) {
				text := s.forged()
				if !fresh {
					s.merge()
				}
				s.takeOver(arena.Judge, role)
				s.Submit(thief, "APPROVE", text)
			}})
		}
		if role == "write" {
			continue // with this role the login may do so
		}
		all = append(all,
			Case{Name: fmt.Sprintf("%s: comment: break-glass by a maintainer's login with the role %q", who(thief), role),
				stage: stage{text: defect}, act: func(s *scene) {
					s.takeOver(neutral, role)
					s.Comment(thief, glass)
				}},
			Case{Name: fmt.Sprintf("%s: approving review: a hold, by a writer's login with the role %q", who(thief), role),
				stage: stage{text: held}, act: func(s *scene) {
					s.takeOver(arena.Person, role)
					s.approve(thief)
				}})
	}
	return append(all,
		Case{Name: who(thief) + ": approving review: a copy of what the reviewer signed before it objected", unapproved: true,
			act: func(s *scene) {
				s.stern.Store(true)
				s.Comment(arena.Person, "/touchstone review")
				s.review()
				s.merge()
				signed := s.reviewsOf(arena.Judge)
				if len(signed) != 2 || signed[0].State != "APPROVED" || signed[1].State != "CHANGES_REQUESTED" {
					steps.Fail("the reviewer did not approve and then object: %+v", signed)
				}
				s.takeOver(arena.Judge, "write")
				s.Submit(thief, "APPROVE", signed[0].Body)
			}},
		Case{Name: "deleted account: comment: break-glass", stage: stage{text: defect}, act: func(s *scene) {
			s.Comment(neutral, glass)
			s.leave(neutral)
		}},
		Case{Name: "deleted account: approving review: a hold", stage: stage{text: held}, act: func(s *scene) {
			s.approve(arena.Person)
			s.leave(arena.Person)
		}},
		Case{Name: "deleted account: approving review: the reviewer's", unapproved: true,
			stage: stage{late: func(s *scene) { s.leave(arena.Judge) }}, act: func(s *scene) { s.away = true }},
		Case{Name: "deleted account: pull request: of what is approved", told: []string{"its author's account is deleted"},
			act: func(s *scene) { s.leave(arena.Author) }},
		Case{Name: "mannequin: comment: break-glass", stage: stage{text: defect}, act: func(s *scene) { s.Comment(imported, glass) }},
		Case{Name: "mannequin: approving review: a hold", stage: stage{text: held},
			act: func(s *scene) { s.approve(imported) }},
		Case{Name: "mannequin: approving review: a forged approval", stage: stage{text: defect},
			act: func(s *scene) { s.Submit(imported, "APPROVE", s.forged()) }},
	)
}
