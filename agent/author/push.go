package author

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"touchstone/agent/forge"
	"touchstone/verdict/decide"
	"touchstone/worktree"
)

// pushes bounds how often one fix is pushed: once, and again after each time that somebody merged the base
// into the branch meanwhile.
const pushes = 3

// pushTimeout bounds one push if the Author sets no other timeout.
const pushTimeout = 2 * time.Minute

// push pushes the fix to the branch as a fast-forward. Commits that came to the branch meanwhile stay: if
// they only merge the base, the fix is put on top of them, otherwise the fix is set aside.
func (r *repair) push(ctx context.Context, pr forge.PullRequest) error {
	begun := pr
	for try := 1; ; try++ {
		if err := r.wanted(ctx, begun); err != nil {
			return err
		}
		// An installation's token is valid for an hour, and that of the worktree is as old as the fix.
		_, authorization, err := r.author.Remote(ctx, pr.Ref.Repo)
		if err != nil {
			return fmt.Errorf("push the fix: %w", err)
		}
		r.tree.Renew(authorization)
		err = r.send(ctx, pr)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, worktree.ErrRejected) && try < pushes && r.kind == decide.Fix:
			if pr, err = r.catchUp(ctx, pr); err != nil {
				return err
			}
		case errors.Is(err, worktree.ErrRejected):
			return fmt.Errorf("%w: %w", ErrOvertaken, err)
		case errors.Is(err, worktree.ErrUnavailable), ctx.Err() != nil:
			return fmt.Errorf("push the fix: %w", err)
		default:
			return r.refused(ctx, pr, err)
		}
	}
}

// refused is the error of a push that GitHub rejected. If reading from GitHub fails too, for instance because
// the token expired, that is the reason.
func (r *repair) refused(ctx context.Context, pr forge.PullRequest, err error) error {
	if _, why := r.author.Read.PullRequest(ctx, pr.Ref); why != nil {
		return fmt.Errorf("push the fix: %w; and the pull request cannot be read again: %w", err, why)
	}
	return fmt.Errorf("%w: %w", ErrUnpushable, err)
}

// wanted checks whether the pull request still needs the fix, into the same base: people may have decided
// otherwise meanwhile.
func (r *repair) wanted(ctx context.Context, begun forge.PullRequest) error {
	now, err := r.author.Read.PullRequest(ctx, begun.Ref)
	if err != nil {
		return fmt.Errorf("look at the pull request again before pushing: %w", err)
	}
	why := ""
	switch {
	case !now.Open:
		why = "the pull request was closed"
	case now.Base.Name != begun.Base.Name:
		why = "its base branch is " + now.Base.Name + " now"
	case r.out.Merged && !now.BaseReplaced.Equal(begun.BaseReplaced):
		// Commits that were taken off the base must not come back with the merge.
		why = now.Base.Name + " was replaced by a force push"
	case r.author.Unwanted != nil:
		why, err = r.author.Unwanted(ctx, r.kind, begun, now)
	}
	if err == nil && why != "" {
		err = fmt.Errorf("%w: %s", ErrOvertaken, why)
	}
	return err
}

// send pushes once. The push cannot be cancelled: GitHub announces it before git ends here, and this agent
// must not take its own push for somebody else's.
func (r *repair) send(ctx context.Context, pr forge.PullRequest) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	most := cmp.Or(r.author.PushTimeout, pushTimeout)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), most)
	defer cancel()
	err := r.tree.Push(ctx, r.out.Head, pr.Head.Name, pr.Head.SHA)
	if err != nil && ctx.Err() != nil { // the network or GitHub is slow; the push was not rejected
		return fmt.Errorf("%w: the push did not finish within %s", worktree.ErrUnavailable, most)
	}
	return err
}

// catchUp puts the fix on top of the branch as it is now, and verifies the result. The pull request that it
// returns replaces the one that the fix was made for.
func (r *repair) catchUp(ctx context.Context, pr forge.PullRequest) (forge.PullRequest, error) {
	now, err := r.author.Read.PullRequest(ctx, pr.Ref)
	if err != nil {
		return now, fmt.Errorf("look at the pull request again: %w", err)
	}
	if !now.Open || now.Head.SHA == pr.Head.SHA || now.Head.Name != pr.Head.Name || now.Base.Name != pr.Base.Name {
		return now, ErrOvertaken
	}
	// Acquiring the worktree again sets aside what is in it.
	if err := r.release(); err != nil {
		return now, err
	}
	if r.tree, err = r.author.acquire(ctx, now); err != nil {
		return now, err
	}
	// Commits that were rebased or squashed away must not come back with the fix.
	kept, err := r.tree.Contains(ctx, pr.Head.SHA)
	only := false
	if err == nil && kept {
		only, err = r.tree.OnlyMergedBase(ctx, pr.Head.SHA)
	}
	if err != nil {
		return now, fmt.Errorf("read what was pushed meanwhile: %w", err)
	}
	if !only {
		return now, fmt.Errorf("%w: %.7s was pushed, which is more than a merge of its base; this fix is kept in the mirror as "+
			"%.7s", ErrOvertaken, now.Head.SHA, r.out.Head)
	}
	merge, err := r.tree.Merge(ctx, r.out.Head, mergeMessage(pr), r.author.Identity)
	if err != nil {
		return now, fmt.Errorf("put the fix on top of %.7s: %w", now.Head.SHA, err)
	}
	if len(merge.Conflicts) > 0 {
		return now, fmt.Errorf("%w: its base was merged into it, and this fix conflicts with that", ErrOvertaken)
	}
	r.out.Head, r.out.Merged = merge.Commit, true
	_, err = r.verified(ctx)
	return now, err
}

// mergeMessage is the message of a merge of the base. It uses git's own words, by which such a merge is told
// from work on the branch.
func mergeMessage(pr forge.PullRequest) string {
	return fmt.Sprintf("Merge branch '%s' into %s", pr.Base.Name, pr.Head.Name)
}

// acquire acquires the worktree of the branch at its head.
func (a *Author) acquire(ctx context.Context, pr forge.PullRequest) (*worktree.Tree, error) {
	request, err := a.request(ctx, pr)
	if err != nil {
		return nil, err
	}
	tree, err := a.Worktrees.Acquire(ctx, request)
	if errors.Is(err, worktree.ErrHeadMoved) {
		return nil, ErrOvertaken
	}
	if err != nil {
		return nil, fmt.Errorf("prepare the worktree: %w", err)
	}
	return tree, nil
}

// request is the request for the worktree of the branch at its head.
func (a *Author) request(ctx context.Context, pr forge.PullRequest) (worktree.Request, error) {
	request, err := a.Remote.Request(ctx, pr, string(decide.Author))
	request.HeadRef = "refs/heads/" + pr.Head.Name
	return request, err
}

// release releases the worktree, once.
func (r *repair) release() error {
	if r.tree == nil {
		return nil
	}
	tree := r.tree
	r.tree = nil
	return tree.Release()
}
