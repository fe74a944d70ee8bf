package forgery

import (
	"fmt"
	"net/http"
	"strings"

	"touchstone/agent/e2e/arena"
)

// fault is what the attacker does while the author's agent merges.
type fault struct {
	name string
	do   func(*scene) error
	// first is what the attacker does before the author's agent starts, if anything.
	first []func(*scene) error
	// harmed is as in Case; nil is as there.
	harmed func(*scene) (bool, error)
	// seen reports that GitHub shows the event even if it comes too late: people must then be called.
	seen bool
}

// evil is an unreviewed text.
const evil = "Signed-off-by: nobody"

// inMessage reports whether the unreviewed text is in the merge commit's message.
func inMessage(s *scene) (bool, error) {
	message, err := s.git("log", "-1", "--format=%B", "refs/heads/main")
	return strings.Contains(message, evil), err
}

func green(s *scene) error { return s.status(arena.Author, s.head(), "success", "test", "It passed.") }

// coverRed makes CI fail, and the author hide it: of two statuses of one name GitHub shows the later one.
func coverRed(s *scene) error {
	return s.then(s.status(arena.CI, s.head(), "failure", "test", "It failed."), func() error { return green(s) })
}

var faults = []fault{
	{name: "base retarget", seen: true, do: func(s *scene) error { return s.retarget(arena.Person, sandbox) }},
	{name: "base rewrite", seen: true, do: func(s *scene) error { return s.back(arena.Person, "main") }},
	{name: "push to a line of the base beside it", seen: true, do: func(s *scene) error {
		return s.push(arena.Person, "main", map[string]string{file: strings.Replace(source("old()"), "everything", "some", 1)})
	}},
	{name: "push", do: func(s *scene) error { return s.push(arena.Person, branch, map[string]string{"more.md": "More.\n"}) }},
	{name: "stop", do: (*scene).stopped},
	{name: "stop in a review", do: func(s *scene) error {
		_, err := s.submit(arena.Person, "COMMENT", "/touchstone stop")
		return err
	}},
	{name: "objection", do: func(s *scene) error {
		_, err := s.submit(arena.Person, "REQUEST_CHANGES", "Not so.")
		return err
	}},
	{name: "dismissal", do: func(s *scene) error {
		own, err := s.ownReview()
		return s.then(err, func() error { return s.dismiss(arena.Person, own.ID, "It is wrong.") })
	}},
	{name: "edit of the approval", do: func(s *scene) error {
		own, err := s.ownReview()
		return s.then(err, func() error { return s.editReview(arena.Person, own.ID, "Nothing.") })
	}},
	{name: "hold label", do: func(s *scene) error { return s.label(arena.Person, "touchstone-hold") }},
	{name: "needs-human label", do: func(s *scene) error { return s.label(arena.Person, "needs-human") }},
	{name: "manual label", do: func(s *scene) error { return s.label(arena.Person, "touchstone-manual") }},
	{name: "red status", do: func(s *scene) error { return s.status(arena.CI, s.head(), "failure", "test", "It failed.") }},
	{name: "red check run", do: func(s *scene) error { return s.checkRun(arena.CI, s.head(), "test", "failure", "It failed.") }},
	{name: "red status under a green one of the author's", do: coverRed},
	{name: "red status under a second green one of the author's", first: []func(*scene) error{green}, do: coverRed},
	{name: "title", harmed: inMessage, do: func(s *scene) error { return s.edit(arena.Author, map[string]any{"title": evil}) }},
	{name: "description", harmed: inMessage, do: func(s *scene) error { return s.edit(arena.Author, map[string]any{"body": evil}) }},
}

func (s *scene) label(login, name string) error {
	return s.call(login, http.MethodPost, s.issues("labels"), []string{name}, nil)
}

// fixedBase is a stage whose base has a second commit, so that its history can be rewritten.
var fixedBase = stage{early: func(s *scene) error {
	return s.then(s.push(neutral, "main", map[string]string{"moved.md": "Moved.\n"}),
		func() error { return s.push(neutral, sandbox, map[string]string{"s.md": "s\n"}) })
}}

// each calls all functions, until an error.
func (s *scene) each(err error, all []func(*scene) error) error {
	for _, do := range all {
		err = s.then(err, func() error { return do(s) })
	}
	return err
}

// rehearse returns the number of the author's agent's call that merges, on a second pull request of the same
// stage after the same first steps.
func (s *scene) rehearse(first ...func(*scene) error) (calls int, err error) {
	twin := s.ground.scene(s.ctx, s.ref.Name+"-rehearsal", s.stage)
	defer s.Sim.Intercept(s.intercept)
	if err := twin.each(twin.open(), first); err != nil {
		return 0, err
	}
	if err := twin.merge(); err != nil || twin.plan.merge == 0 {
		return 0, fmt.Errorf("the rehearsal merged nothing: %w\n%s", err, strings.Join(twin.steps, "\n"))
	}
	return twin.plan.merge, nil
}

// uncalled reports whether the pull request was merged without calling people immediately to that commit, with
// the command that reverts it.
func uncalled(s *scene) (bool, error) {
	p, err := s.pull()
	if err != nil || !p.Merged {
		return false, err
	}
	var comments []struct {
		User struct{ Login string }
		Body string
	}
	err = s.call(arena.Owner, http.MethodGet, s.issues("comments"), nil, &comments)
	for _, c := range comments {
		if c.User.Login == arena.Author && strings.Contains(c.Body, "A person is needed") &&
			strings.Contains(c.Body, "\ngit revert --no-edit "+p.MergeCommitSHA+"\n") {
			return !p.Labelled("needs-human"), err
		}
	}
	return true, err
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
			c.act = func(s *scene) error {
				calls, err := s.rehearse(f.first...)
				err = s.each(err, f.first)
				s.away = true
				s.plan = plan{act: func() error { return f.do(s) }, at: calls - before}
				return s.then(err, s.merge, func() error { return s.plan.err })
			}
			all = append(all, c)
		}
		if f.harmed != nil {
			all = append(all, Case{Name: "author: " + f.name + ": after the review", harmed: f.harmed, act: func(s *scene) error { return f.do(s) }})
		}
	}
	return all
}
