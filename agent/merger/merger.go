// Package merger owns the one line that can merge a pull request. It has the decision made once more on a last look
// at the pull request, which is the last request before the merge, and merges only the very commit that was decided
// on.
package merger

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"touchstone/agent/forge"
	"touchstone/verdict"
	"touchstone/verdict/decide"
	"touchstone/worktree/pause"
)

// Reader reads a pull request's present state.
type Reader interface {
	PullRequest(ctx context.Context, ref forge.Ref) (forge.PullRequest, error)
	Commits(ctx context.Context, ref forge.Ref) ([]forge.Commit, error)
}

// Squasher merges a pull request if its head is still the given commit, at once or when its turn has come, and tidies
// up behind it.
type Squasher interface {
	SquashMerge(ctx context.Context, ref forge.Ref, r forge.SquashRequest) (mergeSHA string, err error)
	Enqueue(ctx context.Context, id, sha string) error
	Dequeue(ctx context.Context, id string) error
	DeleteBranch(ctx context.Context, repo forge.Repo, name, sha string) error
}

// Merger merges pull requests.
type Merger struct {
	Read Reader
	Act  Squasher
	// Decider returns what makes the decisions of one attempt.
	Decider func() Decide
}

// Decide says what a pull request, as read a moment ago, needs. Settled reports whether that took no request besides:
// nothing has passed since that reading.
type Decide func(ctx context.Context, pr forge.PullRequest) (action decide.Action, settled bool, err error)

// ErrOvertaken says that the pull request, read afresh, is no longer to be merged, or not at this commit. Nothing was
// done.
var ErrOvertaken = errors.New("the pull request is no longer ready to merge")

// tries and firstPause bound the patience with a base that moves while GitHub merges; the pause doubles. looks bounds it
// with one that moves between two looks.
const (
	tries      = 4
	firstPause = 500 * time.Millisecond
	looks      = 5
)

// Merge squash-merges ref at head and returns the merge commit. Where the base has a merge queue, it puts ref there
// instead and returns no commit. A base that keeps moving is an ErrOvertaken in the end.
func (m *Merger) Merge(ctx context.Context, ref forge.Ref, head string) (string, error) {
	for try := 1; ; try++ {
		sha, err := m.merge(ctx, ref, head)
		switch {
		case err == nil, errors.Is(err, ErrOvertaken):
			return sha, err
		case errors.Is(err, forge.ErrBaseMoved) && try < tries:
			if pause.For(ctx, firstPause<<(try-1)) {
				continue
			}
			return "", context.Cause(ctx)
		case errors.Is(err, forge.ErrHeadMoved), errors.Is(err, forge.ErrBaseMoved):
			return "", fmt.Errorf("%w: %w", ErrOvertaken, err)
		}
		return "", fmt.Errorf("merge: %w", err)
	}
}

// merge looks until a decision rests on nothing older than the last look, and acts once. The merge call follows that
// look with no request between.
func (m *Merger) merge(ctx context.Context, ref forge.Ref, head string) (string, error) {
	commits, err := m.Read.Commits(ctx, ref)
	if err != nil {
		return "", err
	}
	next := m.Decider()
	for range looks {
		pr, err := m.Read.PullRequest(ctx, ref)
		if err != nil {
			return "", fmt.Errorf("look at the pull request again: %w", err)
		}
		action, settled, err := next(ctx, pr)
		switch {
		case err != nil:
			return "", fmt.Errorf("decide on the pull request again: %w", err)
		case action.Kind != decide.Merge || action.SHA != head:
			return "", fmt.Errorf("%w: %s", ErrOvertaken, action.Reason)
		case !settled:
		case pr.Queue:
			return "", m.Act.Enqueue(ctx, pr.ID, head)
		default:
			return m.Act.SquashMerge(ctx, ref, forge.SquashRequest{SHA: head, Title: title(pr, action.Record),
				Body: body(pr, action.Record, commits)})
		}
	}
	return "", fmt.Errorf("%w: it changed each time it was read", ErrOvertaken)
}

// Withdraw takes a pull request out of the merge queue that it waits in. One that is not there any more is an
// ErrOvertaken.
func (m *Merger) Withdraw(ctx context.Context, pr forge.PullRequest) error {
	now, err := m.Read.PullRequest(ctx, pr.Ref)
	switch {
	case err != nil:
		return fmt.Errorf("look at the pull request again: %w", err)
	case !now.InQueue || now.Head.SHA != pr.Head.SHA:
		return fmt.Errorf("%w: it is no longer in the merge queue", ErrOvertaken)
	}
	return m.Act.Dequeue(ctx, now.ID)
}

// Tidy deletes the branch of a pull request that was merged at head, unless it lives in another repository, is one
// that others build on or another pull request's too, or has moved on.
func (m *Merger) Tidy(ctx context.Context, pr forge.PullRequest, head string) error {
	if pr.Fork || pr.Shared || pr.SameBranch != "" || pr.Head.Repo != pr.Ref.Repo {
		return nil
	}
	return m.Act.DeleteBranch(ctx, pr.Ref.Repo, pr.Head.Name, head)
}

// title is the squash commit's first line, in GitHub's own form: the title that was reviewed. Records of earlier
// versions hold none.
func title(pr forge.PullRequest, approval *verdict.Record) string {
	text := pr.Title
	if approval != nil && approval.Title != "" {
		text = approval.Title
	}
	return fmt.Sprintf("%s (#%d)", strings.TrimSpace(text), pr.Ref.Number)
}

// description is what the pull request says, if it is what was reviewed: anything else stays out of the base's history.
func description(pr forge.PullRequest, approval *verdict.Record) string {
	if approval != nil && approval.Title != "" && !approval.Describes(pr.Body) {
		return ""
	}
	return strings.TrimSpace(pr.Body)
}

// coAuthor is the trailer by which GitHub knows who else wrote a commit
// (https://docs.github.com/pull-requests/committing-changes-to-your-project/creating-and-editing-commits/creating-a-commit-with-multiple-authors).
var coAuthor = regexp.MustCompile(`(?im)^Co-authored-by:[ \t]*([^<>\r\n]*[^<>\s])[ \t]*<([^<>\s]+@[^<>\s]+)>[ \t]*\r?$`)

// body is the rest of the squash commit's message: what the pull request says, as it was reviewed, and all others who
// wrote one of its commits. It keeps no workflow from starting.
func body(pr forge.PullRequest, approval *verdict.Record, commits []forge.Commit) string {
	text := description(pr, approval)
	named := map[string]bool{}
	for _, m := range coAuthor.FindAllStringSubmatch(text, -1) {
		named[strings.ToLower(m[2])] = true
	}
	// The author's own addresses first, so that no order of commits makes them a co-author.
	for _, c := range commits {
		if verdict.SameLogin(c.Login, pr.Author.Login) {
			named[strings.ToLower(c.Email)] = true
		}
	}
	var trailers strings.Builder
	for _, c := range commits {
		said := fmt.Sprintf("Co-authored-by: %s <%s>\n", verdict.OneLine(c.Name), c.Email)
		for _, m := range coAuthor.FindAllStringSubmatch(said+c.Message, -1) {
			if email := strings.ToLower(m[2]); !named[email] {
				named[email] = true
				fmt.Fprintf(&trailers, "Co-authored-by: %s <%s>\n", verdict.OneLine(m[1]), m[2])
			}
		}
	}
	return started(strings.TrimSpace(text + "\n\n" + trailers.String()))
}

// skips matches what keeps GitHub from starting workflows for a commit, anywhere in its message or as its last line
// (https://docs.github.com/actions/managing-workflow-runs/skipping-workflow-runs).
var skips = regexp.MustCompile(`(?im)\[(?:(?:skip|no)[ -]ci|ci[ -]skip|skip[ -]actions|actions[ -]skip)\]` +
	`|^skip-checks:[ \t]*true[ \t\r]*$`)

// started is the rest of a message without what would keep CI from running on the base. A description that only mentions
// it, such as one that quotes release notes, would leave the merge untested. Who means it writes it into the title.
func started(text string) string {
	return skips.ReplaceAllStringFunc(text, strings.NewReplacer("[", "(", "]", ")", ":", "").Replace)
}
