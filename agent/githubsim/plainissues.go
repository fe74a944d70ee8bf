package githubsim

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"touchstone/agent/githubsim/graphql"
)

// createIssue opens an issue that is not a pull request. Both share one sequence of numbers.
func (c *call) createIssue() reply {
	var in struct {
		Title, Body string
		Labels      []string
	}
	c.decode(&in)
	if strings.TrimSpace(in.Title) == "" {
		return fail(invalid("Issue", "title", "missing_field"))
	}
	c.repo.lastNumber++
	i := &issue{id: c.sim.id(), repo: c.repo, number: c.repo.lastNumber, title: in.Title, body: in.Body, author: c.user, created: c.sim.Now()}
	for _, name := range in.Labels {
		i.labels = append(i.labels, c.label(name))
	}
	c.repo.issues[i.number] = i
	c.sim.emit(c.repo, c.user, "issues", "opened", object{"issue": c.renderPlainIssue(i)})
	return created(c.renderPlainIssue(i))
}

func (c *call) renderPlainIssue(i *issue) object {
	self := c.sim.api("/repos/%s/issues/%d", c.repo.fullName(), i.number)
	return object{
		"id": i.id, "node_id": nodeID("I", i.id), "number": i.number, "title": i.title, "body": orNull(i.body), "state": "open",
		"state_reason": nil, "user": c.sim.renderUser(i.author), "assignee": nil, "assignees": []object{}, "milestone": nil,
		"labels": each(i.labels, c.sim.renderLabel), "locked": false,
		"active_lock_reason": nil, "comments": 0, "created_at": stamp(i.created), "updated_at": stamp(i.created), "closed_at": nil,
		"author_association": c.repo.association(i.author), "performed_via_github_app": nil, "reactions": noReactions(self),
		"html_url": fmt.Sprintf("%s/%s/issues/%d", c.sim.url, c.repo.fullName(), i.number), "url": self,
		"repository_url": c.sim.api("/repos/%s", c.repo.fullName()), "labels_url": self + "/labels{/name}",
		"comments_url": self + "/comments", "events_url": self + "/events", "timeline_url": self + "/timeline",
	}
}

// closing matches the references to issues that a description closes.
// https://docs.github.com/en/issues/tracking-your-work-with-issues/using-issues/linking-a-pull-request-to-an-issue
var closing = regexp.MustCompile(`(?i)\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):? #([0-9]+)\b`)

// closes returns the issues that merging p would close, the oldest first.
func (p *pull) closes() []*issue {
	var out []*issue
	for _, match := range closing.FindAllStringSubmatch(p.body, -1) {
		number, err := strconv.Atoi(match[1])
		if i := p.repo.issues[number]; err == nil && i != nil && !slices.Contains(out, i) {
			out = append(out, i)
		}
	}
	slices.SortFunc(out, func(a, b *issue) int { return cmp.Compare(a.number, b.number) })
	return out
}

func (c *call) issueNode(i *issue) node {
	return &graphql.Object{Type: "Issue", Fields: fields{
		"id": nodeID("I", i.id), "databaseId": i.id, "number": i.number, "title": i.title, "body": i.body, "state": "OPEN",
		"url":        fmt.Sprintf("%s/%s/issues/%d", c.sim.url, i.repo.fullName(), i.number),
		"repository": field(func() any { return c.repoNode(i.repo) }), "author": c.actor(i.author),
		"labels": graphql.Connection("LabelConnection", each(i.labels, labelNode)),
	}}
}

func labelNode(l *label) node {
	return &graphql.Object{Type: "Label", Fields: fields{"id": nodeID("LA", l.id), "name": l.name, "color": l.color}}
}
