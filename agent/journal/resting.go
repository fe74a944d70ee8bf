package journal

import (
	"fmt"
	"time"
)

// restingFile holds the models that are left alone, as one JSON array.
const restingFile = "resting.json"

// Rest is a model that the agent leaves alone, since it did not answer.
type Rest struct {
	// Model and Why are for people, and one sentence together.
	Model string `json:"model"`
	Why   string `json:"why"`
	// From Until on it is tried again.
	Since time.Time `json:"since"`
	Until time.Time `json:"until"`
}

// String is the rest on one line, for a person who reads it now.
func (r Rest) String() string {
	until := "tried again by the next session that wants it"
	if left := time.Until(r.Until).Round(time.Second); left > 0 {
		until = fmt.Sprintf("left alone until %s, for another %s", r.Until.Local().Format(time.TimeOnly), left)
	}
	return fmt.Sprintf("%s %s since %s: %s", r.Model, r.Why, r.Since.Local().Format(time.DateTime), until)
}

// SetResting says which models are left alone now, for readers of the journal. It does not
// wait for the disk: the next process asks every model anew.
func (j *Journal) SetResting(models []Rest) error {
	return j.setPassing(restingFile, models)
}

// Resting are the models that the agent leaves alone which has the journal in dir open; none
// if there is no such agent.
func Resting(dir string) ([]Rest, error) {
	var models []Rest
	err := readPassing(dir, restingFile, &models)
	return models, err
}
