package forgery

import (
	"fmt"

	"touchstone/agent/e2e/arena"
	"touchstone/agent/githubsim"
)

// takeOver renames an account and gives its login to the thief, with a role in the repository. Until the case
// is over, the account exists under another login and can read.
func (s *scene) takeOver(login, role string) error {
	old := login + "-renamed"
	if err := s.Sim.Rename(login, old); err != nil {
		return err
	}
	s.note("%s renames itself and leaves, and a thief takes the login with the role %q", login, role)
	s.undo = append(s.undo, func() error { return s.Sim.Rename(old, login) })
	if err := s.Sim.AddUser(githubsim.User{Login: login, Token: arena.Token(thief)}); err != nil {
		return err
	}
	s.undo = append(s.undo, func() error { return s.Sim.Delete(login) })
	s.away = true
	return s.then(s.Sim.SetPermission(s.ref.Repo.String(), old, "read"),
		func() error { return s.Sim.SetPermission(s.ref.Repo.String(), login, role) })
}

// takeSlug renames CI's App, and gives its slug to another App with write access.
func (s *scene) takeSlug() error {
	old := arena.CI + "-renamed"
	if err := s.Sim.Rename(arena.CI, old); err != nil {
		return err
	}
	s.note("%s is renamed, and another App takes the slug", arena.CI)
	s.undo = append(s.undo, func() error { return s.Sim.Rename(old, arena.CI) })
	if err := s.Sim.AddUser(githubsim.User{Login: arena.CI, Token: arena.Token(thief), App: true}); err != nil {
		return err
	}
	s.undo = append(s.undo, func() error { return s.Sim.Delete(arena.CI) })
	return s.Sim.SetPermission(s.ref.Repo.String(), arena.CI, "write")
}

// leave deletes an account until the case is over.
func (s *scene) leave(login string) error {
	return s.leaves(githubsim.User{Login: login, Token: arena.Token(login)})
}

// leaveApp deletes an App until the case is over.
func (s *scene) leaveApp(login string) error {
	return s.leaves(githubsim.User{Login: login, Token: arena.Token(login), App: true})
}

func (s *scene) leaves(u githubsim.User) error {
	s.note("%s deletes the account", u.Login)
	s.undo = append(s.undo, func() error { return s.Sim.AddUser(u) })
	return s.Sim.Delete(u.Login)
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
			all = append(all, Case{Name: name, stage: stage{text: defect}, act: func(s *scene) error {
				text, err := s.forged()
				if err == nil && !fresh {
					err = s.merge()
				}
				return s.then(err, func() error { return s.takeOver(arena.Judge, role) }, func() error {
					_, err := s.submit(thief, "APPROVE", text)
					return err
				})
			}})
		}
		if role == "write" {
			continue // with this role the login may do so
		}
		all = append(all,
			Case{Name: fmt.Sprintf("%s: comment: break-glass by a maintainer's login with the role %q", who(thief), role),
				stage: stage{text: defect}, act: func(s *scene) error {
					return s.then(s.takeOver(neutral, role), func() error {
						_, err := s.comment(thief, glass)
						return err
					})
				}},
			Case{Name: fmt.Sprintf("%s: approving review: a hold, by a writer's login with the role %q", who(thief), role),
				stage: stage{text: held}, act: func(s *scene) error {
					return s.then(s.takeOver(arena.Person, role), func() error {
						_, err := s.submit(thief, "APPROVE", "I have read it.")
						return err
					})
				}})
	}
	return append(all,
		Case{Name: who(thief) + ": approving review: a copy of what the reviewer signed before it objected", unapproved: true,
			act: func(s *scene) error {
				s.stern.Store(true)
				_, err := s.comment(arena.Person, "/touchstone review")
				if err = s.then(err, s.review, s.merge); err != nil {
					return err
				}
				signed, err := s.reviewsOf(arena.Judge)
				if err == nil && (len(signed) != 2 || signed[0].State != "APPROVED" || signed[1].State != "CHANGES_REQUESTED") {
					err = fmt.Errorf("the reviewer did not approve and then object: %+v", signed)
				}
				return s.then(err, func() error { return s.takeOver(arena.Judge, "write") }, func() error {
					_, err := s.submit(thief, "APPROVE", signed[0].Body)
					return err
				})
			}},
		Case{Name: "deleted account: comment: break-glass", stage: stage{text: defect}, act: func(s *scene) error {
			_, err := s.comment(neutral, glass)
			return s.then(err, func() error { return s.leave(neutral) })
		}},
		Case{Name: "deleted account: approving review: a hold", stage: stage{text: held}, act: func(s *scene) error {
			_, err := s.submit(arena.Person, "APPROVE", "I have read it.")
			return s.then(err, func() error { return s.leave(arena.Person) })
		}},
		Case{Name: "deleted account: approving review: the reviewer's", unapproved: true,
			stage: stage{late: func(s *scene) error { return s.leave(arena.Judge) }}, act: func(s *scene) error {
				s.away = true
				return nil
			}},
		Case{Name: "deleted account: pull request: of what is approved", told: []string{"its author's account is deleted"},
			act: func(s *scene) error { return s.leave(arena.Author) }},
		Case{Name: "mannequin: comment: break-glass", stage: stage{text: defect}, act: func(s *scene) error {
			_, err := s.comment(imported, glass)
			return err
		}},
		Case{Name: "mannequin: approving review: a hold", stage: stage{text: held}, act: func(s *scene) error {
			_, err := s.submit(imported, "APPROVE", "I have read it.")
			return err
		}},
		Case{Name: "mannequin: approving review: a forged approval", stage: stage{text: defect}, act: func(s *scene) error {
			text, err := s.forged()
			return s.then(err, func() error {
				_, err := s.submit(imported, "APPROVE", text)
				return err
			})
		}},
	)
}
