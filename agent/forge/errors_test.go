package forge

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestGitHubsErrorsAreClassified(t *testing.T) {
	for _, test := range []struct {
		status int
		body   string
		want   error
	}{
		{401, `{"message":"Bad credentials"}`, ErrUnauthorized},
		{403, `{"message":"Resource not accessible by integration"}`, ErrForbidden},
		{403, `{"message":"You have exceeded a secondary rate limit. Please wait a few minutes before you try again."}`, ErrRateLimited},
		{404, `{"message":"Not Found"}`, ErrNotFound},
		{405, `{"message":"Pull Request is not mergeable"}`, ErrNotMergeable},
		{405, `{"message":"Merge already in progress"}`, ErrBaseMoved},
		{405, `{"message":"Base branch was modified. Review and try the merge again."}`, ErrBaseMoved},
		{405, `{"message":"At least 1 approving review is required by reviewers with write access."}`, ErrApprovalRequired},
		{405, `{"message":"Required status check \"build\" is expected."}`, ErrNotMergeable},
		{409, `{"message":"Head branch was modified. Review and try the merge again."}`, ErrHeadMoved},
		{410, `{"message":"Issues are disabled for this repo"}`, ErrNotFound},
		{422, `{"message":"Unprocessable Entity","errors":["Can not approve your own pull request"]}`, ErrSelfReview},
		{422, `{"message":"Unprocessable Entity","errors":["Can not request changes on your own pull request"]}`, ErrSelfReview},
		{422, `{"message":"Unprocessable Entity","errors":["Line could not be resolved"]}`, ErrBadAnchor},
		{422, `{"message":"Unprocessable Entity","errors":["Path could not be resolved"]}`, ErrBadAnchor},
		{422, `{"message":"Validation Failed","errors":[{"resource":"PullRequestReviewComment","code":"invalid","field":"line"}]}`, ErrBadAnchor},
		{422, `{"message":"Validation Failed","errors":[{"message":"start_line must be part of the same hunk as the line."}]}`, ErrBadAnchor},
		{422, `{"message":"Unprocessable Entity","errors":["The commit is not part of the pull request"]}`, ErrHeadMoved},
		{422, `{"message":"Unprocessable Entity","errors":["Body is too long"]}`, nil},
		{500, `<html>`, ErrUnavailable},
		{503, ``, ErrUnavailable},
	} {
		err := token{text: secret}.refusal(answer(test.status, ""), []byte(test.body), time.Now())
		if err.kind != test.want {
			t.Errorf("%d %s is %v; want %v", test.status, test.body, err.kind, test.want)
		}
	}
}

func TestErrorsSayWhatToDo(t *testing.T) {
	for _, test := range []struct {
		answer *http.Response
		call   func(*Client, context.Context) error
		says   []string
	}{
		{answer(401, `{"message":"Bad credentials"}`), query, []string{"GITHUB_TOKEN", "Bad credentials", "401"}},
		{answer(404, `{"message":"Not Found"}`), read, []string{"acme/app#12", "check the name"}},
		{answer(403, `{"message":"Resource not accessible by personal access token"}`, "X-Accepted-GitHub-Permissions", "contents=write"), act,
			[]string{"merge acme/app#12", "contents=write"}},
		{answer(200, `{"errors":[{"type":"FORBIDDEN","message":"Resource not accessible"}]}`),
			func(c *Client, ctx context.Context) error { _, err := c.PullRequest(ctx, pull); return err },
			[]string{"acme/app#12", "read access to checks"}},
		{answer(200, `{"errors":[{"type":"FORBIDDEN","message":"Resource not accessible"}]}`),
			func(c *Client, ctx context.Context) error { _, err := c.Rules(ctx, pull.Repo); return err },
			[]string{"acme/app asks", "read access to checks"}},
		{answer(200, `{"data":{"repository":null}}`),
			func(c *Client, ctx context.Context) error { _, err := c.PullRequest(ctx, pull); return err }, []string{"acme/app#12", "not exist"}},
		{answer(200, `{"data":{"repository":null}}`),
			func(c *Client, ctx context.Context) error { _, err := c.OpenPullRequests(ctx, pull.Repo); return err },
			[]string{"acme/app", "does not exist"}},
		{answer(200, `{"errors":[{"message":"Something went wrong"}]}`), query, []string{"Something went wrong"}},
		{answer(200, `<html>`), query, []string{"GitHub's answer cannot be read", "check github.api_url"}},
		{answer(404, `<html>`), query, []string{"check github.api_url", "https://HOST/api/v3/", "https://api.NAME.ghe.com/"}},
		{answer(405, ``), query, []string{"check github.api_url"}},
		{answer(200, `{"merged":false,"message":"no"}`), act, []string{"did not merge"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			err := test.call(client(t, func(*http.Request) (*http.Response, error) { return test.answer, nil }), t.Context())
			for _, part := range test.says {
				if err == nil || !strings.Contains(err.Error(), part) {
					t.Errorf("error %v; it should say %q", err, part)
				}
			}
		})
	}
}

func TestAnErrorIsOneSentence(t *testing.T) {
	body := `{"message":"Head branch was modified.\nReview and try the merge again.","errors":["No luck.\r\n"]}`
	refused := answer(409, body)
	err := client(t, func(*http.Request) (*http.Response, error) { return refused, nil }).failed("merge acme/app#12",
		token{text: secret}.refusal(refused, []byte(body), time.Now()))
	want := "merge acme/app#12: GitHub answered 409: Head branch was modified. Review and try the merge again.: No luck"
	if err.Error() != want {
		t.Errorf("it says %q; want %q", err, want)
	}
	limited := &Error{Op: "read acme/app#12", Status: 429, Message: "Slow down."}
	if got, want := limited.limited(time.Minute).Error(),
		"read acme/app#12: GitHub answered 429: Slow down; try again in 1m0s, or use a separate token for each machine"; got != want {
		t.Errorf("it says %q; want %q", got, want)
	}
}

func TestNothingIsSentThatGitHubWouldMisread(t *testing.T) {
	c := client(t, func(r *http.Request) (*http.Response, error) {
		t.Errorf("sent %s %s", r.Method, r.URL)
		return answer(200, fine), nil
	})
	poster := NewPoster(c)
	for _, review := range []Review{
		{Event: Approve, Body: "no commit"},
		{SHA: "abc", Event: "COMMENT", Body: "neither"},
		{SHA: "abc", Event: "", Body: "pending"},
		{SHA: "abc", Event: Approve},
		{SHA: "abc", Event: Approve, Body: strings.Repeat("é", MaxBody+1)},
	} {
		if _, err := poster.PostReview(t.Context(), pull, review); err == nil {
			t.Errorf("a review of %q as %q with %d characters is no error", review.SHA, review.Event, len(review.Body))
		}
	}
	if _, err := NewSpeaker(c).Comment(t.Context(), pull, ""); err == nil {
		t.Error("an empty comment is no error")
	}
	if _, err := NewMerger(c).SquashMerge(t.Context(), pull, SquashRequest{Title: "any head will do"}); err == nil {
		t.Error("a merge of any head is no error")
	}
}
