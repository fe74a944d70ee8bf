package opencode

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// hiddenLinks are the symbolic links of a checkout that lead out of it. The CLI follows
// them although it was told to keep inside (seen in 1.18.33), so for as long as it
// runs they are not there. Where they lead is kept in memory, out of the session's reach.
type hiddenLinks struct {
	dir   string
	links map[string]string
}

// hideLinks takes the links from the checkout that do not end inside of it.
func hideLinks(dir string) (*hiddenLinks, error) {
	a := &hiddenLinks{dir: dir, links: map[string]string{}}
	paths, err := leadingOut(dir)
	if err != nil {
		return nil, fmt.Errorf("look for what opencode must not see: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open the checkout: %w", err)
	}
	defer root.Close()
	for _, path := range paths {
		target, err := root.Readlink(path)
		if err == nil {
			err = root.Remove(path)
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("keep %s from opencode: %w", path, err), a.putBack())
		}
		a.links[path] = target
	}
	return a, nil
}

// putBack restores the checkout, and writes nowhere else, even if the session replaced
// directories by links. What the session has put in a link's place stays there; what it
// has put in the place of a directory above is replaced.
func (a *hiddenLinks) putBack() error {
	if len(a.links) == 0 {
		return nil
	}
	root, err := os.OpenRoot(a.dir)
	if err != nil {
		return fmt.Errorf("open the checkout to restore it: %w", err)
	}
	defer root.Close()
	var failed error
	for _, name := range slices.Sorted(maps.Keys(a.links)) {
		if err := restore(root, name, a.links[name]); err != nil {
			failed = errors.Join(failed, fmt.Errorf("restore %s: %w", name, err))
		}
	}
	return failed
}

func restore(root *os.Root, name, target string) error {
	parent := ""
	for element := range strings.SplitSeq(filepath.ToSlash(filepath.Dir(name)), "/") {
		// All above is a directory by now, so that no link is followed.
		parent = path.Join(parent, element)
		info, err := root.Lstat(parent)
		if err == nil && !info.IsDir() {
			if err := root.Remove(parent); err != nil {
				return err
			}
			err = fs.ErrNotExist
		}
		if errors.Is(err, fs.ErrNotExist) {
			err = root.Mkdir(parent, 0o755)
		}
		if err != nil {
			return err
		}
	}
	err := root.Symlink(target, name)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// leadingOut lists the symbolic links of a checkout that do not end inside of it.
func leadingOut(dir string) ([]string, error) {
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
		case entry.Type()&fs.ModeSymlink != 0 && !inside(root, path):
			found = append(found, relative)
		case entry.IsDir() && name == ".git":
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
