// Package merger owns the one line that can merge a pull request. It reads the
// pull request once more, has the decision made once more, and merges only the
// very commit that was decided on.
package merger

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"touchstone/agent/forge"
	"touchstone/verdict"
)

// Reader reads a pull request's present state.
type Reader interface {
	PullRequest(ctx context.Context, ref forge.Ref) (forge.PullRequest, error)
}

// Squasher merges a pull request if its head is still the given commit.
type Squasher interface {
	Squash(ctx context.Context, ref forge.Ref, r forge.SquashRequest) (mergeSHA string, err error)
}

// Merger merges pull requests.
type Merger struct {
	Read Reader
	Act  Squasher
	// Decide says what the pull request, as read a moment ago, needs.
	Decide func(context.Context, forge.PullRequest) (verdict.Action, error)
}

// ErrOvertaken says that the pull request, read afresh, is no longer to be
// merged, or not at this commit. Nothing was done.
var ErrOvertaken = errors.New("the pull request is no longer ready to merge")

// Merge squash-merges ref at head and returns the merge commit.
func (m *Merger) Merge(ctx context.Context, ref forge.Ref, head string) (string, error) {
	pr, err := m.Read.PullRequest(ctx, ref)
	if err != nil {
		return "", fmt.Errorf("look at the pull request again before merging: %w", err)
	}
	action, err := m.Decide(ctx, pr)
	if err != nil {
		return "", fmt.Errorf("decide on the pull request again before merging: %w", err)
	}
	if action.Kind != verdict.Merge || action.SHA != head {
		return "", fmt.Errorf("%w: %s", ErrOvertaken, action.Reason)
	}
	sha, err := m.Act.Squash(ctx, ref, forge.SquashRequest{SHA: head, Title: title(pr), Body: strings.TrimSpace(pr.Body)})
	if errors.Is(err, forge.ErrHeadMoved) || errors.Is(err, forge.ErrBaseMoved) {
		return "", fmt.Errorf("%w: %w", ErrOvertaken, err)
	}
	if err != nil {
		return "", fmt.Errorf("merge: %w", err)
	}
	return sha, nil
}

// title is the squash commit's first line, in GitHub's own form.
func title(pr forge.PullRequest) string {
	return fmt.Sprintf("%s (#%d)", strings.TrimSpace(pr.Title), pr.Ref.Number)
}
