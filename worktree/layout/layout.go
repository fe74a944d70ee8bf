// Package layout defines where the mirror, the worktrees and the caches of each repository are below one root
// directory, for the store that creates them and for code that has to find them from a worktree's path:
//
//	ROOT/owner/name/mirror.git       the bare mirror, shared by all trees
//	ROOT/owner/name/12-reviewer      the worktree of pull request 12, role reviewer
//	ROOT/owner/name/12-reviewer.lock held while a process uses it
//	ROOT/owner/name/cache/12-author  the caches of builds in that tree, deleted with it
//	ROOT/owner/name/cache/base       the caches of builds of the base, from which the others start
//
// It only looks for mirrors, stores nothing, and imports nothing of this module.
package layout

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

const (
	mirror = "mirror.git"
	caches = "cache"
	// BaseCache is the prefix of the names of caches that belong to no tree.
	BaseCache = "base"
)

// Home is the directory of one repository.
type Home struct{ Dir string }

// Of returns the home of a repository, given as owner/name, below a root. The path is in lower case, because
// GitHub's names, and those of some file systems, ignore case.
func Of(root, repo string) Home {
	return Home{filepath.Join(root, filepath.FromSlash(strings.ToLower(repo)))}
}

// Around returns the home that contains a worktree.
func Around(tree string) Home { return Home{filepath.Dir(tree)} }

// All returns the homes below a root that have a mirror.
func All(root string) ([]Home, error) {
	mirrors, err := fs.Glob(os.DirFS(root), "*/*/"+mirror) // a root may have a [ in its path
	homes := make([]Home, len(mirrors))
	for i, name := range mirrors {
		homes[i] = Home{filepath.Join(root, filepath.FromSlash(path.Dir(name)))}
	}
	return homes, err
}

// Repo returns the repository, as owner/name.
func (h Home) Repo() string { return filepath.Base(filepath.Dir(h.Dir)) + "/" + filepath.Base(h.Dir) }

// Mirror returns the path of the bare repository.
func (h Home) Mirror() string { return filepath.Join(h.Dir, mirror) }

// Tree returns the path of the worktree with a name such as 12-author.
func (h Home) Tree(id string) string { return filepath.Join(h.Dir, id) }

// Admin returns the administrative directory that git keeps for that worktree in the mirror. See
// https://git-scm.com/docs/gitrepository-layout.
func (h Home) Admin(id string) string { return filepath.Join(h.Mirror(), "worktrees", id) }

// LockFile returns the path of the file that users of that worktree lock.
func (h Home) LockFile(id string) string { return filepath.Join(h.Dir, id+".lock") }

// Caches returns the directory of all build caches.
func (h Home) Caches() string { return filepath.Join(h.Dir, caches) }

// Cache returns the cache directory of builds in one worktree.
func (h Home) Cache(id string) string { return filepath.Join(h.Caches(), id) }
