package forge

import (
	"context"
	"errors"
	"slices"
)

// long are the threads of which a page only has the newest comments.
func (n *pullRequestNode) long() []threadNode {
	return slices.DeleteFunc(slices.Clone(n.ReviewThreads.Nodes), func(t threadNode) bool { return !t.Comments.PageInfo.HasPreviousPage })
}

// restOf reads the missing comments of long threads, within a number of pages for all of them together. It
// names what exceeds that.
func (c *Client) restOf(ctx context.Context, pr *PullRequest, long []threadNode) (beyond string, err error) {
	pages := 0
	for _, t := range long {
		thread := &pr.Threads[slices.IndexFunc(pr.Threads, func(read Thread) bool { return read.ID == t.ID })]
		variables := map[string]any{"id": t.ID}
		for info := t.Comments.PageInfo; info.advance(variables, "before"); pages++ {
			if pages == snapshotPages {
				return "2,000 comments in long threads", nil
			}
			var data struct {
				Node *struct{ Comments connection[commentNode] }
			}
			if err := c.query(about(ctx, pr.Ref.Repo), threadQuery, variables, &data); err != nil {
				return "", err
			}
			if data.Node == nil {
				return "", errMoving
			}
			thread.Comments = slices.Concat(comments(data.Node.Comments, true), thread.Comments)
			info = data.Node.Comments.PageInfo
		}
	}
	return "", nil
}

// Revision is one version of the text of a comment or review.
type Revision struct {
	By   User   // who wrote it
	Text string // untrusted; empty if the version was deleted
}

// Revisions reads all versions of an edited comment or review of a repository, named by its Node, including
// the first one, in no particular order.
func (c *Client) Revisions(ctx context.Context, repo Repo, node string) ([]Revision, error) {
	const op = "read what an edited comment said before"
	variables := map[string]any{"id": node}
	var all []Revision
	for range snapshotPages {
		var data struct {
			Node *struct {
				UserContentEdits *connection[struct {
					Diff   string // despite its name, the whole text
					Editor *actorNode
				}]
			}
		}
		if err := c.query(about(ctx, repo), revisionsQuery, variables, &data); err != nil {
			return nil, c.failed(op, err)
		}
		if data.Node == nil {
			return nil, c.failed(op, c.missing())
		}
		if data.Node.UserContentEdits == nil {
			return all, nil
		}
		for _, edit := range data.Node.UserContentEdits.Nodes {
			all = append(all, Revision{By: edit.Editor.user(), Text: edit.Diff})
		}
		if !data.Node.UserContentEdits.PageInfo.advance(variables, "before") {
			return all, nil
		}
	}
	return nil, c.failed(op, errors.New("it was edited more often than this program reads: check it by hand"))
}
