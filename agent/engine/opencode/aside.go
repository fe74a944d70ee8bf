package opencode

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// aside are the parts of a checkout that are out of the CLI's sight while it runs.
//
// The CLI loads plugins, and with them code, from the .opencode directory of the
// checkout, whatever its flags and variables say, and what a configuration file
// there names (seen in 1.18.33). And it follows symbolic links out of the
// checkout, although it was told to keep inside. Neither can be turned off, so
// for as long as the CLI runs they are not there.
type aside struct {
	dir, store string
	moved      []string
}

// setAside moves what the CLI must not see from the checkout into the store, an
// empty directory of the session's home.
func setAside(dir, store string) (*aside, error) {
	a := &aside{dir: dir, store: store}
	paths, err := dangerous(dir)
	if err != nil {
		return nil, fmt.Errorf("look for what opencode must not see: %w", err)
	}
	for i, path := range paths {
		if err := os.Rename(filepath.Join(dir, path), a.place(i)); err != nil {
			return nil, errors.Join(fmt.Errorf("keep %s from opencode: %w; set TMPDIR to a place on the same disk as the checkout", path, err), a.putBack())
		}
		a.moved = append(a.moved, path)
	}
	return a, nil
}

func (a *aside) place(i int) string { return filepath.Join(a.store, strconv.Itoa(i)) }

// putBack restores the checkout. What the session has put in a place meanwhile
// stays there.
func (a *aside) putBack() error {
	var failed error
	for i, path := range a.moved {
		place := filepath.Join(a.dir, path)
		if _, err := os.Lstat(place); err == nil {
			failed = errors.Join(failed, os.RemoveAll(a.place(i)))
			continue
		}
		err := os.MkdirAll(filepath.Dir(place), 0o755)
		if err == nil {
			err = os.Rename(a.place(i), place)
		}
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("restore %s: %w", path, err))
		}
	}
	a.moved = nil
	return failed
}

// dangerous lists the CLI's own files at the top of a checkout, and all symbolic
// links that do not end inside of it.
func dangerous(dir string) ([]string, error) {
	root, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	var found []string
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		// File systems may not tell case apart.
		name := strings.ToLower(relative)
		switch {
		case name == ".opencode" || strings.HasPrefix(name, "opencode.json"):
			found = append(found, relative)
		case entry.Type()&fs.ModeSymlink != 0 && !inside(root, path):
			found = append(found, relative)
		case name != ".git":
			return nil
		}
		if entry.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
	return found, err
}

// inside reports whether a link ends inside the root; one that ends nowhere does not.
func inside(root, link string) bool {
	target, err := filepath.EvalSymlinks(link)
	if err != nil {
		return false
	}
	relative, err := filepath.Rel(root, target)
	return err == nil && filepath.IsLocal(relative)
}
