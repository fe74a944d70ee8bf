package forgery

import (
	"touchstone/agent/config"
	"touchstone/agent/e2e/arena"
)

// checked is a stage in which CI reported on the base, and must report on the head before the merge.
func checked(names ...string) stage {
	return stage{
		settings: func(cfg *config.Config) { cfg.Merge.RequireChecks = true },
		early: func(s *scene) {
			sha := s.rev("refs/heads/main")
			for _, name := range names {
				s.checkRun(arena.CI, sha, name, "success", "It passed.")
			}
		},
	}
}

// reported is a stage in which CI reported the status test on the base.
func reported() stage {
	st := checked()
	st.early = func(s *scene) {
		s.Status(arena.CI, s.rev("refs/heads/main"), "success", "test", "It passed.")
	}
	return st
}

// checks returns the attacks by checks that did not pass, or that the wrong login or app reports.
func checks() []Case {
	run := func(login, name, conclusion string) func(*scene) {
		return func(s *scene) { s.checkRun(login, s.head(), name, conclusion, "It ran.") }
	}
	status := func(login, name, state string) func(*scene) {
		return func(s *scene) { s.Status(login, s.head(), state, name, "It ran.") }
	}
	both := func(steps ...func(*scene)) func(*scene) {
		return func(s *scene) {
			for _, step := range steps {
				step(s)
			}
		}
	}
	required := checked("test")
	named := reported()
	named.early = func(s *scene) {
		s.push(neutral, "main", map[string]string{config.RepositoryPath: "merge: {checks: [test]}\n"})
		reported().early(s)
	}
	return []Case{
		{Name: "legitimate: CI passes by the status that the settings name", Legitimate: true, stage: named,
			act: status(arena.CI, "test", "success")},
		{Name: "writer: status: over a failed one of CI that the settings name", stage: named,
			act: both(status(arena.CI, "test", "failure"), status(arena.Person, "test", "success"))},
		{Name: "legitimate: CI passes", Legitimate: true, stage: checked("test"), act: run(arena.CI, "test", "success")},
		{Name: "legitimate: one check passes and one is skipped, as on the base", Legitimate: true, stage: checked("test"),
			act: both(run(arena.CI, "test", "success"), run(arena.CI, "docs", "skipped"))},
		{Name: "legitimate: CI passes by a status", Legitimate: true, stage: reported(), act: status(arena.CI, "test", "success")},
		{Name: "author: status: the only one", stage: required, act: status(arena.Author, "test", "success")},
		{Name: "author: status: the only one, where CI reports by a status", stage: reported(),
			act: status(arena.Author, "test", "success")},
		{Name: "author: status: over a failed one of CI", stage: reported(),
			act: both(status(arena.CI, "test", "failure"), status(arena.Author, "test", "success"))},
		{Name: "author: status: one of another name over none of CI", stage: reported(), act: status(arena.Author, "build", "success")},
		{Name: "author: status: on the base and on the head", stage: stage{settings: required.settings, early: func(s *scene) {
			sha := s.git("rev-parse", "refs/heads/main")
			s.Status(arena.Author, sha, "success", "test", "It passed.")
		}}, act: status(arena.Author, "test", "success")},
		{Name: "another App: check run: the only one", stage: required, act: run(helper, "hello", "success")},
		{Name: "another App: check run: under the name of CI's", stage: required, act: run(helper, "test", "success")},
		{Name: "another App: check run: over a failed one of CI", stage: required,
			act: both(run(arena.CI, "test", "failure"), run(helper, "test", "success"))},
		{Name: "another App: check run: by CI's slug, which it took", stage: required,
			act: both((*scene).takeSlug, run(thief, "test", "success"))},
		{Name: "another App: status: by CI's login, which it took", stage: reported(),
			act: both((*scene).takeSlug, status(thief, "test", "success"))},
		{Name: "deleted account: status: of CI's, on the base and on the head", stage: reported(),
			act: both(status(arena.CI, "test", "success"), func(s *scene) { s.leave(arena.CI) })},
		{Name: "CI: check run: skipped, and nothing else", stage: required, act: run(arena.CI, "test", "skipped")},
		{Name: "CI: check run: neutral, and nothing else", stage: required, act: run(arena.CI, "test", "neutral")},
		{Name: "CI: check run: stale", stage: required, act: run(arena.CI, "test", "stale")},
		{Name: "CI: check run: cancelled", stage: required, act: run(arena.CI, "test", "cancelled")},
		{Name: "CI: check run: one of two that report on the base", stage: checked("test", "lint"), act: run(arena.CI, "lint", "success")},
		{Name: "CI: check run: run again after it passed, and failed", stage: required,
			act: both(run(arena.CI, "test", "success"), run(arena.CI, "test", "failure"))},
		{Name: "CI: nothing at all", stage: required},
		{Name: "writer: status: the only one", stage: reported(), act: status(arena.Person, "unheard", "success")},
	}
}
