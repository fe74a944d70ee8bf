package forge

import (
	"context"
	"time"
)

// closing is the longest time that GitHub may take to close a pull request whose base branch was deleted. In
// its timeline, both events are within a second.
const closing = 10 * time.Second

// endNodes are the last deletions of the base branch, closings and reopenings of a pull request, oldest
// first.
type endNodes connection[struct {
	Typename  string `json:"__typename"`
	CreatedAt time.Time
}]

// orphaned is when GitHub closed a pull request because its base branch was deleted; people cannot close it
// after that. It is zero if a person closed it.
func (e endNodes) orphaned() time.Time {
	if len(e.Nodes) < 2 {
		return time.Time{}
	}
	deleted, closed := e.Nodes[len(e.Nodes)-2], e.Nodes[len(e.Nodes)-1]
	if deleted.Typename != "BaseRefDeletedEvent" || closed.Typename != "ClosedEvent" || closed.CreatedAt.Sub(deleted.CreatedAt) > closing {
		return time.Time{}
	}
	return closed.CreatedAt
}

// Orphans are the numbers of the pull requests that GitHub closed because their base branch was deleted,
// among the 20 closed pull requests that changed last.
func (c *Client) Orphans(ctx context.Context, repo Repo) ([]int, error) {
	op := "list the pull requests of " + repo.String() + " that lost their base"
	found, err := readRepository[struct {
		PullRequests connection[struct {
			Number int
			Ends   endNodes
		}]
	}](ctx, c, op, orphansQuery, repo.variables())
	if err != nil {
		return nil, err
	}
	var all []int
	for _, p := range found.PullRequests.Nodes {
		if !p.Ends.orphaned().IsZero() {
			all = append(all, p.Number)
		}
	}
	return all, nil
}
