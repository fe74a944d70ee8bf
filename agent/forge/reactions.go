package forge

import (
	"context"
	"time"
)

// Reactions counts people's thumbs on a comment.
type Reactions struct{ Up, Down int }

// Reacted is a comment that started a thread, with the reactions to it.
type Reacted struct {
	Ref    Ref
	Author User
	Body   string
	Reactions
}

// Reactions reads the comments on lines with a thumb up or down, of at most most pull requests that changed
// since a time.
func (c *Client) Reactions(ctx context.Context, repo Repo, since time.Time, most int) (all []Reacted, err error) {
	op := "read the reactions to reviews of " + repo.String()
	seen := 0
	for node, err := range readPulls[reactedNode](ctx, c, op, reactionsQuery, repo) {
		if err != nil {
			return nil, err
		}
		if seen++; seen > most || node.UpdatedAt.Before(since) {
			break
		}
		all = append(all, node.reacted(repo)...)
	}
	return all, nil
}

type reactedNode struct {
	Number        int
	UpdatedAt     time.Time
	ReviewThreads connection[struct {
		Comments connection[struct {
			Author         *actorNode
			Body           string
			ReactionGroups []struct {
				Content  string
				Reactors struct{ TotalCount int }
			}
		}]
	}]
}

func (n reactedNode) reacted(repo Repo) (all []Reacted) {
	for _, thread := range n.ReviewThreads.Nodes {
		for _, comment := range thread.Comments.Nodes {
			r := Reacted{Ref: Ref{Repo: repo, Number: n.Number}, Author: comment.Author.user(), Body: comment.Body}
			for _, group := range comment.ReactionGroups {
				switch group.Content {
				case "THUMBS_UP":
					r.Up = group.Reactors.TotalCount
				case "THUMBS_DOWN":
					r.Down = group.Reactors.TotalCount
				}
			}
			if r.Reactions != (Reactions{}) {
				all = append(all, r)
			}
		}
	}
	return all
}
