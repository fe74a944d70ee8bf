package forge

import (
	"context"
	"slices"
)

// Writers returns the logins of everybody who GitHub knows to have contributed to the present content of a
// pull request: who wrote, co-authored, committed or pushed one of its commits, and who force-pushed its
// head. An email address without an account has no login. More than 2,000 commits or entries of the branch's
// activity, or 50 authors of one commit, are an ErrUnreadable.
func (c *Client) Writers(ctx context.Context, pr PullRequest) ([]string, error) {
	op := "read who wrote " + pr.Ref.String()
	var all []string
	commits := map[string]bool{}
	add := func(user *actorNode) {
		if user != nil && user.Login != "" && !slices.Contains(all, user.Login) {
			all = append(all, user.Login)
		}
	}
	for _, push := range pr.HeadForced {
		add(&actorNode{Login: push.By.Login})
	}
	variables := pr.Ref.variables()
	for range snapshotPages {
		found, err := readPull[struct {
			Commits connection[struct{ Commit writtenNode }]
		}](ctx, c, op, writersQuery, variables)
		if err != nil {
			return nil, err
		}
		page := found.Commits
		for _, node := range page.Nodes {
			commits[node.Commit.Oid] = true
			if node.Commit.Authors.PageInfo.HasNextPage {
				return nil, c.failed(op, unreadable("one of its commits has more than 50 authors, which is more than the agents read"))
			}
			for _, author := range node.Commit.Authors.Nodes {
				add(author.User)
			}
			if node.Commit.Committer != nil {
				add(node.Commit.Committer.User)
			}
		}
		if page.PageInfo.advance(variables, "after") {
			continue
		}
		pushers, err := c.pushers(ctx, pr, commits)
		for _, login := range pushers {
			add(&actorNode{Login: login})
		}
		return all, err
	}
	return nil, c.failed(op, unreadable("it has more than 2,000 commits, which is more than the agents read"))
}

type writtenNode struct {
	Oid       string
	Authors   connection[struct{ User *actorNode }]
	Committer *struct{ User *actorNode }
}
