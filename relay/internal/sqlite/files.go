package sqlite

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"touchstone/relay/internal/sqlitefile"
)

// maxLinks is how many symbolic links may be followed one after the other.
const maxLinks = 40

// Resolve returns the file's path without symbolic links, so that two names of one log become one. The file
// need not exist yet; its folder has to.
func Resolve(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("find the store: %w", err)
	}
	for range maxLinks {
		folder, err := filepath.EvalSymlinks(filepath.Dir(path))
		if err != nil {
			return "", fmt.Errorf("find the store %s: %w (the directory must exist)", path, err)
		}
		path = filepath.Join(folder, filepath.Base(path))
		info, err := os.Lstat(path)
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			return path, nil // other problems show when the file is opened
		}
		target, err := os.Readlink(path)
		if err != nil {
			return "", fmt.Errorf("find the store: %w", err)
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(folder, target)
		}
		path = target
	}
	return "", fmt.Errorf("find the store: %s is a link to itself", path)
}

// files are the files that SQLite has open, as they were when it opened them. If another file, or none, is at
// a path later, appended events go to a file that no longer has a name.
type files []namedFile

type namedFile struct {
	path   string
	opened fs.FileInfo
}

func filesAt(path string) (files, error) {
	var all files
	for _, suffix := range sqlitefile.Ends {
		info, err := os.Stat(path + suffix)
		if err != nil {
			return nil, err
		}
		all = append(all, namedFile{path + suffix, info})
	}
	return all, nil
}

// check reports a file that is no longer at its path. It takes a few microseconds.
func (all files) check() error {
	for _, file := range all {
		info, err := os.Stat(file.path)
		if err != nil {
			return fmt.Errorf("the file that this relay opened is no longer at its path, so nothing can be stored; put it back, "+
				"or restart the relay: %w", err)
		}
		if !os.SameFile(info, file.opened) {
			return fmt.Errorf("%s is not the file that this relay opened, so nothing can be stored; put that file back, or "+
				"restart the relay", file.path)
		}
	}
	return nil
}
