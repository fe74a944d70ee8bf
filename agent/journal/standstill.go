package journal

import (
	"fmt"
	"strings"
	"time"

	"touchstone/verdict"
)

// standstillFile holds a Standstill.
const standstillFile = "standstill.json"

// Standstill is a problem that stops the agent and is not in the pull requests: in its machine, an account or
// a provider. The zero value is none.
type Standstill struct {
	Since time.Time `json:"since"`
	// Why is the latest error, with the remedy if there is one.
	Why string `json:"why"`
	// Refs are the pull requests that wait for the end of the standstill, as owner/name#number.
	Refs []string `json:"refs"`
}

// IsZero reports whether nothing keeps the agent from going on.
func (s Standstill) IsZero() bool { return len(s.Refs) == 0 }

// String describes the standstill on one line, for people.
func (s Standstill) String() string {
	return fmt.Sprintf("waiting since %s; continues by itself once this is over: %s (%s)",
		s.Since.Local().Format(time.DateTime), verdict.OneLine(s.Why), strings.Join(s.Refs, ", "))
}

// SetStandstill reports what stops the agent, for readers of the journal; the zero value means that nothing
// stops it any more.
func (j *Journal) SetStandstill(s Standstill) error { return j.setPassing(standstillFile, s) }

// StandstillOf returns what stops the agent that has the journal in dir open; the zero value if there is no
// such agent.
func StandstillOf(dir string) (Standstill, error) {
	return readPassing[Standstill](dir, standstillFile)
}
