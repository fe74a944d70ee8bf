package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"touchstone/worktree/atomicfile"
)

// passing are the files that say how it is with the process that has the journal open, and
// mean nothing without it.
var passing = []string{restingFile, standstillFile, activityFile}

// setPassing writes one of them. It does not wait for the disk: the next process begins anew.
func (j *Journal) setPassing(name string, what any) error {
	content, err := json.Marshal(what)
	if err == nil {
		err = atomicfile.Swap(filepath.Join(j.dir, name), content)
	}
	if err != nil {
		return fmt.Errorf("write down %s: %w", name, err)
	}
	return nil
}

// readPassing reads one of them into a variable, which is left alone where no agent is at work.
func readPassing(dir, name string, into any) error {
	content, err := os.ReadFile(filepath.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) || err == nil && !inUse(dir) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	if !json.Valid(content) {
		return nil // a crash spoilt it, and it will be overwritten
	}
	return json.Unmarshal(content, into)
}

// forgetPassing removes what an earlier process said of itself.
func forgetPassing(dir string) error {
	for _, name := range passing {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("forget what an earlier agent said: %w", err)
		}
	}
	return nil
}
