package githubsim

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

func (c *call) listComments() reply {
	return ok(each(page(c, c.pull.comments), c.sim.renderComment))
}

// commentBody reads the text of a comment, and enforces its maximum length, as a step.
func (c *call) commentBody() string {
	var in struct{ Body string }
	c.decode(&in)
	if strings.TrimSpace(in.Body) == "" {
		fail(invalid("IssueComment", "body", "missing_field"))
	}
	if utf8.RuneCountInString(in.Body) > maxText {
		fail(invalid("IssueComment", "body", "too_long"))
	}
	return in.Body
}

func (c *call) createComment() reply {
	cm := &comment{text{author: c.user, body: c.commentBody(), created: c.sim.Now()}, c.sim.id(), c.pull}
	c.pull.comments = append(c.pull.comments, cm)
	c.pull.updated = c.sim.Now()
	c.emitComment(cm, "created", object{})
	return created(c.sim.renderComment(cm))
}

func (c *call) emitComment(cm *comment, action string, payload object) {
	payload["comment"], payload["issue"] = c.sim.renderComment(cm), c.sim.renderIssue(c.pull)
	c.sim.emit(c.repo, c.user, "issue_comment", action, payload)
}

// comment finds the comment that the path names, and its pull request.
func (c *call) comment() (cm *comment) {
	for _, p := range c.repo.pulls {
		if cm = find(p.comments, func(cm *comment) bool { return cm.id == c.id("comment") }); cm != nil {
			c.pull = p
			break
		}
	}
	return must(cm, errNotFound)
}

func (c *call) updateComment(cm *comment) reply {
	c.needWriteUnless(cm.author)
	before := cm.body
	cm.edit(c.user, c.sim.Now(), c.commentBody())
	c.emitComment(cm, "edited", object{"changes": object{"body": object{"from": before}}})
	return ok(c.sim.renderComment(cm))
}

func (c *call) deleteComment(cm *comment) reply {
	c.needWriteUnless(cm.author)
	c.pull.happened("CommentDeletedEvent", c.user, func(c *call) fields { return fields{"deletedCommentAuthor": c.actor(cm.author)} })
	c.pull.comments = slices.DeleteFunc(c.pull.comments, func(other *comment) bool { return other == cm })
	c.emitComment(cm, "deleted", object{})
	return noContent()
}

// renderIssue renders a pull request as the issue that it also is.
func (s *Sim) renderIssue(p *pull) object {
	pr := s.renderPull(p)
	self := s.api("/repos/%s/issues/%d", p.repo.fullName(), p.number)
	out := object{
		"url": self, "repository_url": s.api("/repos/%s", p.repo.fullName()), "labels_url": self + "/labels{/name}",
		"comments_url": self + "/comments", "events_url": self + "/events", "timeline_url": self + "/timeline",
		"comments": len(p.comments), "state_reason": nil, "performed_via_github_app": nil,
		"pull_request": object{"url": pr["url"], "html_url": pr["html_url"], "diff_url": pr["diff_url"],
			"patch_url": pr["patch_url"], "merged_at": pr["merged_at"]},
		"reactions": noReactions(self),
	}
	for _, name := range []string{"id", "node_id", "number", "html_url", "title", "user", "labels", "state", "locked", "assignee",
		"assignees", "milestone", "created_at", "updated_at", "closed_at", "author_association", "active_lock_reason", "draft", "body"} {
		out[name] = pr[name]
	}
	return out
}

func (c *call) renderLabels() reply {
	return ok(each(page(c, c.pull.labels), c.sim.renderLabel))
}

// labelNames reads {"labels": [...]} or a bare array, because clients send both.
func (c *call) labelNames() []string {
	var in struct{ Labels []string }
	if json.Unmarshal(c.body, &in.Labels) != nil {
		c.decode(&in)
	}
	return in.Labels
}

func (c *call) addLabels() reply {
	for _, name := range c.labelNames() {
		c.addLabel(name)
	}
	return c.renderLabels()
}

// label returns the repository's label of this name, and creates it if it does not exist.
func (c *call) label(name string) *label {
	l := c.repo.labels[strings.ToLower(name)]
	if l == nil {
		l = &label{id: c.sim.id(), repo: c.repo, name: name, color: "ededed"}
		c.repo.labels[strings.ToLower(name)] = l
	}
	return l
}

func (c *call) addLabel(name string) {
	l := c.label(name)
	if !slices.Contains(c.pull.labels, l) {
		c.pull.labels = append(c.pull.labels, l)
		c.relabeled(l, "LabeledEvent", "labeled")
	}
}

func (c *call) relabeled(l *label, kind, action string) {
	c.pull.happened(kind, c.user, func(*call) fields { return fields{"label": labelNode(l)} })
	c.sim.emitPull(c.ctx, c.pull, c.user, action, object{"label": c.sim.renderLabel(l)})
}

func (c *call) removeLabel() reply {
	l := c.repo.labels[strings.ToLower(c.r.PathValue("name"))]
	if l == nil || !slices.Contains(c.pull.labels, l) {
		return fail(refuse(http.StatusNotFound, "Label does not exist"))
	}
	c.pull.labels = slices.DeleteFunc(c.pull.labels, func(other *label) bool { return other == l })
	c.relabeled(l, "UnlabeledEvent", "unlabeled")
	return c.renderLabels()
}
