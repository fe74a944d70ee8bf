package arena

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"touchstone/agent/forge"
	"touchstone/worktree/steps"
)

// Subject is a pull request, or a repository that has none yet, with what people do to it and see of it. Its
// methods are steps: what GitHub refuses ends the row of them.
type Subject struct {
	Ctx context.Context
	Ref forge.Ref
	// Called, if set, hears of each call of the API before it is made.
	Called func(login, method, path string, body any)

	arena *Arena
}

// Subject returns the repository of this name, without a pull request.
func (a *Arena) Subject(ctx context.Context, name string) Subject {
	return Subject{Ctx: ctx, Ref: forge.Ref{Repo: forge.Repo{Owner: Owner, Name: name}}, arena: a}
}

// Call calls the REST API below the repository. Its user agent differs from the agents'.
func (s *Subject) Call(login, method, path string, body, answer any) {
	if s.Called != nil {
		s.Called(login, method, path, body)
	}
	steps.Must(s.arena.send(s.Ctx, login, method, fmt.Sprintf("/api/v3/repos/%s/%s", s.Ref.Repo, path), body, answer))
}

// pull and issue return paths below the pull request, and below the issue that it is for GitHub.
func (s *Subject) pull(path string) string { return fmt.Sprintf("pulls/%d%s", s.Ref.Number, path) }

func (s *Subject) issue(path string) string { return fmt.Sprintf("issues/%d%s", s.Ref.Number, path) }

// Open opens the author's pull request of a branch.
func (s *Subject) Open(title, body, head, base string) {
	var made struct{ Number int }
	s.Call(Author, http.MethodPost, "pulls", map[string]any{"title": title, "body": body, "head": head, "base": base}, &made)
	s.Ref.Number = made.Number
}

// Pull is the current state of a pull request.
type Pull struct {
	ID     int64
	NodeID string `json:"node_id"`
	State  string
	Merged bool
	Base   struct{ Ref, SHA string }
	Head   struct{ Ref, SHA string }
	Labels []struct{ Name string }

	MergeCommitSHA string `json:"merge_commit_sha"`
}

// Labelled reports whether the pull request has a label.
func (p Pull) Labelled(name string) bool {
	return slices.ContainsFunc(p.Labels, func(l struct{ Name string }) bool { return l.Name == name })
}

// Pull reads the pull request.
func (s *Subject) Pull() (p Pull) {
	s.Call(Owner, http.MethodGet, s.pull(""), nil, &p)
	return p
}

// Post is a review or a comment, as GitHub returns it.
type Post struct {
	ID   int64
	User struct{ Login string }
	Body string

	// Only a review has these.
	State       string
	CommitID    string    `json:"commit_id"`
	SubmittedAt time.Time `json:"submitted_at"`
}

// Reviews returns the submitted reviews, oldest first.
func (s *Subject) Reviews() []Post { return s.posts(s.pull("/reviews")) }

// Remarks returns the comments on lines, oldest first.
func (s *Subject) Remarks() []Post { return s.posts(s.pull("/comments")) }

// Comments returns the comments on the conversation, oldest first.
func (s *Subject) Comments() []Post { return s.posts(s.issue("/comments")) }

func (s *Subject) posts(path string) (all []Post) {
	s.Call(Owner, http.MethodGet, path+"?per_page=100", nil, &all)
	return all
}

// post posts a text, and returns its id.
func (s *Subject) post(login, path string, body map[string]any) int64 {
	var made Post
	s.Call(login, http.MethodPost, path, body, &made)
	return made.ID
}

// Comment comments on the conversation.
func (s *Subject) Comment(login, text string) (id int64) {
	return s.post(login, s.issue("/comments"), map[string]any{"body": text})
}

// Submit submits a review of the head with an event of GitHub's, such as APPROVE.
func (s *Subject) Submit(login, event, text string) (id int64) {
	return s.post(login, s.pull("/reviews"), map[string]any{"event": event, "body": text})
}

// Remark comments on a line of the change.
func (s *Subject) Remark(login, path string, line int, text string) {
	s.post(login, s.pull("/reviews"), map[string]any{
		"event": "COMMENT", "body": "A remark.", "comments": []any{map[string]any{"path": path, "line": line, "body": text}},
	})
}

// Reply replies to a comment on a line.
func (s *Subject) Reply(login string, to int64, text string) {
	s.post(login, s.pull(fmt.Sprintf("/comments/%d/replies", to)), map[string]any{"body": text})
}

// EditReview replaces the text of a review.
func (s *Subject) EditReview(login string, id int64, text string) {
	s.Call(login, http.MethodPut, s.pull(fmt.Sprintf("/reviews/%d", id)), map[string]any{"body": text}, nil)
}

// Dismiss dismisses a review.
func (s *Subject) Dismiss(login string, id int64, why string) {
	s.Call(login, http.MethodPut, s.pull(fmt.Sprintf("/reviews/%d/dismissals", id)), map[string]any{"message": why}, nil)
}

// Edit changes fields of the pull request, such as its title, its state or its base.
func (s *Subject) Edit(login string, change map[string]any) {
	s.Call(login, http.MethodPatch, s.pull(""), change, nil)
}

// Label adds a label.
func (s *Subject) Label(login, name string) {
	s.Call(login, http.MethodPost, s.issue("/labels"), []string{name}, nil)
}

// Unlabel removes a label that is there.
func (s *Subject) Unlabel(login, name string) {
	s.Call(login, http.MethodDelete, s.issue("/labels/"+name), nil, nil)
}

// Merge merges the pull request by hand, as a squash.
func (s *Subject) Merge(login string) {
	s.Call(login, http.MethodPut, s.pull("/merge"), map[string]any{"merge_method": "squash"}, nil)
}

// Status writes a commit status.
func (s *Subject) Status(login, sha, state, context, text string) {
	s.Call(login, http.MethodPost, "statuses/"+sha, map[string]any{"state": state, "context": context, "description": text}, nil)
}

// Move moves a branch to a commit by force.
func (s *Subject) Move(login, branch, sha string) {
	s.Call(login, http.MethodPatch, "git/refs/heads/"+branch, map[string]any{"sha": sha, "force": true}, nil)
}

// Delete deletes a branch, like git and the API.
func (s *Subject) Delete(login, branch string) {
	s.Call(login, http.MethodDelete, "git/refs/heads/"+branch, nil, nil)
}
