package forge

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/go-github/v66/github"

	"touchstone/agent/terminal"
	"touchstone/verdict"
)

// The contexts of the agents' commit statuses: the reviewer's and the author's.
const (
	ReviewContext = verdict.ReviewStatus
	FixContext    = verdict.FixStatus
)

// maxDescription is the longest description that GitHub accepts for a commit status, in characters, and maxRune
// the last character that it accepts there (https://github.com/wip/app/pull/138).
const (
	maxDescription = 140
	maxRune        = '\uFFFF'
)

// OwnContext reports whether a check has one of the agents' names, whoever reports it. It says what the
// agents think, so the agents do not count it as a check.
func OwnContext(name string) bool {
	return strings.EqualFold(name, ReviewContext) || strings.EqualFold(name, FixContext)
}

// CommitStatus is a commit status to write.
type CommitStatus struct {
	Context     string // ReviewContext or FixContext
	State       CheckState
	Description string // one line; GitHub's limit is 140 characters, and the rest is cut off
	URL         string // what it links to; may be empty
}

// Reporter writes commit statuses.
type Reporter struct{ c *Client }

// NewReporter returns a Reporter that acts as c's login.
func NewReporter(c *Client) *Reporter { return &Reporter{c} }

// Report writes a commit status, which replaces the one with the same context. State is pending, success or
// failure. ErrForbidden means that the token may not write statuses.
func (r *Reporter) Report(ctx context.Context, repo Repo, sha string, status CommitStatus) error {
	state, description := string(status.State), OneLine(r.c.outgoing(status.Description))
	body := &github.RepoStatus{Context: &status.Context, State: &state, Description: &description}
	if status.URL != "" {
		body.TargetURL = &status.URL
	}
	_, _, err := r.c.rest.Repositories.CreateStatus(ctx, repo.Owner, repo.Name, sha, body)
	return r.c.failed(fmt.Sprintf("write the status %s of %s in %s", status.Context, sha, repo), err)
}

// Reported lists what was reported on a commit under the agents' names, oldest first. Of more than 2,000
// statuses it uses the newest.
func (r *Reporter) Reported(ctx context.Context, repo Repo, sha string) ([]Check, error) {
	all, _, err := r.c.statusHistory(ctx, repo, sha)
	own := slices.DeleteFunc(all, func(c Check) bool { return !OwnContext(c.Name) })
	slices.Reverse(own)
	return own, err
}

// StatusHistory lists all commit statuses that were ever reported on a pull request's head, newest first; of
// several with one name, [PullRequest.Checks] only has the newest. More than 2,000 are an ErrUnreadable: they
// may be there to hide one.
func (c *Client) StatusHistory(ctx context.Context, pr PullRequest) ([]Check, error) {
	all, whole, err := c.statusHistory(ctx, pr.Ref.Repo, pr.Head.SHA)
	if err == nil && !whole {
		err = c.failed("read the statuses of "+pr.Ref.String(), unreadable("there are more of them than the agents read"))
	}
	return all, err
}

// statusHistory lists the newest 2,000 statuses of a commit, newest first, and reports whether these are all.
func (c *Client) statusHistory(ctx context.Context, repo Repo, sha string) (all []Check, whole bool, err error) {
	statuses, whole, err := readAll(func(page *github.ListOptions) ([]*github.RepoStatus, *github.Response, error) {
		return c.rest.Repositories.ListStatuses(ctx, repo.Owner, repo.Name, sha, page)
	})
	for _, s := range statuses {
		all = append(all, Check{
			Name: s.GetContext(), By: User{Login: s.GetCreator().GetLogin(), ID: s.GetCreator().GetID()}, Kind: Status,
			State: statusState(s.GetState()), URL: s.GetTargetURL(), Summary: s.GetDescription(), At: s.GetCreatedAt().Time,
		})
	}
	return all, whole, c.failed(fmt.Sprintf("list the statuses of %s in %s", sha, repo), err)
}

// CanReport finds out whether the token may write statuses in a repository, by writing one on a commit that
// does not exist. It changes nothing. ErrForbidden says that it may not.
func (r *Reporter) CanReport(ctx context.Context, repo Repo) error {
	state, name := string(CheckPending), ReviewContext
	_, _, err := r.c.rest.Repositories.CreateStatus(ctx, repo.Owner, repo.Name, noCommit, &github.RepoStatus{Context: &name, State: &state})
	if refusal, ok := errors.AsType[*Error](err); ok && refusal.Status == http.StatusUnprocessableEntity {
		return nil
	}
	return r.c.failed("write a commit status in "+repo.String(), err)
}

// OneLine makes a text fit for the description of a commit status: printable, on one line, and short enough.
// GitHub refuses characters above U+FFFF there, such as most emoji, which names of checks often hold. Each
// becomes U+FFFD.
func OneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		if r > maxRune {
			return utf8.RuneError
		}
		return r
	}, terminal.Plain(verdict.OneLine(strings.ToValidUTF8(text, "\uFFFD"))))
	if utf8.RuneCountInString(text) <= maxDescription {
		return text
	}
	return string([]rune(text)[:maxDescription-1]) + "…"
}
