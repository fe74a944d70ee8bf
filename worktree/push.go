package worktree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"touchstone/worktree/gitcmd"
)

// Push pushes a commit of the tree to a branch of the remote, as a fast-forward and never by force.
// expectedOld is the commit that the caller last saw there, or "" for a branch that is to be created. Push
// may be repeated after a failure: it succeeds if the remote is at the commit already.
//
// Errors: ErrRejected if the branch is at any commit other than expectedOld (also an older one to which it
// was reset), was deleted, or if the commit does not contain expectedOld; a sentence otherwise, also if the
// remote's own rules refuse the push.
func (t *Tree) Push(ctx context.Context, sha, branch, expectedOld string) error {
	ref := "refs/heads/" + branch
	if err := validateRef(ref); err != nil {
		return err
	}
	if err := checkSHAs(sha, cmp.Or(expectedOld, sha)); err != nil {
		return err
	}
	at, err := t.remoteRef(ctx, ref)
	if err != nil {
		return fmt.Errorf("push to %s: %w", branch, err)
	}
	if at == sha {
		return nil
	}
	if err := t.mayReplace(ctx, at, expectedOld, sha); err != nil {
		return fmt.Errorf("push to %s: %w", branch, err)
	}
	// The lease makes git compare the branch with expectedOld once more during the push. It would also make
	// git force the push, but a commit that contains expectedOld is a fast-forward.
	out, err := t.mirror.OutputOf(ctx, gitcmd.Command{Remote: &t.req.Remote, Args: []string{"push", "--porcelain", "--no-verify",
		"--no-follow-tags", "--no-signed", "--force-with-lease=" + ref + ":" + expectedOld, "--end-of-options", t.req.Remote.URL,
		sha + ":" + ref}})
	if err != nil {
		return fmt.Errorf("push to %s: %w", branch, explainRejection(string(out), err))
	}
	return nil
}

// remoteRef returns the commit to which a ref of the remote points, or "".
func (t *Tree) remoteRef(ctx context.Context, ref string) (string, error) {
	out, err := t.mirror.OutputOf(ctx, gitcmd.Command{Remote: &t.req.Remote,
		Args: []string{"ls-remote", "--end-of-options", t.req.Remote.URL, ref}})
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(out)) {
		if sha, name, _ := strings.Cut(strings.TrimSpace(line), "\t"); name == ref {
			return sha, nil
		}
	}
	return "", nil
}

// mayReplace compares the remote's present commit with the expected one, and makes sure that the pushed
// commit contains it.
func (t *Tree) mayReplace(ctx context.Context, at, expectedOld, sha string) error {
	switch {
	case at == "" && expectedOld == "":
		return nil
	case at == "":
		return fmt.Errorf("%w: the branch was deleted", ErrRejected)
	case expectedOld == "":
		return fmt.Errorf("%w: the branch already exists, at %.12s", ErrRejected, at)
	case at != expectedOld:
		return fmt.Errorf("%w: the branch is now at %.12s, but was expected at %.12s", ErrRejected, at, expectedOld)
	}
	contains, err := t.mirror.contains(ctx, sha, at)
	if err == nil && !contains {
		err = fmt.Errorf("%w: what is pushed does not contain %.12s, where the branch is", ErrRejected, at)
	}
	return err
}

// explainRejection finds in the output of git push --porcelain why the remote refused. Lost races are
// ErrRejected; a rule of the remote is not, because merging again would not help.
func explainRejection(out string, err error) error {
	for line := range strings.Lines(out) {
		if !strings.HasPrefix(line, "!\t") {
			continue
		}
		reason := strings.TrimSpace(line[strings.LastIndex(line, "\t")+1:])
		for _, race := range []string{"[rejected]", "failed to update ref", "cannot lock ref", "incorrect old value"} {
			if strings.Contains(reason, race) {
				return fmt.Errorf("%w: %s", ErrRejected, reason)
			}
		}
		return errors.Join(fmt.Errorf("the remote refused: %s; check the protection of the branch and the token's permission to "+
			"push", reason), err)
	}
	return err
}
