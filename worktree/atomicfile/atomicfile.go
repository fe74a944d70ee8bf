// Package atomicfile replaces whole files durably. It owns no state and imports nothing of this module, so
// that relay, agent and worktree can all write their files with it.
package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
)

// Write replaces the file at path with content. The file's directory must exist. A reader, or a machine after
// a power cut, finds either the old file or the new one, never a part. Only the file's owner may read it.
// Errors wrap the system's errors, so that callers can recognise a full disk.
func Write(path string, content []byte) error { return write(path, content, (*os.File).Sync) }

// WriteReadable is Write for a file that every user may read.
func WriteReadable(path string, content []byte) error {
	return write(path, content, func(f *os.File) error { return errors.Join(f.Chmod(0o644), f.Sync()) })
}

func write(path string, content []byte, settle func(*os.File) error) error {
	if err := swap(path, content, settle); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// Swap is Write without waiting for the disk. It is for files that are written at every event and checked
// when they are read: after a crash of the process the old file or the new one is there, after a power cut
// perhaps neither.
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
