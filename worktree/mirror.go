package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
)

// mirrorConfig is the mirror's whole configuration. What decides how commands
// behave is in settings; this is only what describes the file system.
// See https://git-scm.com/docs/gitrepository-layout.
var mirrorConfig = "[core]\n\trepositoryformatversion = 0\n\tbare = true\n" + map[string]string{
	"darwin":  "\tfilemode = true\n\tignorecase = true\n\tprecomposeunicode = true\n",
	"windows": "\tfilemode = false\n\tignorecase = true\n",
}[runtime.GOOS]

// mirrorAttributes outrank every .gitattributes a checkout contains: no filter
// runs, and conflict markers have the one length ConflictMarkers looks for.
// See https://git-scm.com/docs/gitattributes.
const mirrorAttributes = "* -filter conflict-marker-size=7\n"

// refs below which this package keeps what it wants git to keep.
const (
	pullRefs     = "refs/touchstone/pulls/"
	leftoverRefs = "refs/touchstone/leftovers/"
)

func (h home) refDir(id string) string {
	return filepath.Join(h.mirror(), filepath.FromSlash(pullRefs), id)
}

// look does what needs both commits of a request, and fetches their refs, below own, only if
// that finds one of them missing. A commit that is present is complete, because packs arrive
// whole.
func (s *Store) look(ctx context.Context, r repo, h home, own string, req Request, do func() error) error {
	wanted := []string{"+" + req.HeadRef + ":" + own + "/head", "+" + req.BaseRef + ":" + own + "/base"}
	if !exists(h.mirror()) {
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

// contains reports whether a commit has an ancestor, or is it; not where that one is
// unknown here.
func (r repo) contains(ctx context.Context, commit, ancestor string) (bool, error) {
	err := r.run(ctx, call{args: []string{"merge-base", "--is-ancestor", ancestor, commit}})
	if exitCode(err) == 1 || gitSays(err, "Not a valid") {
		return false, nil
	}
	return err == nil, err
}

// fetch brings refs into the mirror. ErrHeadMoved when the remote lacks one.
func (r repo) fetch(ctx context.Context, remote Remote, refspecs ...string) error {
	args := []string{"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--no-recurse-submodules"}
	if r.partial() {
		args = append(args, "--filter="+blobFilter, "--end-of-options", promisor)
	} else {
		args = append(args, "--end-of-options", remote.URL)
	}
	said := &capped{max: maxStderr}
	err := r.run(ctx, call{remote: &remote, stderr: said, args: append(args, refspecs...)})
	if gitSays(err, "couldn't find remote ref") {
		return fmt.Errorf("%w: %w", ErrHeadMoved, err)
	}
	if err == nil && bytes.Contains(said.buf.Bytes(), []byte("filtering not recognized")) {
		return errUnfiltered
	}
	return err
}
