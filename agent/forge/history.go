package forge

import (
	"context"
	"time"
)

// Past is what became of a pull request, including open ones: enough for counting, not for decisions.
type Past struct {
	Ref
	Author    User
	Open      bool
	CreatedAt time.Time
	ClosedAt  *time.Time // nil while open
	MergedAt  *time.Time // nil unless merged
	Labelled  []Labelling
	Reviews   []SubmittedReview // the last 60, oldest first
	Cut       bool              // there were more reviews than that
}

// History reads what became of the pull requests that changed since a time, the latest change first. It
// returns at most most of them, and more says that there are others.
func (c *Client) History(ctx context.Context, repo Repo, since time.Time, most int) (all []Past, more bool, err error) {
	op := "read what became of the pull requests of " + repo.String()
	for node, err := range readPulls[pastNode](ctx, c, op, historyQuery, repo) {
		switch {
		case err != nil:
			return nil, false, err
		case node.UpdatedAt.Before(since):
			return all, false, nil
		case len(all) == most:
			return all, true, nil
		}
		all = append(all, node.past(repo))
	}
	return all, false, nil
}

type pastNode struct {
	Number               int
	State                string
	CreatedAt, UpdatedAt time.Time
	ClosedAt, MergedAt   *time.Time
	Author               *actorNode
	TimelineItems        connection[labellingNode]
	Reviews              connection[reviewNode]
}

func (n pastNode) past(repo Repo) Past {
	return Past{
		Ref: Ref{Repo: repo, Number: n.Number}, Author: n.Author.user(), Open: n.State == "OPEN",
		CreatedAt: n.CreatedAt, ClosedAt: n.ClosedAt, MergedAt: n.MergedAt,
		Labelled: labellings(n.TimelineItems), Reviews: submitted(n.Reviews), Cut: n.Reviews.PageInfo.HasPreviousPage,
	}
}
