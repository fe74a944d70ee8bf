// Package tempdir gives a command that runs once a directory for what it needs meanwhile: the
// homes of its sessions with their conversations, patches, a copy of a clone. The command clears
// it at its end, and the next one what a killed one has left. All of it is stored below the state
// directory.
package tempdir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
	"github.com/rs/zerolog"

	"touchstone/worktree/erase"
)

const (
	prefix = "once-"
	// lockFile is locked in each directory for as long as its process lives. That above them all
	// is so while one is made, removed or cleared: one that is not locked yet, or no longer, looks left behind.
	lockFile = "lock"
)

// Dir is a directory of this process alone.
type Dir struct {
	Path string
	lock *flock.Flock
}

// Open makes one below a state directory, after it has cleared away those there whose process is
// gone.
func Open(ctx context.Context, stateDir string) (_ *Dir, err error) {
	all := filepath.Join(stateDir, "tmp")
	defer func() {
		if err != nil {
			err = fmt.Errorf("create a temporary directory for this command: %w; free some space there, or set state_dir to a "+
				"directory that you can write to", err)
		}
	}()
	if err := os.MkdirAll(all, 0o700); err != nil {
		return nil, err
	}
	gate := lockOf(all)
	if err := gate.Lock(); err != nil {
		return nil, err
	}
	// What is left of a lock ends with the process.
	defer func() { _ = gate.Close() }()
	if _, err := clearLeft(all); err != nil {
		zerolog.Ctx(ctx).Warn().Err(err).Msg("cannot delete what an earlier command left behind; delete it")
	}
	path, err := os.MkdirTemp(all, prefix)
	if err != nil {
		return nil, err
	}
	d := &Dir{Path: path, lock: lockOf(path)}
	if err := d.lock.Lock(); err != nil {
		return nil, errors.Join(err, d.remove())
	}
	return d, nil
}

// Close removes the directory and all in it.
func (d *Dir) Close() error {
	// As soon as the lock is free, a command that begins would clear the directory as well, and each would
	// be in the way of the other. So what takes long is deleted before, and the rest while none can begin.
	d.empty()
	gate := lockOf(filepath.Dir(d.Path))
	_ = gate.Lock() // if that fails, others may be in the way, which remove reports
	defer func() { _ = gate.Close() }()
	if err := d.remove(); err != nil {
		return fmt.Errorf("delete this command's temporary files: %w", err)
	}
	return nil
}

// empty removes all in the directory but its lock, as far as it can.
func (d *Dir) empty() {
	entries, _ := os.ReadDir(d.Path)
	for _, entry := range entries {
		if entry.Name() != lockFile {
			_ = erase.All(filepath.Join(d.Path, entry.Name()))
		}
	}
}

// remove removes the directory. The caller holds the lock above.
func (d *Dir) remove() error {
	// An open file could not be removed on Windows.
	return errors.Join(d.lock.Close(), erase.All(d.Path))
}

func lockOf(dir string) *flock.Flock {
	return flock.New(filepath.Join(dir, lockFile), flock.SetPermissions(0o600))
}

// Clear clears away, below a state directory, what commands that were killed have left behind, and
// returns how many had.
func Clear(stateDir string) (cleared int, err error) {
	all := filepath.Join(stateDir, "tmp")
	if _, err := os.Stat(all); errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	gate := lockOf(all)
	if err := gate.Lock(); err != nil {
		return 0, fmt.Errorf("lock the directory of temporary files: %w", err)
	}
	defer func() { _ = gate.Close() }()
	return clearLeft(all)
}

// clearLeft removes the directories that no living process holds, and counts them.
func clearLeft(all string) (cleared int, err error) {
	names, err := fs.Glob(os.DirFS(all), prefix+"*")
	if err != nil {
		return 0, err
	}
	var failed []error
	for _, name := range names {
		dir := filepath.Join(all, name)
		left := &Dir{Path: dir, lock: lockOf(dir)}
		if free, err := left.lock.TryLock(); err != nil {
			failed = append(failed, err)
		} else if free {
			if err := left.remove(); err != nil {
				failed = append(failed, fmt.Errorf("delete the files of an earlier command: %w", err))
				continue
			}
			cleared++
		}
	}
	return cleared, errors.Join(failed...)
}
