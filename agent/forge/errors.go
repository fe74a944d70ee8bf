package forge

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"touchstone/worktree/lazyregexp"
)

// Callers branch on these with errors.Is. Each error that matches one of them is an *Error whose text says
// what happened and what to do.
var (
	// ErrNotFound: it does not exist, or the token cannot see it. GitHub does not distinguish these.
	ErrNotFound = errors.New("not found")
	// ErrUnauthorized: GitHub does not know the token, or no longer.
	ErrUnauthorized = errors.New("unauthorized")
	// ErrForbidden: the token is known but lacks a permission.
	ErrForbidden = errors.New("forbidden")
	// ErrRateLimited: wait for the error's RetryAfter.
	ErrRateLimited = errors.New("rate limited")
	// ErrHeadMoved: the head is no longer the named commit. Read the pull request again.
	ErrHeadMoved = errors.New("head moved")
	// ErrBaseMoved: the base moved while GitHub was merging, or another merge was in progress. This is
	// temporary: read again, then retry.
	ErrBaseMoved = errors.New("base moved")
	// ErrNotMergeable: conflicts, a missing required check, a draft, or merged or closed already.
	ErrNotMergeable = errors.New("not mergeable")
	// ErrApprovalRequired: branch protection requires more approving reviews.
	ErrApprovalRequired = errors.New("approval required")
	// ErrSelfReview: the reviewing login opened this pull request.
	ErrSelfReview = errors.New("self review")
	// ErrBadAnchor: the line of a review comment is not part of the diff, and GitHub rejected the whole
	// review.
	ErrBadAnchor = errors.New("bad anchor")
	// ErrUnreadable: there is more than this program reads, or it is something else than expected. A retry
	// gives the same result.
	ErrUnreadable = errors.New("unreadable")
	// ErrUnavailable: GitHub could not be reached, or answered 5xx. A write may have happened nevertheless.
	ErrUnavailable = errors.New("unavailable")
)

// Error is a refusal or failure, as a sentence. It never contains the token.
type Error struct {
	Op         string        // what was tried, such as "read acme/app#12"
	Status     int           // HTTP status; 0 when no answer came
	Message    string        // what GitHub said, shortened
	Remedy     string        // what to do about it; may be empty
	RetryAfter time.Duration // how long to wait; only with ErrRateLimited

	kind  error // one of the sentinels, or nil
	cause error // the context's error when it ended the call
}

// Error returns "op: message; remedy" on one line.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Op != "" {
		b.WriteString(e.Op + ": ")
	}
	if e.Status != 0 {
		fmt.Fprintf(&b, "GitHub answered %d: ", e.Status)
	}
	b.WriteString(strings.TrimSuffix(e.Message, "."))
	if e.Remedy != "" {
		b.WriteString("; " + e.Remedy)
	}
	return b.String()
}

// Unwrap lets errors.Is find the sentinel and a context's error.
func (e *Error) Unwrap() []error {
	return slices.DeleteFunc([]error{e.kind, e.cause}, func(err error) bool { return err == nil })
}

// refusal is GitHub's error answer. Its "errors" are objects in some places and strings in others.
type refusal struct {
	Message string            `json:"message"`
	Errors  []json.RawMessage `json:"errors"`
}

func (r refusal) text() string {
	parts := []string{r.Message}
	for _, raw := range r.Errors {
		var text string
		var detail struct{ Message, Field, Code string }
		switch {
		case json.Unmarshal(raw, &text) == nil:
		case json.Unmarshal(raw, &detail) == nil:
			text = cmp.Or(detail.Message, strings.TrimSpace(detail.Field+" "+detail.Code))
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ": ")
}

// refusal turns an answer with status 400 or above into an *Error that only lacks its Op.
func (t token) refusal(response *http.Response, body []byte, now time.Time) *Error {
	var answer refusal
	_ = json.Unmarshal(body, &answer) // a proxy's HTML page has no message; then only the status counts
	message := cmp.Or(answer.text(), http.StatusText(response.StatusCode))
	err := &Error{Status: response.StatusCode, Message: t.clean(message)}
	if wait, limited := limitedFor(response, message, now); limited {
		return err.limited(wait)
	}
	err.kind = classify(response.StatusCode, message)
	err.Remedy = t.remedy(err.kind, response.Header)
	return err
}

func (e *Error) limited(wait time.Duration) *Error {
	e.kind, e.RetryAfter = ErrRateLimited, wait
	e.Remedy = fmt.Sprintf("try again in %s, or use a separate token for each machine", wait.Round(time.Second))
	return e
}

// unreadable is an ErrUnreadable about a pull request, with the reason.
func unreadable(why string) *Error {
	return &Error{Message: why, Remedy: "decide it by hand", kind: ErrUnreadable}
}

// refusals maps GitHub's messages to the errors that callers branch on; the first match counts. GitHub has no
// codes for these, only sentences: https://docs.github.com/rest/pulls/pulls#merge-a-pull-request and
// .../pulls/reviews.
var refusals = []struct {
	status int
	text   *lazyregexp.Regexp
	kind   error
}{
	{405, lazyregexp.New(`(?i)base branch was modified|merge already in progress`), ErrBaseMoved},
	{405, lazyregexp.New(`(?i)approving review`), ErrApprovalRequired},
	{409, lazyregexp.New(`(?i)head branch was modified|sha`), ErrHeadMoved},
	{422, lazyregexp.New(`(?i)(approve|request changes on) your own pull request`), ErrSelfReview},
	{422, lazyregexp.New(`(?i)commit.*not part of the pull request|no commit found`), ErrHeadMoved},
	{422, lazyregexp.New(`(?i)\b(line|path|position|hunk|diff)\b`), ErrBadAnchor},
}

func classify(status int, message string) error {
	for _, r := range refusals {
		if r.status == status && r.text.MatchString(message) {
			return r.kind
		}
	}
	switch {
	case status == http.StatusUnauthorized:
		return ErrUnauthorized
	case status == http.StatusForbidden:
		return ErrForbidden
	case status == http.StatusNotFound, status == http.StatusGone:
		return ErrNotFound
	case status == http.StatusMethodNotAllowed:
		return ErrNotMergeable
	case status >= 500:
		return ErrUnavailable
	}
	return nil
}

// remedy says what a person can do. GitHub names the permission that would have been enough in a header, a
// different one for each kind of token:
// https://docs.github.com/rest/using-the-rest-api/troubleshooting-the-rest-api.
func (t token) remedy(kind error, header http.Header) string {
	switch {
	case kind == ErrUnauthorized && t.own:
		return "the App's private key was deleted, or belongs to another App: create a new one in the App's settings on GitHub, write it into " +
			"the file that github.app_key_file names, and check that this machine's clock is right"
	case kind == ErrNotFound && t.own:
		return "check github.app_id, the number in the App's settings on GitHub, or create another App with `touchstone app create`"
	case kind == ErrNotFound && t.app:
		return "check the name, and that the repository is part of the GitHub App's installation"
	case kind == ErrForbidden && t.app && header.Get("X-Accepted-GitHub-Permissions") == "":
		return "accept the GitHub App's permissions where it is installed, and check that it has those that `touchstone app create` " +
			"asks for"
	}
	switch kind {
	case ErrUnauthorized:
		return cmp.Or(t.renew, "the token is wrong, expired or revoked: create a new one and set GITHUB_TOKEN or github.token_file")
	case ErrNotFound:
		return "check the name, and that the token was given access to this repository"
	case ErrForbidden:
		if needs := cmp.Or(header.Get("X-Accepted-GitHub-Permissions"), header.Get("X-Accepted-OAuth-Scopes")); needs != "" {
			return "give the token the permission " + t.clean(needs)
		}
		return "give the token read and write access to contents, pull requests, issues and commit statuses, and read access to checks (a " +
			"classic token: the scope repo)"
	case ErrNotMergeable:
		return "see the pull request's page for what is missing"
	case ErrApprovalRequired:
		return "another account with write access has to approve"
	case ErrSelfReview:
		return "reviewer and author need two different accounts: run the reviewer with a token of another one"
	}
	return ""
}

// token is the secret that authenticates us to GitHub.
type token struct {
	text string
	// renew is what to do if GitHub rejects it.
	renew string
	app   bool // of an App's installation
	own   bool // of an App itself
}

// redact removes the token from a text.
func (t token) redact(text string) string {
	if t.text == "" {
		return text
	}
	return strings.ReplaceAll(text, t.text, "[redacted]")
}

// clean makes foreign text fit for an error: one bounded line, without the token, in case a server or a
// library repeated it.
func (t token) clean(text string) string {
	text = t.redact(text)
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "?")), " ")
	if runes := []rune(text); len(runes) > 500 {
		return string(runes[:500]) + " …"
	}
	return text
}

// failed adds the operation to an error of a call. A nil err stays nil.
func (c *Client) failed(op string, err error) error {
	if err == nil {
		return nil
	}
	failure := &Error{Op: op}
	var refusal *Error
	switch {
	case errors.As(err, &refusal):
		*failure = *refusal
		failure.Op = op
	case errors.Is(err, context.Canceled):
		failure.Message, failure.cause = "cancelled", context.Canceled
	case errors.Is(err, context.DeadlineExceeded):
		failure.Message, failure.cause = "timed out", context.DeadlineExceeded
	default:
		failure.Message = c.token.clean(err.Error())
	}
	return failure
}
