package forgery

import (
	"fmt"
	"net/http"
	"strings"

	"touchstone/agent/e2e/arena"
	"touchstone/agent/githubsim"
)

// orphaned is what a person is told about a pull request that lost the base branch sandbox.
const orphaned = "restore sandbox and reopen it"

// deleteBranch deletes a branch like git and the API.
func (s *scene) deleteBranch(login, name string) error {
	return s.call(login, http.MethodDelete, "git/refs/heads/"+name, nil, nil)
}

// calls counts the comments of the author's agent that contain a text.
func (s *scene) calls(what string) (n int, err error) {
	var comments []struct {
		User struct{ Login string }
		Body string
	}
	err = s.call(arena.Owner, http.MethodGet, s.issues("comments")+"?per_page=100", nil, &comments)
	for _, c := range comments {
		if c.User.Login == arena.Author && strings.Contains(c.Body, what) {
			n++
		}
	}
	return n, err
}

// notCalled reports whether the pull request was merged, or people were not called exactly this many times
// because it lost its base.
func notCalled(times int) func(*scene) (bool, error) {
	return func(s *scene) (bool, error) {
		p, err := s.pull()
		if err != nil || p.Merged {
			return p.Merged, err
		}
		n, err := s.calls(orphaned)
		s.note("a person was called %d times", n)
		return n != times || times > 0 && !p.Labelled("needs-human"), err
	}
}

// restored deletes the base, lets the agents react, restores the base, and reopens the pull request without the
// label.
func (s *scene) restored() error {
	sha, err := s.git("rev-parse", "refs/heads/main")
	return s.then(err, func() error { return s.deleteBranch(arena.Person, sandbox) }, s.settle,
		func() error { return s.branch(arena.Person, sandbox, sha) },
		func() error { return s.edit(arena.Person, map[string]any{"state": "open"}) },
		func() error {
			return s.call(arena.Person, http.MethodDelete, s.issues("labels/needs-human"), nil, nil)
		})
}

// orphans returns cases whose base branch is deleted. GitHub then closes the pull request, and a person is
// called once, unless a person closed it.
func orphans() []Case {
	lost := func(s *scene) error { return s.deleteBranch(arena.Person, sandbox) }
	shut := func(s *scene) error { return s.edit(arena.Person, map[string]any{"state": "closed"}) }
	gone := []string{"its base branch sandbox was deleted"}
	var all []Case
	for text, what := range map[string]string{"": "approved", defect: "not approved", held: "held"} {
		all = append(all, Case{Name: fmt.Sprintf("writer: base deletion: of a pull request that is %s", what),
			stage: stage{text: text, base: sandbox}, harmed: notCalled(1), told: gone, act: lost})
	}
	return append(all,
		Case{Name: "writer: base deletion: looked at again and again", stage: stage{base: sandbox}, harmed: notCalled(1), told: gone,
			act: func(s *scene) error {
				return s.then(lost(s), s.settle, s.settle, func() error {
					_, err := s.comment(arena.Person, "What now?")
					return err
				})
			}},
		Case{Name: "writer: base deletion: and then the label taken off", stage: stage{base: sandbox}, harmed: func(s *scene) (bool, error) {
			n, err := s.calls(orphaned)
			return n != 1, err
		}, told: gone, act: func(s *scene) error {
			return s.then(lost(s), s.settle, func() error {
				return s.call(arena.Person, http.MethodDelete, s.issues("labels/needs-human"), nil, nil)
			})
		}},
		Case{Name: "writer: base deletion: of what a person closed before", stage: stage{base: sandbox}, harmed: notCalled(0),
			told: []string{"the pull request is closed"}, act: func(s *scene) error {
				return s.then(shut(s), func() error { return lost(s) })
			}},
		Case{Name: "writer: base deletion: of what a person closed once it was back", stage: stage{base: sandbox}, harmed: notCalled(1),
			told: []string{"the pull request is closed"}, act: func(s *scene) error {
				return s.then(s.restored(), func() error { return s.label(arena.Person, "needs-human") }, func() error { return shut(s) })
			}},
		Case{Name: "writer: base deletion: of what a person had the agents leave alone", stage: stage{base: sandbox, late: (*scene).stopped},
			harmed: notCalled(0), told: gone, act: lost},
		Case{Name: "writer: head deletion: of an approved pull request", harmed: notCalled(0), told: []string{"the pull request is closed"},
			act: func(s *scene) error {
				return s.deleteBranch(arena.Person, branch)
			}},
		Case{Name: "legitimate: a base branch that was deleted is back", Legitimate: true, stage: stage{base: sandbox}, act: (*scene).restored},
		Case{Name: "legitimate: GitHub deletes the base once that is merged", Legitimate: true, stage: stage{text: none,
			repository: func(options *githubsim.RepoOptions) { options.DeleteMerged = true },
			early: func(s *scene) error {
				return s.then(s.push(arena.Author, sandbox, map[string]string{"lower.md": "Lower.\n"}), func() error { return s.request(sandbox) },
					func() error {
						sha, err := s.git("rev-parse", "refs/heads/"+sandbox)
						return s.then(err, func() error { return s.branch(arena.Author, branch, sha) })
					}, func() error { return s.push(arena.Author, branch, map[string]string{file: source("fine()")}) },
					func() error { s.base = sandbox; return s.request(branch) })
			},
		}, act: func(s *scene) error {
			upper := s.ref.Number
			s.ref.Number = 1
			err := s.call(arena.Person, http.MethodPut, s.pulls("merge"), map[string]any{"merge_method": "squash"}, nil)
			s.ref.Number = upper
			return err
		}},
	)
}
