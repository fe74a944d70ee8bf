package main

import (
	"touchstone/agent/e2e/reading"
	"touchstone/verdict"
)

// check refutes the finding in the prompt if the script says how, and upholds it otherwise.
func (s *session) check() error {
	s.misbehave()
	said := verdict.Check{Outcome: verdict.Upheld, Reason: "It is as the finding says."}
	for _, defect := range s.script.Defects {
		if defect.Refuted != nil && s.askedFor(defect) {
			said = *defect.Refuted
		}
	}
	return s.conclude(reading.InForm(s.prompt, said, verdict.CheckMarker(said.Outcome)))
}

// readBack finds no defect in an approval's text that its lists lack: all that a script names is a finding.
func (s *session) readBack() error {
	s.misbehave()
	said, _ := reading.Names(s.prompt)
	return s.conclude(said)
}
