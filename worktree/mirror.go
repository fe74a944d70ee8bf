package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
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

// ensureCommits makes both commits of a request present and returns their merge
// base. A commit that is present is complete, because packs arrive whole.
func (r repo) ensureCommits(ctx context.Context, h home, req Request) (string, error) {
	if !exists(h.mirror()) {
		if err := r.createMirror(ctx, h, req.Remote, req.BaseRef); err != nil {
			return "", fmt.Errorf("make the mirror: %w", err)
		}
	}
	base, err := r.commonAncestor(ctx, req.Head, req.Base)
	if !errors.Is(err, errMissing) {
		return base, err
	}
	id := treeID(req.Number, req.Role)
	if err := r.fetch(ctx, req.Remote,
		"+"+req.HeadRef+":"+pullRefs+id+"/head", "+"+req.BaseRef+":"+pullRefs+id+"/base"); err != nil {
		return "", err
	}
	base, err = r.commonAncestor(ctx, req.Head, req.Base)
	if errors.Is(err, errMissing) {
		return "", fmt.Errorf("%w: %s no longer holds %.12s, or %s no longer holds %.12s",
			ErrHeadMoved, req.HeadRef, req.Head, req.BaseRef, req.Base)
	}
	return base, err
}

var errMissing = errors.New("the commit is not in the mirror")

// commonAncestor answers in one git process whether both commits are present
// and where they fork.
func (r repo) commonAncestor(ctx context.Context, head, base string) (string, error) {
	sha, err := r.line(ctx, "merge-base", head, base)
	switch {
	case exitCode(err) == 1:
		return "", fmt.Errorf("%.12s and %.12s have no common history: this pull request cannot be compared with its base", head, base)
	case gitSays(err, "Not a valid"):
		return "", errMissing
	}
	return sha, err
}

// fetch brings refs into the mirror. ErrHeadMoved when the remote lacks one.
func (r repo) fetch(ctx context.Context, remote Remote, refspecs ...string) error {
	err := r.run(ctx, call{remote: &remote, args: append([]string{"fetch", "--quiet", "--no-tags",
		"--no-write-fetch-head", "--no-auto-maintenance", "--no-recurse-submodules", "--end-of-options", remote.URL}, refspecs...)})
	if gitSays(err, "couldn't find remote ref") {
		return fmt.Errorf("%w: %w", ErrHeadMoved, err)
	}
	return err
}

// mirrorBase is the ref of the branch that a mirror was made with.
const mirrorBase = pullRefs + "mirror/base"

// createMirror makes the mirror with one branch in it. It is built beside its
// place and moved there when complete, so a mirror that exists is warm, and many
// pull requests of a new repository wait for one download instead of starting many.
func (r repo) createMirror(ctx context.Context, h home, remote Remote, branch string) (err error) {
	l, err := waitLock(ctx, h.lockPath("mirror"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.unlock()) }()
	if exists(h.mirror()) {
		return nil
	}
	tmp := filepath.Join(h.dir, "mirror.new")
	if err := os.RemoveAll(tmp); err != nil {
		return err
	}
	for _, dir := range []string{"objects", "refs"} {
		if err := os.MkdirAll(filepath.Join(tmp, dir), 0o755); err != nil {
			return err
		}
	}
	// HEAD names a branch that never exists: no attributes are read from a bare
	// repository without a HEAD commit.
	if err := writeFile(filepath.Join(tmp, "HEAD"), "ref: refs/heads/none\n"); err != nil {
		return err
	}
	fresh := repo{bin: r.bin, mirror: tmp, dir: tmp, lock: l}
	if err := fresh.fetch(ctx, remote, "+"+branch+":"+mirrorBase); err != nil {
		return err
	}
	return os.Rename(tmp, h.mirror())
}
