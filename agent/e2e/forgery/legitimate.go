package forgery

import (
	"touchstone/agent/e2e/arena"
)

// legitimate returns what must be merged. A loop that merges nothing would prove nothing.
func legitimate() []Case {
	return []Case{
		{Name: "legitimate: a change that was approved", Legitimate: true},
		{Name: "legitimate: a writer approves of what is held", Legitimate: true, stage: stage{text: held}, act: func(s *scene) error {
			_, err := s.submit(arena.Person, "APPROVE", "I have read it.")
			return err
		}},
		{Name: "legitimate: a maintainer breaks the glass", Legitimate: true, stage: stage{text: defect}, act: func(s *scene) error {
			_, err := s.comment(neutral, glass)
			return err
		}},
		{Name: "legitimate: a maintainer breaks the glass over a hold", Legitimate: true, stage: stage{text: held}, act: func(s *scene) error {
			_, err := s.comment(neutral, glass)
			return err
		}},
		{Name: "legitimate: a maintainer waives the finding", Legitimate: true, stage: stage{text: defect}, act: func(s *scene) error {
			text, err := s.waiver()
			if err == nil {
				_, err = s.comment(neutral, text)
			}
			return err
		}},
		{Name: "legitimate: a writer stops the agents and lets them go on", Legitimate: true, stage: stage{late: (*scene).stopped},
			act: func(s *scene) error {
				_, err := s.comment(arena.Person, "/touchstone resume it is mended")
				return err
			}},
		{Name: "legitimate: the author mends what was found", Legitimate: true, stage: stage{text: defect}, act: func(s *scene) error {
			return s.push(arena.Author, branch, map[string]string{file: source("fine()")})
		}},
		{Name: "legitimate: the base moves on", Legitimate: true, act: func(s *scene) error {
			return s.push(neutral, "main", map[string]string{"moved.md": "Moved.\n"})
		}},
	}
}
