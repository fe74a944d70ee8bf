package journal

import (
	"fmt"
	"strings"
	"time"
)

// standstillFile holds a Standstill.
const standstillFile = "standstill.json"

// Standstill is what keeps the agent from going on although the pull requests do not: its
// machine, an account or a provider. The zero value is none.
type Standstill struct {
	Since time.Time `json:"since"`
	// Why is what went wrong last, with the remedy where there is one.
	Why string `json:"why"`
	// Refs are the pull requests that wait for its end, as owner/name#number.
	Refs []string `json:"refs"`
}

// IsZero reports whether nothing keeps the agent from going on.
func (s Standstill) IsZero() bool { return len(s.Refs) == 0 }

// String is the standstill on one line, for a person.
func (s Standstill) String() string {
	return fmt.Sprintf("waiting since %s, and going on by itself once that is over: %s (%s)",
		s.Since.Local().Format(time.DateTime), strings.Join(strings.Fields(s.Why), " "), strings.Join(s.Refs, ", "))
}

// SetStandstill says what keeps the agent from going on, for readers of the journal; the
// zero value says that nothing does any more.
func (j *Journal) SetStandstill(s Standstill) error { return j.setPassing(standstillFile, s) }

// StandstillOf is what keeps the agent from going on which has the journal in dir open; the
// zero value if there is no such agent.
func StandstillOf(dir string) (Standstill, error) {
	var s Standstill
	err := readPassing(dir, standstillFile, &s)
	return s, err
}
