package author

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"touchstone/agent/engine/session"
	"touchstone/worktree"
	"touchstone/worktree/lazyregexp"
)

// lockTimeout bounds the making of one lock file: it may have to ask the network about
// every dependency.
const lockTimeout = 5 * time.Minute

// lockTool makes one kind of lock file anew from the manifest beside it, as far as
// the tool allows with nothing installed and no script of a package run.
type lockTool struct {
	lock string
	// mark is a text in those lock files that are this tool's; empty is in all.
	mark    string
	command string
}

// lockTools are the kinds of lock files that can be made anew; the first that fits.
var lockTools = []lockTool{
	{"package-lock.json", "", "npm install --package-lock-only --ignore-scripts --no-audit --no-fund"},
	{"npm-shrinkwrap.json", "", "npm install --package-lock-only --ignore-scripts --no-audit --no-fund"},
	{"pnpm-lock.yaml", "", "pnpm install --lockfile-only --ignore-scripts --no-frozen-lockfile"},
	{"yarn.lock", "# yarn lockfile v1", "yarn install --ignore-scripts --non-interactive"},
	{"yarn.lock", "", "yarn install --mode=update-lockfile --no-immutable"},
	{"go.sum", "", "go mod tidy"},
	{"Cargo.lock", "", "cargo update --workspace"},
	{"poetry.lock", "", "poetry lock --no-interaction"},
	{"uv.lock", "", "uv lock"},
	{"Gemfile.lock", "", "bundle lock"},
	{"gems.locked", "", "bundle lock"},
	{"composer.lock", "", "composer update --lock --no-install --no-scripts --no-plugins --no-interaction"},
}

// lockFile matches the names of lock files of any kind, but not of code about locks.
var lockFile = lazyregexp.New(`(?:^|/)(?:[^/]+[.-]lock(?:ed|file|b)?(?:\.(?:json|ya?ml|toml|hcl|txt))?|[^/]+\.resolved` +
	`|go\.(?:work\.)?sum|npm-shrinkwrap\.json)$`)

// staleLock is a lock file that has the base's version and is to be made anew.
type staleLock struct {
	name    string
	command []string
}

// locks are the conflicts of a merge, by who settles them.
type locks struct {
	stale []staleLock
	// left are the conflicts that the session resolves.
	left []string
	// made says that the stale ones were made anew, and no session has been at work since.
	made bool
}

// errStale says that a lock file's tool failed on what it was made from.
var errStale = fmt.Errorf("%w: a lock file cannot be made anew; where its tool wants a login or a network that a fix does not have, "+
	"merge the base by hand", ErrConflicts)

// settleLocks takes the base's version of each lock file in conflict whose tool is
// here: two versions of a generated file have no meaning between them. One whose tool
// is missing stays in conflict.
func (a *Author) settleLocks(ctx context.Context, tree *worktree.Tree, base string, conflicts []string) (locks, error) {
	var l locks
	for _, name := range conflicts {
		command, err := lockCommand(ctx, tree, base, name)
		if err != nil {
			return l, err
		}
		if command == nil {
			l.left = append(l.left, name)
			continue
		}
		if err := tree.TakeBase(ctx, name); err != nil {
			return l, err
		}
		l.stale = append(l.stale, staleLock{name, command})
	}
	return l, nil
}

// lockCommand is how a lock file of the base is made anew on this machine; nil when it
// is none, is gone from the base, or its tool is not here.
func lockCommand(ctx context.Context, tree *worktree.Tree, base, name string) ([]string, error) {
	if !lockFile.MatchString(name) {
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
			command := strings.Fields(tool.command)
			if _, err := exec.LookPath(command[0]); err != nil {
				return nil, nil
			}
			return command, nil
		}
	}
	return nil, nil
}

// tryLocks makes the stale lock files anew where nothing else is in conflict. Those whose
// tool fails, as without a private registry's login, are put back into conflict and left
// to the session, like those whose tool is missing.
func (a *Author) tryLocks(ctx context.Context, tree *worktree.Tree, l *locks) error {
	if slices.ContainsFunc(l.left, func(name string) bool { return !lockFile.MatchString(name) }) {
		return nil // what the lock files are made from may be in conflict itself
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

// regenerate makes the stale lock files anew, once the manifests beside them are
// resolved, and again after each turn that may have changed those.
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
