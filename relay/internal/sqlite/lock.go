package sqlite

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/gofrs/flock"
)

// lock is one process's claim on one store file. It consists of a lock on "<file>.lock", which holds the
// process's id, and a lock on the file itself, which may have other names. The operating system releases both
// when the process ends, however it ends.
type lock struct {
	*flock.Flock
	// file must stay open until SQLite has closed the file, because closing it would drop SQLite's locks
	// (https://www.sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_).
	file *os.File
}

// errClaimed is returned for a file that another relay has open under another name.
var errClaimed = errors.New("another relay has the same file open under another name, a link or an earlier name; " +
	"stop that relay, or choose another store")

// acquire claims the store at path for this process. It writes the process's id into the lock file, for the
// error message of the next relay that tries.
func acquire(path string) (*lock, error) {
	held := flock.New(path+".lock", flock.SetFlag(os.O_CREATE|os.O_RDWR))
	locked, err := held.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock store %s: %w (the directory must exist and be writable)", path, err)
	}
	if !locked {
		return nil, fmt.Errorf("the store %s is in use by another relay%s; stop that relay, or choose another store", path, owner(path))
	}
	l := &lock{Flock: held}
	if err := writeOwner(path); err != nil {
		return nil, errors.Join(fmt.Errorf("write lock of store %s: %w", path, err), l.release())
	}
	// The log is private. Without this, SQLite would let the umask decide; it gives the files beside this one
	// the same permissions.
	l.file, err = os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err == nil {
		err = claim(l.file)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock store %s: %w", path, err), l.release())
	}
	return l, nil
}

// ownerOffset skips the file's first byte, which is the byte that Windows locks: there, no process can read
// locked bytes.
const ownerOffset = 1

func writeOwner(path string) error {
	file, err := os.OpenFile(path+".lock", os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = file.WriteAt(fmt.Appendf(nil, "%-20d\n", os.Getpid()), ownerOffset)
	return errors.Join(err, file.Close())
}

// owner returns a text that names the process that holds the lock, or "" if the lock file does not say.
func owner(path string) string {
	file, err := os.Open(path + ".lock")
	if err != nil {
		return ""
	}
	defer file.Close()
	content, err := io.ReadAll(io.NewSectionReader(file, ownerOffset, 32))
	if err != nil {
		return ""
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(content)))
	if err != nil {
		return ""
	}
	return fmt.Sprintf(" (process %d)", pid)
}

// release gives up the claim. The lock file stays: removing it would let two processes hold locks on two
// files of the same name.
func (l *lock) release() error {
	err := l.Unlock()
	if l.file != nil {
		err = errors.Join(err, disclaim(l.file), l.file.Close())
	}
	if err != nil {
		return fmt.Errorf("unlock store: %w", err)
	}
	return nil
}
