package forge

import (
	"time"

	"touchstone/verdict"
)

type reviewNode struct {
	ID                        string
	FullDatabaseID            bigInt
	Author                    *actorNode
	AuthorCanPushToRepository bool
	State, Body               string
	SubmittedAt               *time.Time
	LastEditedAt              *time.Time
	Editor                    *actorNode
	Commit                    *oidNode
	URL                       string
}

func submitted(reviews connection[reviewNode]) []SubmittedReview {
	var all []SubmittedReview
	for _, r := range reviews.Nodes {
		if r.State == "PENDING" || r.SubmittedAt == nil {
			continue // only its author can see it, and has not submitted it yet
		}
		all = append(all, SubmittedReview{
			ID: int64(r.FullDatabaseID), Author: r.Author.user(), ByPerson: r.Author.person(), CanPush: r.AuthorCanPushToRepository,
			State: r.State, Body: r.Body, SubmittedAt: *r.SubmittedAt, EditedAt: r.LastEditedAt, EditedBy: editor(r.LastEditedAt, r.Editor),
			Node: r.ID, URL: r.URL, SHA: r.Commit.sha(),
		})
	}
	return all
}

type commentNode struct {
	ID                string
	FullDatabaseID    bigInt
	Author            *actorNode
	AuthorAssociation string
	Body              string
	CreatedAt         time.Time
	LastEditedAt      *time.Time
	Editor            *actorNode
	URL               string
}

// editor is the last editor, zero if it was never edited.
func editor(at *time.Time, by *actorNode) User {
	if at == nil {
		return User{}
	}
	return by.user()
}

func comments(nodes connection[commentNode], inReview bool) []Comment {
	var all []Comment
	for _, c := range nodes.Nodes {
		all = append(all, c.comment(inReview))
	}
	return all
}

func (c commentNode) comment(inReview bool) Comment {
	return Comment{
		ID: int64(c.FullDatabaseID), Author: c.Author.user(), ByPerson: c.Author.person(), InReview: inReview, Association: c.AuthorAssociation,
		Body: c.Body, CreatedAt: c.CreatedAt, EditedAt: c.LastEditedAt, EditedBy: editor(c.LastEditedAt, c.Editor), Node: c.ID, URL: c.URL,
	}
}

type threadNode struct {
	ID         string
	IsResolved bool
	ResolvedBy *actorNode
	Comments   connection[commentNode]
}

func (n *pullRequestNode) threads() []Thread {
	var all []Thread
	for _, t := range n.ReviewThreads.Nodes {
		thread := Thread{ID: t.ID, Resolved: t.IsResolved, Comments: comments(t.Comments, true)}
		if t.IsResolved {
			thread.ResolvedBy = t.ResolvedBy.user()
		}
		all = append(all, thread)
	}
	return all
}

type labellingNode struct {
	Typename  string `json:"__typename"`
	Actor     *actorNode
	Label     struct{ Name string }
	CreatedAt time.Time
}

func labellings(events connection[labellingNode]) []Labelling {
	var all []Labelling
	for _, e := range events.Nodes {
		all = append(all, Labelling{Label: e.Label.Name, Added: e.Typename == "LabeledEvent", By: e.Actor.user(), At: e.CreatedAt})
	}
	return all
}

type issueNode struct {
	Number      int
	Title, Body string
	Labels      connection[struct{ Name string }]
}

// issues leaves out those that the token cannot see, which are null.
func (n *pullRequestNode) issues() []Issue {
	var all []Issue
	for _, i := range n.ClosingIssuesReferences.Nodes {
		if i == nil {
			continue
		}
		issue := Issue{Number: i.Number, Title: i.Title, Body: i.Body}
		for _, label := range i.Labels.Nodes {
			issue.Labels = append(issue.Labels, label.Name)
		}
		all = append(all, issue)
	}
	return all
}

// Insider reports whether GitHub says that the comment's author belongs to the repository, which does not
// prove what they may do there.
func (c Comment) Insider() bool {
	return c.Association == "OWNER" || c.Association == "MEMBER" || c.Association == "COLLABORATOR"
}

// MayOrder reports whether a comment can be an order if its author has the permission p. For an insider whose
// permission cannot be seen, only an order to stop counts, or one that cannot be followed: neither does any
// harm.
func (c Comment) MayOrder(p Permission) bool {
	if p != Unseen {
		return p.CanWrite()
	}
	order, clear := verdict.ParseCommand(c.Body)
	return c.Insider() && (!clear || order.Verb == verdict.Stop)
}
