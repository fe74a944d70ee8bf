//go:build unix

package token

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// own gives a file that root has written to the owner of its directory, as SQLite does with the files beside a log: the
// relay runs as that user, and could read it no more. That user may have put a link there, symbolic or hard, whose target stays
// root's.
func own(path string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	info, err := os.Stat(filepath.Dir(path))
	if err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.EMLINK) { // FreeBSD says the second
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	is, err := file.Stat()
	if err != nil {
		return err
	}
	if has, ok := is.Sys().(*syscall.Stat_t); !ok || !is.Mode().IsRegular() || has.Nlink > 1 {
		return nil
	}
	of, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fmt.Errorf("the owner of %s is not known", filepath.Dir(path))
	}
	if err := file.Chown(int(of.Uid), int(of.Gid)); !errors.Is(err, fs.ErrPermission) { // as in a container without CAP_CHOWN
		return err
	}
	return nil
}
