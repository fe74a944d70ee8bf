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

// passing are the files that describe the state of the process that has the journal open. They are
// meaningless without that process.
var passing = []string{restingFile, standstillFile, activityFile}

// setPassing writes one of the passing files. It does not wait for the disk, since the next process starts
// afresh.
func (j *Journal) setPassing(name string, what any) error {
	content, err := json.Marshal(what)
	if err == nil {
		err = atomicfile.Swap(filepath.Join(j.dir, name), content)
	}
	if err != nil {
		return fmt.Errorf("record %s: %w", name, err)
	}
	return nil
}

// readPassing reads one of the passing files. Without a running agent, it returns the zero value.
func readPassing[T any](dir, name string) (read T, err error) {
	content, err := os.ReadFile(filepath.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) || err == nil && !inUse(dir) {
		return read, nil
	}
	if err != nil {
		return read, fmt.Errorf("read %s: %w", name, err)
	}
	if !json.Valid(content) {
		return read, nil // a crash damaged the file, which will be overwritten
	}
	err = json.Unmarshal(content, &read)
	return read, err
}

// forgetPassing removes the passing files of an earlier process.
func forgetPassing(dir string) error {
	for _, name := range passing {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("delete the temporary state of an earlier agent: %w", err)
		}
	}
	return nil
}
