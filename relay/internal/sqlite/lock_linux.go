package sqlite

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lockByte is after all bytes that SQLite locks (https://www.sqlite.org/fileformat.html#the_lock_byte_page).
const lockByte = 1<<30 + 4096

// claim locks the file itself rather than its name, until it is closed. The lock belongs to this open file
// description, so SQLite's own locks and closes do not affect it (fcntl(2), "Open file description locks").
func claim(file *os.File) error {
	err := setLock(file, unix.F_WRLCK)
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		return errClaimed
	}
	return err
}

// disclaim removes the lock. Closing the file is not enough: a child that this process is just starting
// shares the open file description until it executes its program.
func disclaim(file *os.File) error { return setLock(file, unix.F_UNLCK) }

func setLock(file *os.File, kind int16) error {
	return unix.FcntlFlock(file.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: kind, Start: lockByte, Len: 1})
}
