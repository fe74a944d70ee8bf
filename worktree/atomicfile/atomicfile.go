// Package atomicfile replaces files whole and durably. It owns no state and imports nothing of this
// module, so that relay, agent and worktree can all write their files with it.
package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
)

// Write puts content in the place of the file at path, whose directory has to exist: a reader, or a
// machine that lost its power, finds the old file or the new one and never a part. Only the file's
// owner may read it. Errors wrap the system's, so that a full disk can be told from the rest.
func Write(path string, content []byte) error {
	if err := swap(path, content, (*os.File).Sync); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// Swap is Write without the wait for the disk, for what is written at every event and checked when it is
// read: a crash of the process leaves the old file or the new one, a power cut perhaps neither.
func Swap(path string, content []byte) error {
	return swap(path, content, func(*os.File) error { return nil })
}

func swap(path string, content []byte, settle func(*os.File) error) error {
	dir, name := filepath.Split(path)
	file, err := os.CreateTemp(filepath.Clean(dir), "."+name+"-*") // 0600
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err = errors.Join(err, settle(file), file.Close()); err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}
