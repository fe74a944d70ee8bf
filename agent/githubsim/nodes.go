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
	for p := range c.visiblePulls() {
		if cm := find(p.comments, func(cm *comment) bool { return nodeID("IC", cm.id) == id }); cm != nil {
			return c.commentNode(cm)
		}
		if rv := find(c.visibleReviews(p), func(rv *review) bool { return nodeID("PRR", rv.id) == id }); rv != nil {
			return c.reviewNode(rv)
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
