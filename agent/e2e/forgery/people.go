package forgery

import (
	"fmt"
	"net/http"

	"touchstone/agent/config"
	"touchstone/agent/e2e/arena"
	"touchstone/verdict/decide"
)

const sandbox = "sandbox"

// personsWord is a person's statement that lets a pull request pass.
type personsWord struct {
	name string
	// text is the line that the statement lets pass.
	text string
	say  func(*scene) error
}

var personsWords = []personsWord{
	{"break-glass", defect, func(s *scene) error {
		_, err := s.comment(neutral, glass)
		return err
	}},
	{"break-glass over a hold", held, func(s *scene) error {
		_, err := s.comment(neutral, glass)
		return err
	}},
	{"an approval of a hold", held, func(s *scene) error {
		_, err := s.submit(arena.Person, "APPROVE", "I have read it.")
		return err
	}},
	{"a waiver", defect, func(s *scene) error {
		text, err := s.waiver()
		return s.then(err, func() error {
			_, err := s.comment(neutral, text)
			return err
		})
	}},
}

// retarget changes the base of the pull request, as a login.
func (s *scene) retarget(login, base string) error {
	return s.edit(login, map[string]any{"base": base})
}

// rewrite replaces the history of a branch by another one with the same files, as a login.
func (s *scene) rewrite(login, name string) error {
	tree, err := s.git("rev-parse", "refs/heads/"+name+"^{tree}")
	if err != nil {
		return err
	}
	sha, err := s.git("commit-tree", tree, "-m", "Another history")
	if err != nil {
		return err
	}
	return s.move(login, name, sha)
}

// back removes the last commit of a branch, as a login.
func (s *scene) back(login, name string) error {
	before, err := s.git("rev-parse", "refs/heads/"+name+"^")
	return s.then(err, func() error { return s.move(login, name, before) })
}

// intoMain reports whether the pull request was merged into main.
func intoMain(s *scene) (bool, error) {
	p, err := s.pull()
	return p.Merged && p.Base.Ref == "main", err
}

// people returns the attacks by people's statements about something else, or about their own work.
func people() []Case {
	var all []Case
	for _, w := range personsWords {
		for _, actor := range []string{arena.Author, arena.Person, maintainer} {
			for _, away := range []bool{false, true} {
				name := ""
				if away {
					name = ", while the reviewer is away"
				}
				and := func(do func(*scene) error) func(*scene) error {
					return func(s *scene) error {
						s.away = away
						return s.then(w.say(s), func() error { return do(s) })
					}
				}
				all = append(all,
					Case{Name: fmt.Sprintf("%s: base retarget: %s given for another base%s", who(actor), w.name, name),
						stage: stage{text: w.text, base: sandbox}, harmed: intoMain,
						act: and(func(s *scene) error { return s.retarget(actor, "main") })},
					Case{Name: fmt.Sprintf("%s: base retarget and back: %s%s", who(actor), w.name, name), stage: stage{text: w.text},
						act: and(func(s *scene) error {
							return s.then(s.push(actor, sandbox, map[string]string{"s.md": "s\n"}), func() error { return s.retarget(actor, sandbox) },
								func() error { return s.retarget(actor, "main") })
						})},
					Case{Name: fmt.Sprintf("%s: base rewrite: %s%s", who(actor), w.name, name), stage: stage{text: w.text},
						act: and(func(s *scene) error { return s.rewrite(actor, "main") })},
					Case{Name: fmt.Sprintf("%s: push: %s%s", who(actor), w.name, name), stage: stage{text: w.text},
						act: and(func(s *scene) error {
							return s.push(actor, branch, map[string]string{"more.go": "package app\n\n// " + defect + "\n"})
						})},
				)
			}
		}
	}
	return append(all, authorship()...)
}

// authorship returns the attacks by approvals of people who contributed to what they approve, or who lacked the
// right then.
func authorship() []Case {
	approve := func(s *scene) error {
		_, err := s.submit(arena.Person, "APPROVE", "I have read it.")
		return err
	}
	return []Case{
		{Name: "writer: approving review: older than the review that holds it", stage: stage{text: held, early: approve}},
		{Name: "writer: approving review: a hold, of whom a commit is", stage: stage{text: held, by: arena.Person}, act: approve},
		{Name: "writer: approving review: a hold, as a co-author", act: approve, stage: stage{text: held, early: func(s *scene) error {
			email, err := s.email(arena.Person)
			return s.then(err, func() error {
				return s.commit(arena.Author, branch, "Note\n\nCo-authored-by: walter <"+email+">", map[string]string{"note.md": "A note.\n"})
			})
		}}},
		{Name: "writer: approving review: a hold, having pushed what others wrote", act: approve,
			stage: stage{text: held, early: func(s *scene) error {
				h := &history{s: s}
				start := h.rev("refs/heads/" + branch)
				next := h.commit(h.tree(start, map[string]string{"note.md": "A note.\n"}), 0, start)
				return s.then(h.err, func() error {
					return s.call(arena.Person, http.MethodPatch, "git/refs/heads/"+branch, map[string]any{"sha": next}, nil)
				})
			}}},
		{Name: "writer: approving review: a hold, having pushed by force", act: approve, stage: stage{text: held, early: func(s *scene) error {
			sha, err := s.git("commit-tree", "refs/heads/"+branch+"^{tree}", "-p", "refs/heads/main", "-m", "Rewritten")
			return s.then(err, func() error { return s.move(arena.Person, branch, sha) })
		}}},
		{Name: "triager: comment: a waiver older than the right to give it", stage: stage{text: defect}, act: func(s *scene) error {
			text, err := s.waiver()
			return s.then(err, func() error {
				_, err := s.comment(triager, text)
				return err
			}, s.settle, func() error { return s.Sim.SetPermission(s.ref.Repo.String(), triager, "maintain") })
		}},
		{Name: "triager: comment: break-glass older than the right to give it", stage: stage{text: defect}, act: func(s *scene) error {
			_, err := s.comment(triager, glass)
			return s.then(err, s.settle, func() error { return s.Sim.SetPermission(s.ref.Repo.String(), triager, "maintain") })
		}},
		{Name: "triager: comment: resume older than the right to give it", stage: stage{late: (*scene).stopped}, act: func(s *scene) error {
			_, err := s.comment(triager, "/touchstone resume it is mended")
			return s.then(err, s.settle, func() error { return s.Sim.SetPermission(s.ref.Repo.String(), triager, "maintain") })
		}},
		{Name: "triager: approving review: a hold, older than the right to lift it", stage: stage{text: held}, act: func(s *scene) error {
			_, err := s.submit(triager, "APPROVE", "I have read it.")
			return s.then(err, s.settle, func() error { return s.Sim.SetPermission(s.ref.Repo.String(), triager, "maintain") })
		}},
		{Name: "author: reopening: break-glass given to another head", stage: stage{text: defect}, act: func(s *scene) error {
			_, err := s.comment(neutral, glass)
			return s.then(err, func() error { return s.edit(arena.Author, map[string]any{"state": "closed"}) },
				func() error { return s.push(arena.Author, branch, map[string]string{"more.md": "More.\n"}) },
				func() error { return s.edit(arena.Author, map[string]any{"state": "open"}) })
		}},
	}
}

// reviews returns the attacks on the reviewers' statements.
func reviews() []Case {
	var all []Case
	for _, actor := range []string{arena.Author, arena.Person, maintainer, helper} {
		for name, silence := range map[string]func(s *scene, id int64) error{
			"edit":      func(s *scene, id int64) error { return s.editReview(actor, id, "Nothing.") },
			"dismissal": func(s *scene, id int64) error { return s.dismiss(actor, id, "It is settled.") },
			"edit, dismissal": func(s *scene, id int64) error {
				return s.then(s.editReview(actor, id, "Nothing."), func() error { return s.dismiss(actor, id, "x") })
			},
			"dismissal, edit": func(s *scene, id int64) error {
				return s.then(s.dismiss(actor, id, "x"), func() error { return s.editReview(actor, id, "Nothing.") })
			},
			"edit to approval": func(s *scene, id int64) error { return s.editToApproval(actor, id) },
		} {
			all = append(all,
				Case{Name: fmt.Sprintf("%s: %s: an objection over an approval", who(actor), name), act: func(s *scene) error {
					s.stern.Store(true)
					_, err := s.comment(arena.Person, "/touchstone review")
					if err = s.then(err, s.review); err != nil {
						return err
					}
					own, err := s.ownReview()
					if err == nil && own.State != "CHANGES_REQUESTED" {
						err = fmt.Errorf("the reviewer did not object but %s", own.State)
					}
					s.away = true
					return s.then(err, func() error { return silence(s, own.ID) })
				}, unapproved: true},
				Case{Name: fmt.Sprintf("%s: %s: the objection of one reviewer of two", who(actor), name), stage: twoReviewers, unapproved: true,
					act: func(s *scene) error {
						theirs, err := s.reviewsOf(second)
						if err == nil && (len(theirs) != 1 || theirs[0].State != "CHANGES_REQUESTED") {
							err = fmt.Errorf("the other reviewer did not object: %+v", theirs)
						}
						return s.then(err, func() error { return silence(s, theirs[0].ID) })
					}})
		}
	}
	return all
}

// editToApproval edits an objection into a forged approval.
func (s *scene) editToApproval(actor string, id int64) error {
	var review posted
	if err := s.call(arena.Owner, http.MethodGet, s.pulls(fmt.Sprintf("reviews/%d", id)), nil, &review); err != nil {
		return err
	}
	text, err := fake(review.Body)
	return s.then(err, func() error { return s.editReview(actor, id, text) })
}

// twoReviewers is a pull request that one reviewer approves and the other objects to.
var twoReviewers = stage{
	unreviewed: true,
	settings:   func(cfg *config.Config) { cfg.Reviewers = []string{arena.Judge, second} },
	late: func(s *scene) error {
		err := s.work(decide.Reviewer, arena.Judge)
		s.stern.Store(true)
		return s.then(err, func() error { return s.work(decide.Reviewer, second) })
	},
}

// email returns an address by which GitHub recognises an account as a commit's author.
func (s *scene) email(login string) (string, error) {
	var access struct{ User struct{ ID int64 } }
	err := s.call(arena.Owner, http.MethodGet, "collaborators/"+login+"/permission", nil, &access)
	return fmt.Sprintf("%d+%s@users.noreply.example.com", access.User.ID, login), err
}
