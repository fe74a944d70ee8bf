// Package layout says where the mirror, the worktrees and the caches of each repository lie below one
// root directory, for the store that makes them and for what has to find them from a worktree's path:
//
//	ROOT/owner/name/mirror.git       the bare mirror, shared by all trees
//	ROOT/owner/name/12-reviewer      the worktree of pull request 12, role reviewer
//	ROOT/owner/name/12-reviewer.lock held while a process uses it
//	ROOT/owner/name/cache/12-author  what builds in that tree cache, which is its users' and goes with it
//	ROOT/owner/name/cache/base       what builds of the base have cached, from which the others begin
//
// It only looks for mirrors, stores nothing, and imports nothing of this module.
package layout

import (
	"path/filepath"
	"strings"
)

const (
	mirror = "mirror.git"
	caches = "cache"
	// BaseCache begins the names of the caches that belong to no tree.
	BaseCache = "base"
)

// Home is the directory of one repository.
type Home struct{ Dir string }

// Of is the home of a repository, given as owner/name, below a root. GitHub's names ignore case, and
// so do some file systems, hence lower case.
func Of(root, repo string) Home {
	return Home{filepath.Join(root, filepath.FromSlash(strings.ToLower(repo)))}
}

// Around is the home that a worktree is in.
func Around(tree string) Home { return Home{filepath.Dir(tree)} }

// All are the homes below a root that have a mirror.
func All(root string) ([]Home, error) {
	mirrors, err := filepath.Glob(filepath.Join(root, "*", "*", mirror))
	homes := make([]Home, len(mirrors))
	for i, path := range mirrors {
		homes[i] = Home{filepath.Dir(path)}
	}
	return homes, err
}

// Repo is the repository, as owner/name.
func (h Home) Repo() string { return filepath.Base(filepath.Dir(h.Dir)) + "/" + filepath.Base(h.Dir) }

// Mirror is the bare repository.
func (h Home) Mirror() string { return filepath.Join(h.Dir, mirror) }

// Tree is the worktree with a name such as 12-author.
func (h Home) Tree(id string) string { return filepath.Join(h.Dir, id) }

// Admin is what git keeps of that worktree in the mirror.
// See https://git-scm.com/docs/gitrepository-layout.
func (h Home) Admin(id string) string { return filepath.Join(h.Mirror(), "worktrees", id) }

// LockFile is locked by who uses that worktree.
func (h Home) LockFile(id string) string { return filepath.Join(h.Dir, id+".lock") }

// Caches is where all caches of builds are.
func (h Home) Caches() string { return filepath.Join(h.Dir, caches) }

// Cache is where builds in one worktree keep theirs.
func (h Home) Cache(id string) string { return filepath.Join(h.Caches(), id) }
