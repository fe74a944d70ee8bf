package forge

import (
	"context"
	"fmt"

	"github.com/google/go-github/v66/github"
)

// Withdrawer takes reviews back.
type Withdrawer struct{ c *Client }

// NewWithdrawer returns what takes reviews back as c's login.
func NewWithdrawer(c *Client) *Withdrawer { return &Withdrawer{c} }

// DismissReview dismisses a review, which stays to be read with a sentence why and counts for nothing any more
// (https://docs.github.com/rest/pulls/reviews#dismiss-a-review-for-a-pull-request). It takes write access, on a
// protected branch an administrator's or what its rules say instead.
func (w *Withdrawer) DismissReview(ctx context.Context, ref Ref, review int64, why string) error {
	request := &github.PullRequestReviewDismissalRequest{Message: github.String(w.c.outgoing(why))}
	_, _, err := w.c.rest.PullRequests.DismissReview(ctx, ref.Owner, ref.Name, ref.Number, review, request)
	return w.c.failed(fmt.Sprintf("dismiss review %d on %s", review, ref), err)
}
