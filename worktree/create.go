package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/rs/zerolog"
)

// mirrorBase is the ref of the branch that a mirror was made with.
const mirrorBase = pullRefs + "mirror/base"

// createMirror makes the mirror with one branch and more refspecs in it. It is built
// beside its place and moved there when complete, so a mirror that exists is warm, and
// many pull requests of a new repository wait for one download instead of starting many.
func (s *Store) createMirror(ctx context.Context, h home, remote Remote, branch string, more ...string) (err error) {
	l, err := waitLock(ctx, h.lockPath("mirror"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.unlock()) }()
	if exists(h.mirror()) {
		return nil
	}
	tmp := filepath.Join(h.dir, "mirror.new")
	fresh := repo{bin: s.binary(), mirror: tmp, dir: tmp, lock: l, remote: &remote}
	if err := s.fill(ctx, fresh, h.name(), remote, append([]string{"+" + branch + ":" + mirrorBase}, more...)); err != nil {
		return err
	}
	return os.Rename(tmp, h.mirror())
}

// fill makes a mirror out of the user's clone, else whole, else, when that is wanted or
// it grows too large, without the content of files. Only the last of these may fail.
func (s *Store) fill(ctx context.Context, fresh repo, name string, remote Remote, refspecs []string) error {
	if clone := s.cloneOf(name); clone != "" {
		err := fresh.borrow(ctx, clone, remote, refspecs)
		if err == nil || ctx.Err() != nil || errors.Is(err, ErrHeadMoved) || errors.Is(err, ErrUnavailable) {
			return err
		}
		zerolog.Ctx(ctx).Warn().Err(err).Str("clone", clone).Msg("the clone cannot be borrowed from, so the repository is downloaded")
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

// begin makes an empty repository in place of what is left of an earlier attempt.
func (r repo) begin() error {
	if err := os.RemoveAll(r.mirror); err != nil {
		return err
	}
	for _, dir := range []string{"objects", "refs"} {
		if err := os.MkdirAll(filepath.Join(r.mirror, dir), 0o755); err != nil {
			return err
		}
	}
	// HEAD names a branch that never exists: no attributes are read from a bare
	// repository without a HEAD commit.
	return writeFile(filepath.Join(r.mirror, "HEAD"), "ref: refs/heads/none\n")
}

// cloneOf is where the user's clone of a repository lies, or "".
func (s *Store) cloneOf(name string) string {
	for repo, clone := range s.Clones {
		if strings.EqualFold(repo, name) {
			return clone
		}
	}
	return ""
}

// borrow fills an empty mirror from a clone of the user's and fetches what that lacks.
// The objects are copied in the end: the clone's owner, or a git gc there, may delete
// those that the clone does not need. Of the clone nothing but objects and the names of
// its commits is read, and nothing is written to it.
func (r repo) borrow(ctx context.Context, clone string, remote Remote, refspecs []string) error {
	if err := r.begin(); err != nil {
		return err
	}
	objects, err := r.objectsOf(ctx, clone)
	if err != nil {
		return err
	}
	// See https://git-scm.com/docs/gitrepository-layout.
	alternates := filepath.Join(r.mirror, "objects", "info", "alternates")
	if err := writeFile(alternates, filepath.ToSlash(objects)+"\n"); err != nil {
		return err
	}
	if err := r.fetch(ctx, remote, refspecs...); err != nil {
		return err
	}
	if err := r.run(ctx, call{args: []string{"repack", "--quiet", "-a", "-d"}}); err != nil {
		return fmt.Errorf("copy the objects: %w", err)
	}
	return os.Remove(alternates)
}

// objectsOf is the directory of a clone's objects.
func (r repo) objectsOf(ctx context.Context, clone string) (string, error) {
	cmd := exec.CommandContext(ctx, r.bin, "rev-parse", "--path-format=absolute", "--is-shallow-repository", "--git-path", "objects")
	cmd.Dir = clone
	cmd.Env = append(inherited(), isolation...)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return "", newGitError(call{args: cmd.Args[1:]}, exit.ExitCode(), exit.Stderr)
	}
	if err != nil {
		return "", fmt.Errorf("look for the clone: %w", err)
	}
	shallow, objects, _ := strings.Cut(strings.TrimRight(string(out), "\r\n"), "\n")
	if strings.TrimSpace(shallow) != "false" {
		return "", errors.New("it is a shallow clone, which lacks the history: run git fetch --unshallow in it")
	}
	return objects, nil
}
