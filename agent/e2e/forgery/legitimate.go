package forgery

import (
	"touchstone/agent/e2e/arena"
)

// legitimate returns what must be merged. A loop that merges nothing would prove nothing.
func legitimate() []Case {
	return []Case{
		{Name: "legitimate: a change that was approved", Legitimate: true},
		{Name: "legitimate: a writer approves of what is held", Legitimate: true, stage: stage{text: held},
			act: func(s *scene) { s.approve(arena.Person) }},
		{Name: "legitimate: a maintainer breaks the glass", Legitimate: true, stage: stage{text: defect},
			act: func(s *scene) { s.Comment(neutral, glass) }},
		{Name: "legitimate: a maintainer breaks the glass over a hold", Legitimate: true, stage: stage{text: held},
			act: func(s *scene) { s.Comment(neutral, glass) }},
		{Name: "legitimate: a maintainer waives the finding", Legitimate: true, stage: stage{text: defect},
			act: func(s *scene) { s.Comment(neutral, s.waiver()) }},
		{Name: "legitimate: a writer stops the agents and lets them go on", Legitimate: true, stage: stage{late: (*scene).stopped},
			act: func(s *scene) { s.Comment(arena.Person, "/touchstone resume it is mended") }},
		{Name: "legitimate: the author mends what was found", Legitimate: true, stage: stage{text: defect},
			act: pushes(arena.Author, source("fine()"))},
		{Name: "legitimate: the base moves on", Legitimate: true, act: func(s *scene) {
			s.push(neutral, "main", map[string]string{"moved.md": "Moved.\n"})
		}},
	}
}
