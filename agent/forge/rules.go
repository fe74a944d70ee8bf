package forge

import (
	"context"

	_ "embed"
)

//go:embed rules.graphql
var rulesQuery string

// Rules are what a repository asks of a merge into its default branch. Those of rulesets
// are not among them, only branch protection's
// (https://docs.github.com/graphql/reference/objects#refupdaterule).
type Rules struct {
	Branch    string // the default branch; empty while the repository is
	Squash    bool   // squash merging is allowed
	Approvals int    // approving reviews that have to be there
}

// Rules reads what a repository asks of a merge. With that it reads the state of the
// default branch's checks, so that a token which may not is an ErrForbidden here already.
func (c *Client) Rules(ctx context.Context, repo Repo) (Rules, error) {
	op := "read what " + repo.String() + " asks of a merge"
	var data struct {
		Repository *struct {
			SquashMergeAllowed bool
			DefaultBranchRef   *struct {
				Name          string
				RefUpdateRule *struct{ RequiredApprovingReviewCount int }
			}
		}
	}
	if err := c.query(ctx, rulesQuery, map[string]any{"owner": repo.Owner, "name": repo.Name}, &data); err != nil {
		return Rules{}, c.failed(op, err)
	}
	if data.Repository == nil {
		return Rules{}, c.failed(op, c.missing())
	}
	rules := Rules{Squash: data.Repository.SquashMergeAllowed}
	if branch := data.Repository.DefaultBranchRef; branch != nil {
		rules.Branch = branch.Name
		if branch.RefUpdateRule != nil {
			rules.Approvals = branch.RefUpdateRule.RequiredApprovingReviewCount
		}
	}
	return rules, nil
}
