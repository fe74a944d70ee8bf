package forgery

import (
	"fmt"
	"strings"

	"touchstone/agent/e2e/arena"
	"touchstone/agent/githubsim"
)

// orphaned is what a person is told about a pull request that lost the base branch sandbox.
const orphaned = "restore sandbox and reopen it"

// calls counts the comments of the author's agent that contain a text.
func (s *scene) calls(what string) (n int) {
	for _, c := range s.Comments() {
		if c.User.Login == arena.Author && strings.Contains(c.Body, what) {
			n++
		}
	}
	return n
}

// notCalled reports whether the pull request was merged, or people were not called exactly this many times
// because it lost its base.
func notCalled(times int) func(*scene) bool {
	return func(s *scene) bool {
		p := s.Pull()
		if p.Merged {
			return true
		}
		n := s.calls(orphaned)
		s.note("a person was called %d times", n)
		return n != times || times > 0 && !p.Labelled("needs-human")
	}
}

// restored deletes the base, lets the agents react, restores the base, and reopens the pull request without the
// label.
func (s *scene) restored() {
	sha := s.rev("refs/heads/main")
	s.Delete(arena.Person, sandbox)
	s.settle()
	s.branch(arena.Person, sandbox, sha)
	s.Edit(arena.Person, map[string]any{"state": "open"})
	s.Unlabel(arena.Person, "needs-human")
}

// orphans returns cases whose base branch is deleted. GitHub then closes the pull request, and a person is
// called once, unless a person closed it.
func orphans() []Case {
	lost := func(s *scene) { s.Delete(arena.Person, sandbox) }
	shut := func(s *scene) { s.Edit(arena.Person, map[string]any{"state": "closed"}) }
	gone := []string{"its base branch sandbox was deleted"}
	var all []Case
	for text, what := range map[string]string{"": "approved", defect: "not approved", held: "held"} {
		all = append(all, Case{Name: fmt.Sprintf("writer: base deletion: of a pull request that is %s", what),
			stage: stage{text: text, base: sandbox}, harmed: notCalled(1), told: gone, act: lost})
	}
	return append(all,
		Case{Name: "writer: base deletion: looked at again and again", stage: stage{base: sandbox}, harmed: notCalled(1), told: gone,
			act: func(s *scene) {
				lost(s)
				s.settle()
				s.settle()
				s.Comment(arena.Person, "What now?")
			}},
		Case{Name: "writer: base deletion: and then the label taken off", stage: stage{base: sandbox}, harmed: func(s *scene) bool {
			return s.calls(orphaned) != 1
		}, told: gone, act: func(s *scene) {
			lost(s)
			s.settle()
			s.Unlabel(arena.Person, "needs-human")
		}},
		Case{Name: "writer: base deletion: of what a person closed before", stage: stage{base: sandbox}, harmed: notCalled(0),
			told: []string{"the pull request is closed"}, act: func(s *scene) {
				shut(s)
				lost(s)
			}},
		Case{Name: "writer: base deletion: of what a person closed once it was back", stage: stage{base: sandbox}, harmed: notCalled(1),
			told: []string{"the pull request is closed"}, act: func(s *scene) {
				s.restored()
				s.Label(arena.Person, "needs-human")
				shut(s)
			}},
		Case{Name: "writer: base deletion: of what a person had the agents leave alone", stage: stage{base: sandbox, late: (*scene).stopped},
			harmed: notCalled(0), told: gone, act: lost},
		Case{Name: "writer: head deletion: of an approved pull request", harmed: notCalled(0), told: []string{"the pull request is closed"},
			act: func(s *scene) { s.Delete(arena.Person, branch) }},
		Case{Name: "legitimate: a base branch that was deleted is back", Legitimate: true, stage: stage{base: sandbox}, act: (*scene).restored},
		Case{Name: "legitimate: GitHub deletes the base once that is merged", Legitimate: true, stage: stage{text: none,
			repository: func(options *githubsim.RepoOptions) { options.DeleteMerged = true },
			early: func(s *scene) {
				s.push(arena.Author, sandbox, map[string]string{"lower.md": "Lower.\n"})
				s.request(sandbox)
				s.stack(sandbox)
			},
		}, act: func(s *scene) {
			upper := s.Ref.Number
			s.Ref.Number = 1
			s.Merge(arena.Person)
			s.Ref.Number = upper
		}},
	)
}
