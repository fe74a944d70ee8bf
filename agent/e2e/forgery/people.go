package forgery

import (
	"fmt"
	"net/http"
	"slices"

	"touchstone/agent/config"
	"touchstone/agent/e2e/arena"
	"touchstone/verdict/decide"
	"touchstone/worktree/steps"
)

const sandbox = "sandbox"

// personsWord is a person's statement that lets a pull request pass.
type personsWord struct {
	name string
	// text is the line that the statement lets pass.
	text string
	say  func(*scene)
}

// then returns the act of a person who says it, after which somebody does something.
func (w personsWord) then(away bool, do func(*scene)) func(*scene) {
	return func(s *scene) {
		s.away = away
		w.say(s)
		do(s)
	}
}

var personsWords = []personsWord{
	{"break-glass", defect, func(s *scene) { s.Comment(neutral, glass) }},
	{"break-glass over a hold", held, func(s *scene) { s.Comment(neutral, glass) }},
	{"an approval of a hold", held, func(s *scene) { s.approve(arena.Person) }},
	{"a waiver", defect, func(s *scene) { s.Comment(neutral, s.waiver()) }},
}

// retarget changes the base of the pull request, as a login.
func (s *scene) retarget(login, base string) { s.Edit(login, map[string]any{"base": base}) }

// rewrite replaces the history of a branch by another one with the same files, as a login.
func (s *scene) rewrite(login, name string) {
	s.Move(login, name, s.git("commit-tree", s.rev("refs/heads/"+name+"^{tree}"), "-m", "Another history"))
}

// back removes the last commit of a branch, as a login.
func (s *scene) back(login, name string) { s.Move(login, name, s.rev("refs/heads/"+name+"^")) }

// intoMain reports whether the pull request was merged into main.
func intoMain(s *scene) bool {
	p := s.Pull()
	return p.Merged && p.Base.Ref == "main"
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
				all = append(all,
					Case{Name: fmt.Sprintf("%s: base retarget: %s given for another base%s", who(actor), w.name, name),
						stage: stage{text: w.text, base: sandbox}, harmed: intoMain,
						act: w.then(away, func(s *scene) { s.retarget(actor, "main") })},
					Case{Name: fmt.Sprintf("%s: base retarget and back: %s%s", who(actor), w.name, name), stage: stage{text: w.text},
						act: w.then(away, func(s *scene) {
							s.push(actor, sandbox, map[string]string{"s.md": "s\n"})
							s.retarget(actor, sandbox)
							s.retarget(actor, "main")
						})},
					Case{Name: fmt.Sprintf("%s: base rewrite: %s%s", who(actor), w.name, name), stage: stage{text: w.text},
						act: w.then(away, func(s *scene) { s.rewrite(actor, "main") })},
					Case{Name: fmt.Sprintf("%s: push: %s%s", who(actor), w.name, name), stage: stage{text: w.text},
						act: w.then(away, func(s *scene) {
							s.push(actor, branch, map[string]string{"more.go": "package app\n\n// " + defect + "\n"})
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
	approve := func(s *scene) { s.approve(arena.Person) }
	promoted := func(say func(*scene)) func(*scene) {
		return func(s *scene) {
			say(s)
			s.settle()
			s.permit(triager, "maintain")
		}
	}
	return []Case{
		{Name: "writer: approving review: older than the review that holds it", stage: stage{text: held, early: approve}},
		{Name: "writer: approving review: a hold, of whom a commit is", stage: stage{text: held, by: arena.Person}, act: approve},
		{Name: "writer: approving review: a hold, as a co-author", act: approve, stage: stage{text: held, early: func(s *scene) {
			s.commit(arena.Author, branch, "Note\n\nCo-authored-by: walter <"+s.email(arena.Person)+">",
				map[string]string{"note.md": "A note.\n"})
		}}},
		{Name: "writer: approving review: a hold, having pushed what others wrote", act: approve,
			stage: stage{text: held, early: func(s *scene) {
				start := s.rev("refs/heads/" + branch)
				next := s.make(s.tree(start, map[string]string{"note.md": "A note.\n"}), 0, start)
				s.Call(arena.Person, http.MethodPatch, "git/refs/heads/"+branch, map[string]any{"sha": next}, nil)
			}}},
		{Name: "writer: approving review: a hold, having pushed by force", act: approve, stage: stage{text: held, early: func(s *scene) {
			sha := s.git("commit-tree", "refs/heads/"+branch+"^{tree}", "-p", "refs/heads/main", "-m", "Rewritten")
			s.Move(arena.Person, branch, sha)
		}}},
		{Name: "triager: comment: a waiver older than the right to give it", stage: stage{text: defect},
			act: promoted(func(s *scene) { s.Comment(triager, s.waiver()) })},
		{Name: "triager: comment: break-glass older than the right to give it", stage: stage{text: defect},
			act: promoted(func(s *scene) { s.Comment(triager, glass) })},
		{Name: "triager: comment: resume older than the right to give it", stage: stage{late: (*scene).stopped},
			act: promoted(func(s *scene) { s.Comment(triager, "/touchstone resume it is mended") })},
		{Name: "triager: approving review: a hold, older than the right to lift it", stage: stage{text: held},
			act: promoted(func(s *scene) { s.approve(triager) })},
		{Name: "author: reopening: break-glass given to another head", stage: stage{text: defect}, act: func(s *scene) {
			s.Comment(neutral, glass)
			s.Edit(arena.Author, map[string]any{"state": "closed"})
			s.push(arena.Author, branch, map[string]string{"more.md": "More.\n"})
			s.Edit(arena.Author, map[string]any{"state": "open"})
		}},
	}
}

// reviews returns the attacks on the reviewers' statements.
func reviews() []Case {
	var all []Case
	for _, actor := range []string{arena.Author, arena.Person, maintainer, helper} {
		for name, silence := range map[string]func(s *scene, id int64){
			"edit":      func(s *scene, id int64) { s.EditReview(actor, id, "Nothing.") },
			"dismissal": func(s *scene, id int64) { s.Dismiss(actor, id, "It is settled.") },
			"edit, dismissal": func(s *scene, id int64) {
				s.EditReview(actor, id, "Nothing.")
				s.Dismiss(actor, id, "x")
			},
			"dismissal, edit": func(s *scene, id int64) {
				s.Dismiss(actor, id, "x")
				s.EditReview(actor, id, "Nothing.")
			},
			"edit to approval": func(s *scene, id int64) { s.editToApproval(actor, id) },
		} {
			all = append(all,
				Case{Name: fmt.Sprintf("%s: %s: an objection over an approval", who(actor), name), act: func(s *scene) {
					s.stern.Store(true)
					s.Comment(arena.Person, "/touchstone review")
					s.review()
					own := s.ownReview()
					if own.State != "CHANGES_REQUESTED" {
						steps.Fail("the reviewer did not object but %s", own.State)
					}
					s.away = true
					silence(s, own.ID)
				}, unapproved: true},
				Case{Name: fmt.Sprintf("%s: %s: the objection of one reviewer of two", who(actor), name), stage: twoReviewers, unapproved: true,
					act: func(s *scene) {
						theirs := s.reviewsOf(second)
						if len(theirs) != 1 || theirs[0].State != "CHANGES_REQUESTED" {
							steps.Fail("the other reviewer did not object: %+v", theirs)
						}
						silence(s, theirs[0].ID)
					}})
		}
	}
	return all
}

// editToApproval edits an objection into a forged approval.
func (s *scene) editToApproval(actor string, id int64) {
	all := s.Reviews()
	edited := slices.IndexFunc(all, func(p arena.Post) bool { return p.ID == id })
	s.EditReview(actor, id, fake(all[edited].Body))
}

// twoReviewers is a pull request that one reviewer approves and the other objects to.
var twoReviewers = stage{
	unreviewed: true,
	settings:   func(cfg *config.Config) { cfg.Reviewers = []string{arena.Judge, second} },
	late: func(s *scene) {
		s.work(decide.Reviewer, arena.Judge)
		s.stern.Store(true)
		s.work(decide.Reviewer, second)
	},
}

// email returns an address by which GitHub recognises an account as a commit's author.
func (s *scene) email(login string) string {
	var access struct{ User struct{ ID int64 } }
	s.Call(arena.Owner, http.MethodGet, "collaborators/"+login+"/permission", nil, &access)
	return fmt.Sprintf("%d+%s@users.noreply.example.com", access.User.ID, login)
}
