package forge

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/go-github/v66/github"

	"touchstone/worktree/lazyregexp"
)

// Merger merges, and deletes branches after a merge.
type Merger struct{ c *Client }

// NewMerger returns a Merger that acts as c's login.
func NewMerger(c *Client) *Merger { return &Merger{c} }

// SquashRequest says what to merge and the message of the one commit.
type SquashRequest struct {
	SHA   string // the head that was approved; GitHub refuses to merge any other
	Title string // first line of the commit message
	Body  string // the rest; empty means none
}

// SquashMerge merges the pull request as one commit and returns that commit. Its refusals are ErrHeadMoved,
// ErrBaseMoved, ErrNotMergeable and ErrApprovalRequired. After an ErrUnavailable, only the pull request
// itself shows whether the merge happened.
func (m *Merger) SquashMerge(ctx context.Context, ref Ref, req SquashRequest) (string, error) {
	op := "merge " + ref.String()
	if req.SHA == "" || req.Title == "" {
		return "", fmt.Errorf("%s: it needs the approved commit and a title", op)
	}
	options := &github.PullRequestOptions{CommitTitle: req.Title, SHA: req.SHA, MergeMethod: "squash", DontDefaultIfBlank: true}
	result, _, err := m.c.rest.PullRequests.Merge(ctx, ref.Owner, ref.Name, ref.Number, req.Body, options)
	if err != nil {
		return "", m.c.failed(op, err)
	}
	if !result.GetMerged() {
		return "", &Error{Op: op, Message: "GitHub did not merge: " + m.c.token.clean(result.GetMessage()), kind: ErrNotMergeable}
	}
	return result.GetSHA(), nil
}

// Enqueue puts a pull request, named by its PullRequest.ID, into the merge queue of its base, which merges it
// in its own way when its turn comes. It fails with ErrHeadMoved if its head is not sha, and with
// ErrNotMergeable if the base's rules are not met or there is no queue. After an ErrUnavailable, only the
// pull request itself shows whether it is in the queue.
func (m *Merger) Enqueue(ctx context.Context, id, sha string) error {
	const mutation = `mutation Enqueue($id: ID!, $sha: GitObjectID!) {
		enqueuePullRequest(input: {pullRequestId: $id, expectedHeadOid: $sha}) { mergeQueueEntry { position } }
	}`
	var data struct{}
	err := m.c.ask(ctx, mutation, map[string]any{"id": id, "sha": sha}, &data)
	// GitHub has no codes for these, and does not document the sentences.
	if refusal, ok := errors.AsType[*Error](err); ok && refusal.kind == nil && refusal.Status == 0 {
		refusal.kind = ErrNotMergeable
		if headMoved.MatchString(refusal.Message) {
			refusal.kind = ErrHeadMoved
		}
	}
	return m.c.failed("put the pull request into the merge queue", err)
}

// Dequeue takes a pull request, named by its PullRequest.ID, out of the merge queue. After an ErrUnavailable,
// only the pull request itself shows whether it is still there.
func (m *Merger) Dequeue(ctx context.Context, id string) error {
	const mutation = `mutation Dequeue($id: ID!) { dequeuePullRequest(input: {id: $id}) { clientMutationId } }`
	var data struct{}
	return m.c.failed("take the pull request out of the merge queue", m.c.ask(ctx, mutation, map[string]any{"id": id}, &data))
}

var headMoved = lazyregexp.New(`(?i)head (branch was modified|sha|oid)|expected ?head ?oid`)

// noCommit in place of a commit means that the branch is to be deleted.
const noCommit = "0000000000000000000000000000000000000000"

// DeleteBranch deletes a branch if it is still at sha. It is an error if the branch moved on or is gone, or
// if it is the base of another open pull request: GitHub would close that one, and it could not be reopened.
func (m *Merger) DeleteBranch(ctx context.Context, repo Repo, name, sha string) error {
	op := fmt.Sprintf("delete the branch %s of %s", name, repo)
	const query = `query Deletable($owner: String!, $name: String!, $branch: String!) { repository(owner: $owner, name: $name) {
		id pullRequests(baseRefName: $branch, states: [OPEN], first: 1) { nodes { number } }
	} }`
	variables := repo.variables()
	variables["branch"] = name
	found, err := readRepository[struct {
		ID           string
		PullRequests connection[struct{ Number int }]
	}](ctx, m.c, op, query, variables)
	if err != nil {
		return err
	}
	if above := found.PullRequests.Nodes; len(above) > 0 {
		return &Error{Op: op, Message: fmt.Sprintf("#%d has it as its base", above[0].Number),
			Remedy: "change the base of that pull request first, and delete this branch by hand"}
	}
	const mutation = `mutation DeleteBranch($repo: ID!, $ref: GitRefname!, $sha: GitObjectID!, $none: GitObjectID!) {
		updateRefs(input: {repositoryId: $repo, refUpdates: [{name: $ref, beforeOid: $sha, afterOid: $none}]}) { clientMutationId }
	}`
	variables = map[string]any{"repo": found.ID, "ref": "refs/heads/" + name, "sha": sha, "none": noCommit}
	return m.c.failed(op, m.c.ask(ctx, mutation, variables, &struct{}{}))
}
