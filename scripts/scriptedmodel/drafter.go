package main

import (
	"encoding/json"
	"fmt"
)

// draft rewords a guideline row as the script says.
func (s *session) draft(tools []string) error {
	if err := s.begin(tools); err != nil {
		return err
	}
	s.misbehave()
	data, err := json.Marshal(s.script.Draft)
	if err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	final := fmt.Sprintf("They have a guard in common.\n\n```touchstone\n%s\n```\n\n<!-- RUN:%s -->\n", data, s.nonce())
	if err := s.text(final); err != nil {
		return err
	}
	return s.end(final)
}
