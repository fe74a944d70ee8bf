package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"touchstone/worktree/atomicfile"
	"touchstone/worktree/gitcmd"
)

// refs below which this package keeps commits from being collected by git.
const (
	pullRefs     = "refs/touchstone/pulls/"
	leftoverRefs = "refs/touchstone/leftovers/"
)

// repo is one git directory of a mirror and the operations on it.
type repo struct{ gitcmd.Repo }

func (s *Store) repo(h home, l *gitcmd.Lock, remote *Remote) repo {
	return repo{gitcmd.Repo{Git: s.binary(), Mirror: h.Mirror(), Dir: h.Mirror(), Lock: l, Remote: remote, Shallow: s.Shallow}}
}

// linked is the same mirror seen through a worktree. It names the directories explicitly, so that the .git
// file inside the tree is never trusted.
func (r repo) linked(tree, admin string) repo {
	r.Tree, r.Dir = tree, admin
	return r
}

func (h home) refDir(id string) string {
	return filepath.Join(h.Mirror(), filepath.FromSlash(pullRefs), id)
}

// look runs do, which needs both commits of a request. Only if do finds a commit missing, look fetches the
// commits' refs below own and runs do again. A commit that is present is complete, because packs arrive
// whole.
func (s *Store) look(ctx context.Context, r repo, h home, own string, req Request, do func() error) error {
	wanted := []string{"+" + req.HeadRef + ":" + own + "/head", "+" + req.BaseRef + ":" + own + "/base"}
	if !exists(h.Mirror()) {
		if err := s.createMirror(ctx, h, req.Remote, req.BaseRef, wanted...); err != nil {
			return fmt.Errorf("make the mirror: %w", err)
		}
	}
	err := do()
	if !errors.Is(err, errMissing) {
		return err
	}
	if err := r.fetch(ctx, req.Remote, wanted...); err != nil {
		return err
	}
	if err = do(); errors.Is(err, errMissing) {
		return fmt.Errorf("%w: %s no longer holds %.12s, or %s no longer holds %.12s",
			ErrHeadMoved, req.HeadRef, req.Head, req.BaseRef, req.Base)
	}
	return err
}

var errMissing = errors.New("the commit is not in the mirror")

// contains reports whether ancestor is commit or one of its ancestors; false if ancestor is unknown here.
func (r repo) contains(ctx context.Context, commit, ancestor string) (bool, error) {
	err := r.Run(ctx, gitcmd.Command{Args: []string{"merge-base", "--is-ancestor", ancestor, commit}})
	if gitcmd.ExitCode(err) == 1 || gitcmd.Says(err, "Not a valid") {
		return false, nil
	}
	return err == nil, err
}

// fetchAgain is how often a fetch is repeated that another worktree disturbed.
const fetchAgain = 3

// fetch fetches refs into the mirror. It returns ErrHeadMoved if the remote lacks one.
func (r repo) fetch(ctx context.Context, remote Remote, refspecs ...string) error {
	args := []string{"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--no-recurse-submodules"}
	if r.Partial() {
		args = append(args, "--filter="+gitcmd.BlobFilter, "--end-of-options", gitcmd.Promisor)
	} else {
		args = append(args, "--end-of-options", remote.URL)
	}
	var said []byte
	run := func() error {
		return r.Run(ctx, gitcmd.Command{Remote: &remote, Said: &said, Args: append(args, refspecs...)})
	}
	err := run()
	// To check what it fetched, git reads the HEAD of each worktree, and fails if another pull request's is
	// renamed or removed at that moment.
	for range fetchAgain {
		if !gitcmd.Says(err, "did not send all necessary objects") {
			break
		}
		err = run()
	}
	if gitcmd.Says(err, "couldn't find remote ref") {
		return fmt.Errorf("%w: %w", ErrHeadMoved, err)
	}
	if err == nil && bytes.Contains(said, []byte("filtering not recognized")) {
		return errUnfiltered
	}
	return err
}

// writeFile replaces a whole file and creates its directory, so that a git process running beside it never
// reads half a file. It does not wait for the disk: a worktree that a power cut has broken is created anew.
func writeFile(path, content string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return atomicfile.Swap(path, []byte(content))
}
