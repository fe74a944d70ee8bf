package githubsim

import (
	"fmt"

	"touchstone/agent/githubsim/graphql"
)

// nodeByID finds a pull request, one of its threads, or one of its comments or reviews.
func (c *call) nodeByID(id string) node {
	if p := c.pullByID(id); p != nil {
		return c.pullNode(p)
	}
	if th := c.threadByID(id); th != nil {
		return c.threadNode(th)
	}
	for _, r := range c.sim.repos {
		if r.permission(c.user) == "none" {
			continue
		}
		for _, p := range r.pulls {
			for _, cm := range p.comments {
				if nodeID("IC", cm.id) == id {
					return c.commentNode(cm)
				}
			}
			for _, rv := range p.reviews {
				if nodeID("PRR", rv.id) == id && (rv.state != "PENDING" || rv.author == c.user) {
					return c.reviewNode(rv)
				}
			}
		}
	}
	return nil
}

// editConnection lists the revisions of a text, the newest first.
func (c *call) editConnection(revisions []revision) graphql.Resolver {
	list := make([]node, len(revisions))
	for i, r := range revisions {
		list[len(list)-1-i] = &graphql.Object{Type: "UserContentEdit", Fields: fields{
			"id": fmt.Sprintf("UCE_%d_%d", r.by.id, r.at.UnixNano()), "diff": r.text, "editor": c.actor(r.by),
			"createdAt": stamp(r.at), "editedAt": stamp(r.at), "updatedAt": stamp(r.at), "deletedAt": nil, "deletedBy": nil,
		}}
	}
	return graphql.Connection("UserContentEditConnection", list)
}
