package main

import "touchstone/agent/e2e/reading"

// draft rewords a guideline row as the script says.
func (s *session) draft() error {
	s.misbehave()
	return s.conclude("They have a guard in common.\n\n" + reading.InForm(s.prompt, s.script.Draft, ""))
}
