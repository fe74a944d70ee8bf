package main

import (
	"context"
	"errors"
	"strings"

	"touchstone/agent/clone"
	"touchstone/agent/forge"
	"touchstone/guidelines"
)

// committedSince reads what is committed on HEAD of the clone in the current
// directory since it left base, and the repository's own guideline documents as
// they are on base.
func committedSince(ctx context.Context, base string) (change guidelines.Change, own map[string]string, err error) {
	c, err := clone.Open(ctx)
	if err != nil {
		return change, nil, err
	}
	b, err := c.Borrow(ctx, "", base, clone.Committed)
	if err != nil {
		return change, nil, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	var pr forge.PullRequest
	pr.Base.SHA, pr.Head.Name = b.Base, b.Branch
	if commits, err := b.Log(ctx); err == nil && len(commits) == 1 { // which is what GitHub makes the title
		pr.Title, _, _ = strings.Cut(commits[0], "\n")
	}
	return changeOf(ctx, pr, b)
}
