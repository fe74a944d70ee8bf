// Package worktree owns the git checkouts in which this product works: below one root directory, one bare mirror
// per repository and one linked worktree per pull request and role.
//
// It stores only git data and lock files, at the paths that package layout defines, and in addition:
//
//	ROOT/owner/name/spare            a checked-out tree that waits for the next pull request
//	ROOT/owner/name/broken-*         trees that git could no longer read, kept for their owner
//	ROOT/owner/name/cache/base-reports  test reports of some commits of the base
//
// Its callers may keep data beside the mirror that can be computed again; see Tree.Beside.
//
// All operations run the git binary, with this package's own configuration and environment: nothing that a pull
// request contains or the checkout's configuration names is executed. When a tree is taken over, its earlier work
// is set aside under refs/touchstone/leftovers in the mirror, never deleted.
package worktree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"touchstone/worktree/gitcmd"
	"touchstone/worktree/githubname"
	"touchstone/worktree/layout"
	"touchstone/worktree/lazyregexp"
)

var (
	// ErrBusy means that the tree is in use, by this or another process. Try again once it has been released.
	ErrBusy = gitcmd.ErrBusy
	// ErrHeadMoved means that the wanted head or base commit can no longer be fetched from its ref: the
	// branch was force-pushed or deleted. Read the pull request again and acquire its current commits.
	ErrHeadMoved = errors.New("the commit can no longer be fetched")
	// ErrNothingToCommit means that the tree is identical to its HEAD.
	ErrNothingToCommit = errors.New("nothing to commit")
	// ErrRejected means that the remote branch has commits that HEAD does not contain, or is gone. Acquire
	// its present head, then merge and verify again.
	ErrRejected = errors.New("the push was rejected")
	// ErrUnavailable means that the remote, or the way to it, is down. The request itself is fine; try again
	// later.
	ErrUnavailable = gitcmd.ErrUnavailable
	// ErrTooLarge means that something exceeds the bound its method documents.
	ErrTooLarge = gitcmd.ErrTooLarge
)

// DiskFault reports whether an error, of this package or of the system, says that the disk is full,
// read-only, or beyond its quota. Such an error says nothing about a tree or its content: a person has to
// free some space.
func DiskFault(err error) bool { return gitcmd.DiskFault(err) }

// NoRoom returns an error, which is a DiskFault, if fewer than the given bytes can be written to the disk of
// a directory, or if hardly any file can be created there. It returns nil if this is unknown.
func NoRoom(dir string, bytes uint64) error { return gitcmd.NoRoom(dir, bytes) }

// Store provides worktrees below Root. Several goroutines and several processes may call its methods at once.
type Store struct {
	// Root is the directory that holds everything; created if missing.
	Root string
	// Git is the git binary, 2.38 or newer; "git" when empty.
	Git string
	// Clones are the user's clones, by owner/name. A new mirror copies their objects instead of downloading
	// them. The clones are only read, and only then.
	Clones map[string]string
	// Partial says which mirrors hold the content of files only for commits that needed it.
	Partial Partial
	// Shallow is a file that lists, in the format of git's own, commits whose parents are missing in a mirror
	// that another program made; "" for none. A mirror made by this package has all parents.
	Shallow string

	// large, if set, replaces largeMirror.
	large int64
}

// Remote is the repository to fetch from and push to.
type Remote = gitcmd.Remote

// Request says which tree is wanted and at which commit.
type Request struct {
	Remote  Remote
	Repo    string // owner/name
	Number  int    // the pull request's number
	Role    string // "reviewer" or "author"
	Head    string // commit to check out, a full SHA
	HeadRef string // ref that holds Head, e.g. refs/pull/12/head
	Base    string // commit of the base branch, a full SHA
	BaseRef string // ref that holds Base, e.g. refs/heads/main
	// Merged asks for the files of a merge of Head into Base, instead of those of Head. They are the same if
	// Head contains Base.
	Merged bool
}

// Identity is the author and committer of a commit.
type Identity struct{ Name, Email string }

var (
	rolePattern = lazyregexp.New(`^[a-z]{1,20}$`)
	shaPattern  = lazyregexp.New(`^([0-9a-f]{40}|[0-9a-f]{64})$`)
	refPattern  = lazyregexp.New(`^refs/[^\x00-\x20\x7f:?*\[\\^~]{1,240}$`)
)

func (r Request) validate() error {
	if r.Number < 1 {
		return fmt.Errorf("pull request number %d: must be 1 or more", r.Number)
	}
	if !rolePattern.MatchString(r.Role) {
		return fmt.Errorf("role %q: must be a lower-case word", r.Role)
	}
	if err := checkSHAs(r.Head, r.Base); err != nil {
		return err
	}
	for _, ref := range []string{r.HeadRef, r.BaseRef} {
		if err := validateRef(ref); err != nil {
			return err
		}
	}
	return r.Remote.Validate()
}

// checkSHAs refuses everything except full SHAs: names and abbreviations can mean another commit tomorrow.
func checkSHAs(shas ...string) error {
	for _, sha := range shas {
		if !shaPattern.MatchString(sha) {
			return fmt.Errorf("commit %q: must be a full SHA in lower-case hex", sha)
		}
	}
	return nil
}

// validateRef refuses names that would change the meaning of a refspec. See
// https://git-scm.com/docs/git-check-ref-format.
func validateRef(ref string) error {
	if !refPattern.MatchString(ref) || strings.Contains(ref, "..") || strings.Contains(ref, "@{") ||
		strings.HasSuffix(ref, "/") || strings.HasSuffix(ref, ".lock") {
		return fmt.Errorf("ref %q: must be a full ref name such as refs/heads/main", ref)
	}
	return nil
}

// home is the directory with everything about one repository.
type home struct{ layout.Home }

func (s *Store) home(repo string) (home, error) {
	if !githubname.IsRepository(repo) {
		return home{}, fmt.Errorf("repository %q: must be owner/name", repo)
	}
	root, err := filepath.Abs(s.Root)
	if err != nil {
		return home{}, fmt.Errorf("worktree root: %w", err)
	}
	return home{layout.Of(root, repo)}, nil
}

// lock takes the lock named id without waiting.
func (h home) lock(id string) (*gitcmd.Lock, error) {
	if err := h.mkdir(); err != nil {
		return nil, err
	}
	return gitcmd.TryLock(h.LockFile(id))
}

// waitLock takes the lock named id and waits for it until ctx ends.
func (h home) waitLock(ctx context.Context, id string) (*gitcmd.Lock, error) {
	if err := h.mkdir(); err != nil {
		return nil, err
	}
	return gitcmd.WaitLock(ctx, h.LockFile(id))
}

func (h home) mkdir() error {
	if err := os.MkdirAll(h.Dir, 0o755); err != nil {
		return fmt.Errorf("make the repository's directory: %w", err)
	}
	return nil
}

// removeStaleLocks deletes the lock files that a killed git left in those parts of the mirror that only the
// holder of this tree's lock writes.
func (h home) removeStaleLocks(id string) error {
	for _, dir := range []string{h.Admin(id), h.refDir(id)} {
		entries, err := os.ReadDir(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("look for stale locks: %w", err)
		}
		for _, e := range entries {
			if e.Type().IsRegular() && strings.HasSuffix(e.Name(), ".lock") {
				if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
					return fmt.Errorf("remove a stale lock: %w", err)
				}
			}
		}
	}
	return nil
}

func treeID(number int, role string) string { return fmt.Sprintf("%d-%s", number, role) }

func (s *Store) binary() string { return cmp.Or(s.Git, "git") }

// CheckGit verifies that git exists and is recent enough. Its error says what to install.
func (s *Store) CheckGit(ctx context.Context) error { return gitcmd.Check(ctx, s.binary()) }

// Acquire returns the tree of one pull request and role, locked for the caller. Its HEAD is detached at
// req.Head or, with req.Merged, at a commit that merges req.Head into req.Base, and it contains nothing that
// is not in that commit. Acquire fetches only if a wanted commit is missing. The lock ends with the process
// that holds it, however the process ends.
//
// Errors: ErrBusy, ErrHeadMoved, ErrUnmergeable, with req.Merged ErrTooLarge if the head changes more files than a
// Diff has or more than 4 GiB of content, or a sentence about git, network or disk.
func (s *Store) Acquire(ctx context.Context, req Request) (_ *Tree, err error) {
	h, err := s.home(req.Repo)
	if err != nil {
		return nil, err
	}
	if err := req.validate(); err != nil {
		return nil, err
	}
	if err := s.CheckGit(ctx); err != nil {
		return nil, err
	}
	id := treeID(req.Number, req.Role)
	l, err := h.lock(id)
	if err != nil {
		return nil, fmt.Errorf("acquire %s of %s: %w", id, req.Repo, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("acquire %s of %s: %w", id, req.Repo, err), l.Unlock())
		}
	}()
	m := s.repo(h, l, &req.Remote)
	t := &Tree{home: h, id: id, req: req, mirror: m, git: m.linked(h.Tree(id), h.Admin(id)), lock: l}
	if err := errors.Join(h.removeStaleLocks(id), h.use(id)); err != nil {
		return nil, err
	}
	err = s.look(ctx, m, h, pullRefs+id, req, func() error {
		_, err := t.meet(ctx)
		if err != nil || !req.Merged {
			return err
		}
		if err := t.bounded(ctx); err != nil {
			return err
		}
		return t.merge(ctx)
	})
	if err != nil {
		return nil, err
	}
	at := req.Head
	if req.Merged {
		at = t.merged
	}
	if err := t.checkOut(ctx, at); err != nil {
		return nil, err
	}
	if at != req.Head {
		// This package made the commit: with a ref it does not count as unpushed work.
		if err := m.Run(ctx, gitcmd.Command{Args: []string{"update-ref", pullRefs + id + "/merge", at}}); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// Remove gives up the tree of one pull request and role after setting its work aside. Its files become the
// repository's spare tree if there is none yet. Removing a tree that does not exist is no error. It returns
// ErrBusy if the tree is in use.
func (s *Store) Remove(ctx context.Context, repo string, number int, role string) (err error) {
	h, err := s.home(repo)
	if err != nil {
		return err
	}
	if number < 1 || !rolePattern.MatchString(role) {
		return fmt.Errorf("remove %d-%s: no such worktree can exist", number, role)
	}
	id := treeID(number, role)
	if !exists(h.Tree(id)) && !exists(h.Admin(id)) {
		return nil
	}
	l, err := h.lock(id)
	if err != nil {
		return fmt.Errorf("remove %s of %s: %w", id, repo, err)
	}
	defer func() { err = errors.Join(err, l.Unlock()) }()
	m := s.repo(h, l, nil)
	t := &Tree{home: h, id: id, mirror: m, git: m.linked(h.Tree(id), h.Admin(id)), lock: l}
	if err := t.retire(ctx); err != nil {
		return fmt.Errorf("remove %s of %s: %w", id, repo, err)
	}
	return nil
}
