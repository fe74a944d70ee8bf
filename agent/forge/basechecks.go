package forge

import (
	"context"
	"slices"
)

// BaseChecks are the checks that reported on a branch recently: on its last ten commits, and on the heads of
// the pull requests that these commits came from.
type BaseChecks struct {
	// Sources are the sources of all these checks, as in [Check.Source].
	Sources map[string]bool
	// Expected are the checks that passed or failed on the head of the newest of those pull requests or, if
	// there is none, on the newest commit that has any.
	Expected []Check
}

// BaseChecks reads which checks reported on a branch whose tip is sha. It leaves out what a pull request's
// own author reported on it. Of a commit with more than 100 checks it takes the first 100.
func (c *Client) BaseChecks(ctx context.Context, repo Repo, sha string) (BaseChecks, error) {
	op := "read which checks report on " + repo.String()
	variables := repo.variables()
	variables["oid"] = sha
	found, err := readRepository[struct {
		Object *struct{ History connection[baseCommitNode] }
	}](ctx, c, op, baseChecksQuery, variables)
	if err == nil && found.Object == nil {
		err = c.failed(op, c.missing())
	}
	if err != nil {
		return BaseChecks{}, err
	}
	all := BaseChecks{Sources: map[string]bool{}}
	var onCommit []Check
	for _, commit := range found.Object.History.Nodes {
		direct := ended(current(commit.checks()), "")
		if len(onCommit) == 0 {
			onCommit = direct
		}
		all.add(direct)
		for _, pull := range commit.AssociatedPullRequests.Nodes {
			if pull == nil || pull.MergeCommit.sha() != commit.Oid {
				continue
			}
			for _, head := range pull.Commits.Nodes {
				reported := ended(current(head.Commit.checks()), pull.Author.user().Login)
				if len(all.Expected) == 0 {
					all.Expected = reported
				}
				all.add(reported)
			}
		}
	}
	if len(all.Expected) == 0 {
		all.Expected = onCommit
	}
	return all, nil
}

func (b *BaseChecks) add(checks []Check) {
	for _, c := range checks {
		if c.Kind == CheckRun || c.By.ID != 0 { // a deleted account proves nothing
			b.Sources[c.Source()] = true
		}
	}
}

// ended are the checks that passed or failed, except the author's own.
func ended(checks []Check, author string) []Check {
	return slices.DeleteFunc(checks, func(c Check) bool {
		return c.State != CheckSuccess && c.State != CheckFailure || c.Kind == Status && c.By.Login == author
	})
}

type baseCommitNode struct {
	commitNode
	AssociatedPullRequests connection[*struct {
		Author      *actorNode
		MergeCommit *oidNode
		Commits     connection[struct{ Commit commitNode }]
	}]
}
