package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/rs/zerolog"

	"touchstone/worktree/atomicfile"
	"touchstone/worktree/gitcmd"
)

// mirrorBase is the ref of the branch with which a mirror was created.
const mirrorBase = pullRefs + "mirror/base"

// createMirror creates the mirror with one branch and more refspecs. It builds the mirror beside its final
// place and moves it there when complete: a mirror that exists is therefore warm, and many pull requests of a
// new repository wait for one download instead of starting many.
func (s *Store) createMirror(ctx context.Context, h home, remote Remote, branch string, more ...string) (err error) {
	l, err := gitcmd.WaitLock(ctx, h.LockFile("mirror"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Unlock()) }()
	if exists(h.Mirror()) {
		return nil
	}
	tmp := filepath.Join(h.Dir, "mirror.new")
	fresh := repo{gitcmd.Repo{Git: s.binary(), Mirror: tmp, Dir: tmp, Lock: l, Remote: &remote}}
	if err := s.fill(ctx, fresh, h.Repo(), remote, append([]string{"+" + branch + ":" + mirrorBase}, more...)); err != nil {
		return err
	}
	return os.Rename(tmp, h.Mirror())
}

// fill fills a mirror from the user's clone. Without a usable clone it downloads everything; if a partial
// mirror is configured or the download grows too large, it leaves out the content of files. Only the last of
// these attempts may fail.
func (s *Store) fill(ctx context.Context, fresh repo, name string, remote Remote, refspecs []string) error {
	if clone := s.cloneOf(name); clone != "" {
		err := fresh.borrow(ctx, clone, remote, refspecs)
		if err == nil || ctx.Err() != nil || errors.Is(err, ErrHeadMoved) || errors.Is(err, ErrUnavailable) {
			return err
		}
		zerolog.Ctx(ctx).Warn().Err(err).Str("clone", clone).Msg("cannot use the objects of the local clone, so the repository is downloaded")
	}
	if s.Partial != PartialOn {
		err := s.fetchWhole(ctx, fresh, remote, refspecs)
		if !errors.Is(err, ErrTooLarge) {
			return err
		}
		zerolog.Ctx(ctx).Info().Err(err).Msg("the content of files is fetched only when it is needed")
	}
	return fresh.fetchPartly(ctx, remote, refspecs)
}

// begin creates an empty repository in place of the remains of an earlier attempt.
func (r repo) begin() error {
	if err := os.RemoveAll(r.Mirror); err != nil {
		return err
	}
	for _, dir := range []string{"objects", "refs"} {
		if err := os.MkdirAll(filepath.Join(r.Mirror, dir), 0o755); err != nil {
			return err
		}
	}
	// HEAD names a branch that never exists: git reads no attributes from a bare repository without a HEAD
	// commit.
	return atomicfile.Write(filepath.Join(r.Mirror, "HEAD"), []byte("ref: refs/heads/none\n"))
}

// cloneOf returns the path of the user's clone of a repository, or "".
func (s *Store) cloneOf(name string) string {
	for repo, clone := range s.Clones {
		if strings.EqualFold(repo, name) {
			return clone
		}
	}
	return ""
}

// borrow fills an empty mirror from the user's clone and fetches what the clone lacks. Finally it copies the
// objects: the clone's owner, or a git gc there, may delete objects that the clone does not need. It reads
// only the clone's objects and the names of its commits, and writes nothing to it.
func (r repo) borrow(ctx context.Context, clone string, remote Remote, refspecs []string) error {
	if err := r.begin(); err != nil {
		return err
	}
	objects, err := r.objectsOf(ctx, clone)
	if err != nil {
		return err
	}
	// See https://git-scm.com/docs/gitrepository-layout.
	alternates := filepath.Join(r.Mirror, "objects", "info", "alternates")
	if err := writeFile(alternates, filepath.ToSlash(objects)+"\n"); err != nil {
		return err
	}
	if err := r.fetch(ctx, remote, refspecs...); err != nil {
		return err
	}
	if err := r.Run(ctx, gitcmd.Command{Args: []string{"repack", "--quiet", "-a", "-d"}}); err != nil {
		return fmt.Errorf("copy the objects: %w", err)
	}
	return os.Remove(alternates)
}

// objectsOf returns a clone's object directory.
func (r repo) objectsOf(ctx context.Context, clone string) (string, error) {
	out, err := gitcmd.Elsewhere(ctx, r.Git, clone, "rev-parse", "--path-format=absolute", "--is-shallow-repository", "--git-path", "objects")
	if err != nil {
		return "", fmt.Errorf("look for the clone: %w", err)
	}
	shallow, objects, _ := strings.Cut(strings.TrimRight(string(out), "\r\n"), "\n")
	if strings.TrimSpace(shallow) != "false" {
		return "", errors.New("it is a shallow clone, which lacks the history: run git fetch --unshallow in it")
	}
	return objects, nil
}
