package main

import (
	"encoding/json"
	"fmt"

	"touchstone/verdict"
)

// check refutes the finding that the prompt shows, if the script says how, and upholds it else.
func (s *session) check(tools []string) error {
	if err := s.begin(tools); err != nil {
		return err
	}
	s.misbehave()
	said := verdict.Check{Outcome: verdict.Upheld, Reason: "It is as the finding says."}
	for _, defect := range s.script.Defects {
		if defect.Refuted != nil && s.askedFor(defect) {
			said = *defect.Refuted
		}
	}
	data, err := json.Marshal(said)
	if err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	final := fmt.Sprintf("```touchstone\n%s\n```\n\n<!-- RUN:%s -->\n%s\n", data, s.nonce(), verdict.CheckMarker(said.Outcome))
	if err := s.text(final); err != nil {
		return err
	}
	return s.end(final)
}
