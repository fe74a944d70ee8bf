package author

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"touchstone/agent/engine/session"
	"touchstone/worktree"
	"touchstone/worktree/diff"
	"touchstone/worktree/filekind"
)

// lockTimeout bounds the generation of one lock file: the tool may have to ask the network about every
// dependency.
const lockTimeout = 5 * time.Minute

// lockTool generates one kind of lock file from the manifest next to it. As far as the tool allows, nothing
// is installed and no package script runs.
type lockTool struct {
	lock string
	// mark is a text in the lock files of this tool; empty matches all.
	mark    string
	command string
	// manifests are the names of the files, in its directory or below, from which it is generated, as patterns of package
	// path. They are empty if all of the lock file follows from them; otherwise it also holds choices.
	manifests string
}

// lockTools are the kinds of lock files that can be generated; the first match counts. Composer is asked to update a
// package that does not exist: it then adds and removes what composer.json says, and keeps all other versions. Its
// option --lock would add nothing.
var lockTools = []lockTool{
	{"package-lock.json", "", "npm install --package-lock-only --ignore-scripts --no-audit --no-fund", "package.json"},
	{"npm-shrinkwrap.json", "", "npm install --package-lock-only --ignore-scripts --no-audit --no-fund", "package.json"},
	{"pnpm-lock.yaml", "", "pnpm install --lockfile-only --ignore-scripts --no-frozen-lockfile", "package.json pnpm-workspace.yaml"},
	{"yarn.lock", "# yarn lockfile v1", "yarn install --ignore-scripts --non-interactive", "package.json"},
	{"yarn.lock", "", "yarn install --mode=update-lockfile --no-immutable", "package.json"},
	{"go.sum", "", "go mod tidy", ""},
	{"Cargo.lock", "", "cargo update --workspace", "Cargo.toml"},
	{"poetry.lock", "", "poetry lock --no-interaction", "pyproject.toml"},
	{"uv.lock", "", "uv lock", "pyproject.toml"},
	{"Gemfile.lock", "", "bundle lock", "Gemfile gems.rb *.gemspec"},
	{"gems.locked", "", "bundle lock", "Gemfile gems.rb *.gemspec"},
	{"composer.lock", "", "composer update touchstone/none --no-install --no-scripts --no-plugins --no-interaction", "composer.json"},
}

// staleLock is a lock file that has the base's content and must be generated again.
type staleLock struct {
	name    string
	command []string
}

// locks are the conflicts of a merge, by who resolves them.
type locks struct {
	stale []staleLock
	// left are the conflicts that the session resolves. chosen are those lock files among them in which the branch chose
	// other versions, without a change of what they are generated from.
	left, chosen []string
	// made says that the stale lock files were generated, and that no session has worked since.
	made bool
}

// errStale says that a lock file's tool failed on its manifest.
var errStale = fmt.Errorf("%w: a lock file cannot be regenerated; if its tool needs a login or a network that a fix does not have, "+
	"merge the base by hand", ErrConflicts)

// settleLocks takes the base's version of each conflicting lock file whose tool is installed: a mix of two
// versions of a generated file has no meaning. A lock file whose tool is missing stays in conflict, and so does one that
// the branch, at head, changed by itself: its change would be lost, since nothing else says it.
func (a *Author) settleLocks(ctx context.Context, tree *worktree.Tree, head, base string, conflicts []string) (locks, error) {
	var l locks
	var ours *diff.Diff
	for _, name := range conflicts {
		tool, err := toolOf(ctx, tree, base, name)
		if err != nil {
			return l, err
		}
		if tool != nil && ours == nil {
			changed, _, err := tree.SinceParted(ctx, head, base)
			if err != nil {
				return l, err
			}
			ours = &changed
		}
		switch {
		case tool == nil:
			l.left = append(l.left, name)
			continue
		case !tool.follows(name, *ours, func(name string) bool {
			_, err := os.Lstat(filepath.Join(tree.Dir(), filepath.FromSlash(name)))
			return err == nil
		}):
			l.left, l.chosen = append(l.left, name), append(l.chosen, name)
			continue
		}
		command := strings.Fields(tool.command)
		if err := tree.TakeBase(ctx, name); err != nil {
			return l, err
		}
		l.stale = append(l.stale, staleLock{name, command})
	}
	return l, nil
}

// follows reports whether what a branch changes in a lock file follows from what it changes in the manifests. One that has a
// lock file of its own, at it or in between, belongs to that one. exists says which files the tree has.
func (t lockTool) follows(lock string, branch diff.Diff, exists func(name string) bool) bool {
	patterns, dir := strings.Fields(t.manifests), path.Dir(lock)
	if len(patterns) == 0 {
		return true
	}
	for _, f := range branch.Files {
		if !slices.ContainsFunc(patterns, func(pattern string) bool {
			is, err := path.Match(pattern, path.Base(f.Path))
			return err == nil && is
		}) {
			continue
		}
		at := path.Dir(f.Path)
		for at != dir && at != "." && !exists(path.Join(at, t.lock)) {
			at = path.Dir(at)
		}
		if at == dir {
			return true
		}
	}
	return false
}

// toolOf is the tool that generates a lock file of the base on this machine. It is nil if the file is
// no lock file, is not on the base, or its tool is not installed.
func toolOf(ctx context.Context, tree *worktree.Tree, base, name string) (*lockTool, error) {
	if !filekind.Lock(name) {
		return nil, nil
	}
	content, err := tree.ReadFile(ctx, base, name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, worktree.ErrTooLarge) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the base's %s: %w", name, err)
	}
	for _, tool := range lockTools {
		if tool.lock == path.Base(name) && strings.Contains(string(content), tool.mark) {
			program, _, _ := strings.Cut(tool.command, " ")
			if _, err := exec.LookPath(program); err != nil {
				return nil, nil
			}
			return &tool, nil
		}
	}
	return nil, nil
}

// tryLocks generates the stale lock files, unless other files are in conflict too. If a tool fails, for
// instance because it lacks the login of a private registry, its lock file becomes a conflict again and is
// left to the session, like one whose tool is missing.
func (a *Author) tryLocks(ctx context.Context, tree *worktree.Tree, l *locks) error {
	if slices.ContainsFunc(l.left, func(name string) bool { return !filekind.Lock(name) }) {
		return nil // the manifests of the lock files may be in conflict themselves
	}
	var stale []staleLock
	for _, lock := range l.stale {
		err := a.regenerate(ctx, tree, locks{stale: []staleLock{lock}})
		if err == nil {
			stale = append(stale, lock)
			continue
		}
		if !errors.Is(err, errStale) {
			return err
		}
		zerolog.Ctx(ctx).Warn().Err(err).Str("file", lock.name).Msg("the conflict in a lock file is left to the session, since its tool failed")
		if err := tree.Reopen(ctx, lock.name); err != nil {
			return err
		}
		l.left = append(l.left, lock.name)
	}
	l.stale, l.made = stale, true
	return nil
}

// regenerate generates the stale lock files, once the manifests next to them are resolved, and again after
// each turn that may have changed the manifests.
func (a *Author) regenerate(ctx context.Context, tree *worktree.Tree, l locks) error {
	for _, lock := range l.stale {
		dir := filepath.Join(tree.Dir(), filepath.FromSlash(path.Dir(lock.name)))
		if err := a.execute(ctx, fmt.Errorf("%w: %s", errStale, lock.name), dir, session.Caches(tree.Dir(), session.ForSession), lock.command,
			lockTimeout); err != nil {
			return err
		}
	}
	return nil
}
