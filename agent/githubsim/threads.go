package githubsim

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"touchstone/agent/githubsim/graphql"
	"touchstone/worktree/steps"
)

// root is the comment that began the thread.
func (th *thread) root() *reviewComment { return th.comments[0] }

func (th *thread) pull() *pull { return th.root().review.pull }

// visibleThreads leaves out the threads of other people's pending reviews.
func (c *call) visibleThreads(p *pull) []*thread {
	return slices.DeleteFunc(slices.Clone(p.threads), func(th *thread) bool {
		rv := th.root().review
		return rv.state == "PENDING" && rv.author != c.user
	})
}

// createReply adds a reply to a thread. Like GitHub it wraps the reply in a review of its own.
// https://docs.github.com/en/rest/pulls/comments#create-a-reply-for-a-review-comment
func (c *call) createReply() reply {
	var in struct{ Body string }
	c.decode(&in)
	if strings.TrimSpace(in.Body) == "" {
		return fail(textRefusal("Body is required"))
	}
	for _, th := range c.visibleThreads(c.pull) {
		root := th.root()
		if root.id != c.id("comment") {
			continue
		}
		rv := &review{text: text{author: c.user, created: c.sim.Now()}, id: c.sim.id(), pull: c.pull, commit: root.commit}
		rc := *root
		rc.id, rc.author, rc.body, rc.created, rc.review, rc.replyTo = c.sim.id(), c.user, in.Body, c.sim.Now(), rv, root
		rc.reactions = nil // they are the root's
		rv.comments, th.comments = append(rv.comments, &rc), append(th.comments, &rc)
		c.pull.reviews = append(c.pull.reviews, rv)
		c.submit(rv, "COMMENT")
		return created(c.sim.renderReviewComment(&rc))
	}
	return fail(errNotFound)
}

// threadNode renders a thread. The thread counts as outdated as soon as the head is not the reviewed commit;
// GitHub compares the lines instead.
func (c *call) threadNode(th *thread) node {
	root, p := th.root(), th.pull()
	outdated, line := root.commit != p.headSHA, any(root.line)
	if outdated {
		line = nil
	}
	return &graphql.Object{Type: "PullRequestReviewThread", Fields: fields{
		"id": nodeID("PRRT", th.id), "isResolved": th.resolvedBy != nil, "isOutdated": outdated, "isCollapsed": th.resolvedBy != nil,
		"resolvedBy": c.userNode(th.resolvedBy, "User"), "path": root.path, "line": line, "originalLine": root.line, "diffSide": root.side,
		"subjectType": "LINE", "pullRequest": field(func() any { return c.pullNode(p) }),
		"comments": graphql.Connection("PullRequestReviewCommentConnection", each(th.comments, c.reviewCommentNode)),
	}}
}

func (c *call) reviewCommentNode(rc *reviewComment) node {
	p := rc.review.pull
	return &graphql.Object{Type: "PullRequestReviewComment", Fields: fields{
		"id": nodeID("PRRC", rc.id), "databaseId": rc.id, "fullDatabaseId": idText(rc.id), "author": c.actor(rc.author),
		"authorAssociation": p.repo.association(rc.author), "body": rc.body, "path": rc.path, "line": rc.line,
		"diffHunk": rc.hunk, "createdAt": stamp(rc.created), "lastEditedAt": nil, "editor": nil,
		"url":               fmt.Sprintf("%s/%s/pull/%d#discussion_r%d", c.sim.url, p.repo.fullName(), p.number, rc.id),
		"pullRequestReview": field(func() any { return c.reviewNode(rc.review) }),
		"reactionGroups":    c.reactionGroups(rc),
	}}
}

// reactionGroups returns the reactions to a comment, grouped by content.
func (c *call) reactionGroups(rc *reviewComment) []node {
	var groups []node
	for _, content := range slices.Sorted(maps.Keys(rc.reactions)) {
		groups = append(groups, &graphql.Object{Type: "ReactionGroup", Fields: fields{
			"content": content, "reactors": graphql.Connection("ReactorConnection",
				each(rc.reactions[content], c.actor)),
		}})
	}
	return groups
}

// React adds a login's reaction to a comment on a line, by its id: THUMBS_UP, THUMBS_DOWN and the like.
func (s *Sim) React(login, repository string, id int64, content string) error {
	return s.do(func() {
		by := s.account(login)
		for _, p := range s.repo(repository).pulls {
			for _, th := range p.threads {
				if rc := find(th.comments, func(rc *reviewComment) bool { return rc.id == id }); rc != nil {
					if rc.reactions == nil {
						rc.reactions = map[string][]*account{}
					}
					rc.reactions[content] = append(rc.reactions[content], by)
					return
				}
			}
		}
		steps.Fail("no comment %d on a line of %s", id, repository)
	})
}

// resolveMutation resolves a thread, or reopens it if by is nil.
func (c *call) resolveMutation(action string, by *account) func(args) fields {
	return func(input args) fields {
		id := input.Text("threadId")
		th := must(c.threadByID(id), noNode(id))
		p := th.pull()
		if p.author != c.user && !p.repo.canWrite(c.user) {
			fail(c.forbidden())
		}
		if (th.resolvedBy != nil) != (by != nil) {
			th.resolvedBy, p.updated = by, c.sim.Now()
			c.sim.emit(p.repo, c.user, "pull_request_review_thread", action, object{
				"pull_request": c.sim.renderPull(p),
				"thread":       object{"node_id": nodeID("PRRT", th.id), "comments": each(th.comments, c.sim.renderReviewComment)},
			})
		}
		return fields{"thread": c.threadNode(th)}
	}
}

func (c *call) threadByID(id string) *thread {
	for p := range c.visiblePulls() {
		if th := find(c.visibleThreads(p), func(th *thread) bool { return nodeID("PRRT", th.id) == id }); th != nil {
			return th
		}
	}
	return nil
}
