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

// hiddenLinks are the symbolic links of a checkout that lead out of it. The CLI follows them although it is
// configured not to leave the checkout (seen in 1.18.33), so they are removed while it runs. Their targets
// are kept in memory, where the session cannot reach them.
type hiddenLinks struct {
	dir   string
	links map[string]string
}

// hideLinks removes the links from the checkout whose target is not inside it.
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

// putBack restores the links in the checkout. It writes nowhere else, even if the session replaced
// directories with links. If the session put something in a link's place, that stays; what it put in the
// place of a parent directory is replaced.
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
		// All parents are real directories by now, so no link is followed.
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

// leadingOut lists the symbolic links of a checkout whose target is not inside it.
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
		// Some file systems ignore case.
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

// inside reports whether a link's target is inside the root. A dangling link's is not.
func inside(root, link string) bool {
	target, err := filepath.EvalSymlinks(link)
	if err != nil {
		return false
	}
	relative, err := filepath.Rel(root, target)
	return err == nil && filepath.IsLocal(relative)
}
