package forge

import (
	"context"
	"fmt"

	"github.com/google/go-github/v66/github"
)

// Withdrawer dismisses reviews.
type Withdrawer struct{ c *Client }

// NewWithdrawer returns a Withdrawer that acts as c's login.
func NewWithdrawer(c *Client) *Withdrawer { return &Withdrawer{c} }

// DismissReview dismisses a review. It stays visible with a sentence that says why, and no longer counts
// (https://docs.github.com/rest/pulls/reviews#dismiss-a-review-for-a-pull-request). That requires write
// access or, on a protected branch, an administrator's or what its rules say.
func (w *Withdrawer) DismissReview(ctx context.Context, ref Ref, review int64, why string) error {
	request := &github.PullRequestReviewDismissalRequest{Message: github.String(w.c.outgoing(why))}
	_, _, err := w.c.rest.PullRequests.DismissReview(ctx, ref.Owner, ref.Name, ref.Number, review, request)
	return w.c.failed(fmt.Sprintf("dismiss review %d on %s", review, ref), err)
}
