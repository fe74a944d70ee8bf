package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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

// SetResting says which models are left alone now, for whoever reads the journal meanwhile. It
// does not wait for the disk: the next process asks every model anew.
func (j *Journal) SetResting(models []Rest) error {
	content, err := json.Marshal(models)
	if err == nil {
		err = replace(filepath.Join(j.dir, restingFile), content, nil)
	}
	if err != nil {
		return fmt.Errorf("write down which models are left alone: %w", err)
	}
	return nil
}

// Resting are the models that the agent leaves alone which has the journal in dir open; none
// if there is no such agent.
func Resting(dir string) ([]Rest, error) {
	content, err := os.ReadFile(filepath.Join(dir, restingFile))
	if errors.Is(err, fs.ErrNotExist) || err == nil && !inUse(dir) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read which models are left alone: %w", err)
	}
	var models []Rest
	if json.Unmarshal(content, &models) != nil {
		return nil, nil // a crash spoilt it, and will be overwritten
	}
	return models, nil
}

// forgetResting removes what an earlier process left alone.
func forgetResting(dir string) error {
	if err := os.Remove(filepath.Join(dir, restingFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget which models were left alone: %w", err)
	}
	return nil
}
