package pull

import (
	"context"
	"fmt"

	"touchstone/agent/forge"
	"touchstone/worktree"
)

// Remote returns the clone URL of a repository, and the Authorization header for git.
type Remote func(context.Context, forge.Repo) (url, authorization string, err error)

// Request names the commits of a pull request for git, for the worktree of a role.
func (r Remote) Request(ctx context.Context, pr forge.PullRequest, role string) (worktree.Request, error) {
	url, authorization, err := r(ctx, pr.Ref.Repo)
	return worktree.Request{
		Remote: worktree.Remote{URL: url, Authorization: authorization},
		Repo:   pr.Ref.Repo.String(), Number: pr.Ref.Number, Role: role,
		Head: pr.Head.SHA, HeadRef: fmt.Sprintf("refs/pull/%d/head", pr.Ref.Number),
		Base: pr.Base.SHA, BaseRef: "refs/heads/" + pr.Base.Name,
	}, err
}
