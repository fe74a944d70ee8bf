package pull

import (
	"context"

	"touchstone/agent/forge"
	"touchstone/verdict"
)

// OrderReader reads what determines whether an order counts.
type OrderReader interface {
	Permission(ctx context.Context, repo forge.Repo, login string) (forge.Permission, error)
	Revisions(ctx context.Context, repo forge.Repo, node string) ([]forge.Revision, error)
	Writers(ctx context.Context, pr forge.PullRequest) ([]string, error)
}

// Source reads what some decisions need from GitHub in addition to a pull request.
type Source interface {
	OrderReader
	Contains(ctx context.Context, repo forge.Repo, descendant, ancestor string) (bool, error)
	RepositoryReader
	Commits(ctx context.Context, ref forge.Ref) ([]forge.Commit, error)
	ChecksOf(ctx context.Context, repo forge.Repo, sha string) ([]forge.Check, error)
	BaseChecks(ctx context.Context, repo forge.Repo, sha string) (forge.BaseChecks, error)
	RequiredChecks(ctx context.Context, repo forge.Repo, branch string) ([]string, error)
	StatusHistory(ctx context.Context, pr forge.PullRequest) ([]forge.Check, error)
}

// Knowledge is what a decision needs in addition to a pull request: facts from GitHub, and what its commits
// change in its base.
type Knowledge interface {
	Source
	Makes(ctx context.Context, pr forge.PullRequest, r verdict.Record) (bool, error)
}
