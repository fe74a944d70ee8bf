package journal

import (
	"fmt"
	"time"
)

// restingFile holds the models that are left alone, as a JSON array.
const restingFile = "resting.json"

// Rest is a model that the agent leaves alone because it did not answer.
type Rest struct {
	// Model is its name for people, such as "claude opus", or "every model of claude". Why follows the name, such as
	// "is overloaded".
	Model string `json:"model"`
	Why   string `json:"why"`
	// Since is when it first did not answer. From Until on, one session may try whether it does again.
	Since time.Time `json:"since"`
	Until time.Time `json:"until"`
}

// String describes the rest on one line, for a person who reads it now.
func (r Rest) String() string {
	until := "the next session tries it again"
	if left := time.Until(r.Until).Round(time.Second); left > 0 {
		until = fmt.Sprintf("not used until %s, for another %s", r.Until.Local().Format(time.TimeOnly), left)
	}
	return fmt.Sprintf("%s %s since %s: %s", r.Model, r.Why, r.Since.Local().Format(time.DateTime), until)
}

// SetResting reports which models are left alone now, for readers of the journal. It does not wait for the
// disk: the next process tries every model again.
func (j *Journal) SetResting(models []Rest) error {
	return j.setPassing(restingFile, models)
}

// Resting returns the models that the agent that has the journal in dir open leaves alone; none if there is
// no such agent.
func Resting(dir string) ([]Rest, error) {
	return readPassing[[]Rest](dir, restingFile)
}
