package forge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"unicode/utf8"

	"github.com/google/go-github/v66/github"
)

// MaxBody is the longest body that GitHub accepts for a review or a comment, in characters. A longer one is
// rejected before anything is sent.
const MaxBody = 65535

// The events of a review, as in Review.Event.
const (
	Approve        = "APPROVE"
	RequestChanges = "REQUEST_CHANGES"
)

// Review is a review to post. It always names its commit: without it GitHub would use the head at the time of
// the request, which may not be what was reviewed.
type Review struct {
	SHA      string // the commit that was reviewed
	Event    string // Approve or RequestChanges
	Body     string // Markdown of 1 to MaxBody characters
	Comments []ReviewComment
}

// ReviewComment is a comment on lines of the diff.
type ReviewComment struct {
	Path      string
	StartLine int    // first line of a range within one hunk; 0 for a single line
	Line      int    // last line, 1-based
	Side      string // RIGHT for lines of the head, LEFT for deleted ones; empty means RIGHT
	Body      string
}

// Posted is a review that GitHub accepted.
type Posted struct {
	ID   int64
	URL  string
	Kept int // line comments GitHub lists on it; -1 when they could not be counted, which does not undo the review
}

// Poster posts reviews.
type Poster struct{ c *Client }

// NewPoster returns a Poster that acts as c's login.
func NewPoster(c *Client) *Poster { return &Poster{c} }

// PostReview posts one review. It is never sent twice: after an ErrUnavailable, read the pull request to see
// whether the review is there. ErrBadAnchor means that a line is not part of the diff and nothing was posted,
// ErrSelfReview that this login opened the pull request, and ErrHeadMoved that the commit is no longer part
// of it.
func (p *Poster) PostReview(ctx context.Context, ref Ref, review Review) (Posted, error) {
	op := "post a review on " + ref.String()
	if review.SHA == "" || review.Event != Approve && review.Event != RequestChanges {
		return Posted{}, fmt.Errorf("%s: it needs the reviewed commit and the event %s or %s", op, Approve, RequestChanges)
	}
	if err := checkBody(review.Body); err != nil {
		return Posted{}, fmt.Errorf("%s: %w", op, err)
	}
	request := &github.PullRequestReviewRequest{CommitID: &review.SHA, Event: &review.Event, Body: github.String(p.c.outgoing(review.Body))}
	for _, comment := range review.Comments {
		comment.Body = p.c.outgoing(comment.Body)
		request.Comments = append(request.Comments, comment.request())
	}
	taken, _, err := p.c.rest.PullRequests.CreateReview(ctx, ref.Owner, ref.Name, ref.Number, request)
	if err != nil {
		return Posted{}, p.c.failed(op, err)
	}
	posted := Posted{ID: taken.GetID(), URL: taken.GetHTMLURL()}
	if len(review.Comments) > 0 {
		posted.Kept = -1
		if remarks, err := p.c.ReviewRemarks(ctx, ref, posted.ID); err == nil {
			posted.Kept = len(remarks)
		}
	}
	return posted, nil
}

func (c ReviewComment) request() *github.DraftReviewComment {
	side := cmp.Or(c.Side, "RIGHT")
	comment := &github.DraftReviewComment{Path: &c.Path, Body: &c.Body, Line: &c.Line, Side: &side}
	if c.StartLine > 0 && c.StartLine < c.Line {
		comment.StartLine, comment.StartSide = &c.StartLine, &side
	}
	return comment
}

// Speaker comments and labels.
type Speaker struct{ c *Client }

// NewSpeaker returns a Speaker that acts as c's login.
func NewSpeaker(c *Client) *Speaker { return &Speaker{c} }

// Comment adds a comment to the conversation and returns its URL. Like a review, it is never sent twice.
func (s *Speaker) Comment(ctx context.Context, ref Ref, body string) (string, error) {
	op := "comment on " + ref.String()
	if err := checkBody(body); err != nil {
		return "", fmt.Errorf("%s: %w", op, err)
	}
	comment, _, err := s.c.rest.Issues.CreateComment(ctx, ref.Owner, ref.Name, ref.Number,
		&github.IssueComment{Body: github.String(s.c.outgoing(body))})
	if err != nil {
		return "", s.c.failed(op, err)
	}
	return comment.GetHTMLURL(), nil
}

// Reply replies in the thread that a comment on lines started. Like a review, it is never sent twice.
func (s *Speaker) Reply(ctx context.Context, ref Ref, comment int64, body string) error {
	op := fmt.Sprintf("answer comment %d on %s", comment, ref)
	if err := checkBody(body); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	path := fmt.Sprintf("repos/%s/%s/pulls/%d/comments/%d/replies", ref.Owner, ref.Name, ref.Number, comment)
	_, err := s.c.call(ctx, http.MethodPost, path, map[string]string{"body": s.c.outgoing(body)}, nil)
	return s.c.failed(op, err)
}

// AddLabel adds a label to the pull request. GitHub creates the label if the repository does not have it.
func (s *Speaker) AddLabel(ctx context.Context, ref Ref, name string) error {
	_, _, err := s.c.rest.Issues.AddLabelsToIssue(ctx, ref.Owner, ref.Name, ref.Number, []string{name})
	return s.c.failed(fmt.Sprintf("label %s with %q", ref, name), err)
}

// RemoveLabel removes a label. It is no error if the label is not there.
func (s *Speaker) RemoveLabel(ctx context.Context, ref Ref, name string) error {
	_, err := s.c.rest.Issues.RemoveLabelForIssue(ctx, ref.Owner, ref.Name, ref.Number, url.PathEscape(name))
	if err = s.c.failed(fmt.Sprintf("take the label %q off %s", name, ref), err); errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// Resolver resolves threads.
type Resolver struct{ c *Client }

// NewResolver returns a Resolver that acts as c's login.
func NewResolver(c *Client) *Resolver { return &Resolver{c} }

// ResolveThread marks a thread of a repository, named by its Thread.ID, as resolved. It is no error if it is
// resolved already. It requires write access to the repository, or being the pull request's author.
func (r *Resolver) ResolveThread(ctx context.Context, repo Repo, thread string) error {
	const mutation = "mutation Resolve($thread: ID!) { resolveReviewThread(input: {threadId: $thread}) { thread { isResolved } } }"
	var data struct{}
	// It is safe to send this twice.
	return r.c.failed("resolve a review thread", r.c.query(about(ctx, repo), mutation, map[string]any{"thread": thread}, &data))
}

func checkBody(body string) error {
	if n := utf8.RuneCountInString(body); n == 0 || n > MaxBody {
		return fmt.Errorf("the text has %d characters; GitHub takes 1 to %d", n, MaxBody)
	}
	return nil
}
