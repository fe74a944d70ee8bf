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
	if err := t.mayReplace(ctx, expectedOld, sha); err != nil {
		return fmt.Errorf("push to %s: %w", branch, err)
	}
	// The lease makes git compare the branch with expectedOld, unless the branch is at the commit already. It
	// would also make git force the push, but a commit that contains expectedOld is a fast-forward.
	out, err := t.mirror.OutputOf(ctx, gitcmd.Command{Remote: &t.req.Remote, Args: []string{"push", "--porcelain", "--no-verify",
		"--no-follow-tags", "--no-signed", "--force-with-lease=" + ref + ":" + expectedOld, "--end-of-options", t.req.Remote.URL,
		sha + ":" + ref}})
	if err != nil {
		return fmt.Errorf("push to %s: %w", branch, explainRejection(string(out), err))
	}
	return nil
}

// Renew replaces the authorization for the remote: that of Acquire may have expired while the tree was held.
func (t *Tree) Renew(authorization string) {
	t.req.Remote.Authorization = authorization
	remote := t.req.Remote
	t.mirror.Remote, t.git.Remote = &remote, &remote
}

// mayReplace makes sure that the pushed commit contains the commit that it replaces, if there is one.
func (t *Tree) mayReplace(ctx context.Context, expectedOld, sha string) error {
	if expectedOld == "" {
		return nil
	}
	contains, err := t.mirror.contains(ctx, sha, expectedOld)
	if err == nil && !contains {
		err = fmt.Errorf("%w: what is pushed does not contain %.12s, where the branch is", ErrRejected, expectedOld)
	}
	return err
}

// explainRejection finds in the output of git push --porcelain why the remote refused, and adds what the remote says:
// which rule, secret or file it is. Lost races are
// ErrRejected; a rule of the remote is not, because merging again would not help.
func explainRejection(out string, err error) error {
	for line := range strings.Lines(out) {
		if !strings.HasPrefix(line, "!\t") {
			continue
		}
		reason := strings.TrimSpace(line[strings.LastIndex(line, "\t")+1:])
		for _, race := range []string{"[rejected]", "failed to update ref", "cannot lock ref", "incorrect old value"} {
			if strings.Contains(reason, race) {
				return fmt.Errorf("%w: the branch changed since it was last read: %s", ErrRejected, reason)
			}
		}
		if said := gitcmd.RemoteSays(err); said != "" {
			reason += ": " + said
		}
		return errors.Join(fmt.Errorf("the remote refused: %s; check the protection of the branch and the token's permission to "+
			"push", reason), err)
	}
	return err
}
