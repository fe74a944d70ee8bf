package main

import (
	"encoding/json"
	"fmt"
	"strings"
)

// check refutes the finding that the prompt shows, if the script says how, and upholds it else.
func (s *session) check(tools []string) error {
	if err := s.begin(tools); err != nil {
		return err
	}
	s.misbehave()
	said := Check{Outcome: "upheld", Reason: "It is as the finding says."}
	for _, defect := range s.script.Defects {
		if defect.Refuted != nil && s.askedFor(defect) {
			said = *defect.Refuted
		}
	}
	data, err := json.Marshal(said)
	if err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	final := fmt.Sprintf("```touchstone\n%s\n```\n\n<!-- RUN:%s -->\n<!-- CHECK:%s -->\n", data, s.nonce(), strings.ToUpper(said.Outcome))
	if err := s.text(final); err != nil {
		return err
	}
	return s.end(final)
}
