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
// relay runs as that user, and could read it no more. That user may have put a link there, whose target stays root's.
func own(path string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	info, err := os.Stat(filepath.Dir(path))
	if err != nil {
		return err
	}
	of, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fmt.Errorf("the owner of %s is not known", filepath.Dir(path))
	}
	if err := os.Lchown(path, int(of.Uid), int(of.Gid)); !errors.Is(err, fs.ErrPermission) { // as in a container without CAP_CHOWN
		return err
	}
	return nil
}
