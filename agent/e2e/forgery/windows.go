package forgery

import (
	"fmt"
	"strings"

	"touchstone/agent/e2e/arena"
	"touchstone/worktree/steps"
)

// fault is what the attacker does while the author's agent merges.
type fault struct {
	name string
	do   func(*scene)
	// first is what the attacker does before the author's agent starts; nil is nothing.
	first func(*scene)
	// harmed is as in Case; nil is as there.
	harmed func(*scene) bool
	// seen reports that GitHub shows the event even if it comes too late: people must then be called.
	seen bool
}

// evil is an unreviewed text.
const evil = "Signed-off-by: nobody"

// inMessage reports whether the unreviewed text is in the merge commit's message.
func inMessage(s *scene) bool {
	return strings.Contains(s.git("log", "-1", "--format=%B", "refs/heads/main"), evil)
}

func green(s *scene) { s.Status(arena.Author, s.head(), "success", "test", "It passed.") }

// coverRed makes CI fail, and the author hide it: of two statuses of one name GitHub shows the later one.
func coverRed(s *scene) {
	s.Status(arena.CI, s.head(), "failure", "test", "It failed.")
	green(s)
}

var faults = []fault{
	{name: "base retarget", seen: true, do: func(s *scene) { s.retarget(arena.Person, sandbox) }},
	{name: "base rewrite", seen: true, do: func(s *scene) { s.back(arena.Person, "main") }},
	{name: "push to a line of the base beside it", seen: true, do: func(s *scene) {
		s.push(arena.Person, "main", map[string]string{file: strings.Replace(source("old()"), "everything", "some", 1)})
	}},
	{name: "push", do: func(s *scene) { s.push(arena.Person, branch, map[string]string{"more.md": "More.\n"}) }},
	{name: "stop", do: (*scene).stopped},
	{name: "stop in a review", do: func(s *scene) { s.Submit(arena.Person, "COMMENT", "/touchstone stop") }},
	{name: "objection", do: func(s *scene) { s.Submit(arena.Person, "REQUEST_CHANGES", "Not so.") }},
	{name: "dismissal", do: func(s *scene) { s.Dismiss(arena.Person, s.ownReview().ID, "It is wrong.") }},
	{name: "edit of the approval", do: func(s *scene) { s.EditReview(arena.Person, s.ownReview().ID, "Nothing.") }},
	{name: "hold label", do: func(s *scene) { s.Label(arena.Person, "touchstone-hold") }},
	{name: "needs-human label", do: func(s *scene) { s.Label(arena.Person, "needs-human") }},
	{name: "manual label", do: func(s *scene) { s.Label(arena.Person, "touchstone-manual") }},
	{name: "red status", do: func(s *scene) { s.Status(arena.CI, s.head(), "failure", "test", "It failed.") }},
	{name: "red check run", do: func(s *scene) { s.checkRun(arena.CI, s.head(), "test", "failure", "It failed.") }},
	{name: "red status under a green one of the author's", do: coverRed},
	{name: "red status under a second green one of the author's", first: green, do: coverRed},
	{name: "title", harmed: inMessage, do: func(s *scene) { s.Edit(arena.Author, map[string]any{"title": evil}) }},
	{name: "description", harmed: inMessage, do: func(s *scene) { s.Edit(arena.Author, map[string]any{"body": evil}) }},
}

// fixedBase is a stage whose base has a second commit, so that its history can be rewritten.
var fixedBase = stage{early: func(s *scene) {
	s.push(neutral, "main", map[string]string{"moved.md": "Moved.\n"})
	s.push(neutral, sandbox, map[string]string{"s.md": "s\n"})
}}

// rehearse returns the number of the author's agent's call that merges, on a second pull request of the same
// stage after the same first step, if there is one.
func (s *scene) rehearse(first func(*scene)) int {
	twin := s.ground.scene(s.Ctx, s.Ref.Name+"-rehearsal", s.stage)
	defer s.Sim.Intercept(s.intercept)
	twin.open()
	if first != nil {
		first(twin)
	}
	twin.merge()
	if twin.plan.merge == 0 {
		steps.Fail("the rehearsal merged nothing:\n%s", strings.Join(twin.steps, "\n"))
	}
	return twin.plan.merge
}

// mergeWith makes the author's agent merge, and act right before its call of a number.
func (s *scene) mergeWith(call int, act func()) {
	s.away = true
	s.plan = plan{act: act, at: call}
	s.merge()
	steps.Must(s.plan.err)
}

// uncalled reports whether the pull request was merged without calling people immediately to that commit, with
// the command that reverts it.
func uncalled(s *scene) bool {
	p := s.Pull()
	if !p.Merged {
		return false
	}
	for _, c := range s.Comments() {
		if c.User.Login == arena.Author && strings.Contains(c.Body, "A person is needed") &&
			strings.Contains(c.Body, "\ngit revert --no-edit "+p.MergeCommitSHA+"\n") {
			return !p.Labelled("needs-human")
		}
	}
	return true
}

// windows returns the attacks during the merge by the author's agent, at each of its last calls, and those that
// change the reviewed texts before it.
func windows() []Case {
	var all []Case
	for _, f := range faults {
		for before := range 6 {
			c := Case{Name: fmt.Sprintf("writer: %s: %d calls before the merge call", f.name, before), stage: fixedBase, harmed: f.harmed}
			switch {
			case before == 0 && !f.seen:
				continue // GitHub offers no way to prevent the merge
			case before == 0:
				c.Name, c.harmed = fmt.Sprintf("writer: %s: at the merge call", f.name), uncalled
			}
			c.act = func(s *scene) {
				calls := s.rehearse(f.first)
				if f.first != nil {
					f.first(s)
				}
				s.mergeWith(calls-before, func() { f.do(s) })
			}
			all = append(all, c)
		}
		if f.harmed != nil {
			all = append(all, Case{Name: "author: " + f.name + ": after the review", harmed: f.harmed, act: f.do})
		}
	}
	return all
}
