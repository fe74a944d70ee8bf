package forge

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	_ "embed"

	"touchstone/verdict"
)

// The queries are documents of their own, so that GraphQL tools can read them.
var (
	//go:embed query.graphql
	pullRequestQuery string
	//go:embed list.graphql
	openPullRequestsQuery string
	//go:embed basechecks.graphql
	baseChecksQuery string
	//go:embed counted.graphql
	countedQuery string
	//go:embed history.graphql
	historyQuery string
	//go:embed incidents.graphql
	incidentsQuery string
	//go:embed orphans.graphql
	orphansQuery string
	//go:embed reactions.graphql
	reactionsQuery string
	//go:embed checks.graphql
	checksQuery string
	//go:embed rules.graphql
	rulesQuery string
	//go:embed thread.graphql
	threadQuery string
	//go:embed revisions.graphql
	revisionsQuery string
	//go:embed writers.graphql
	writersQuery string
)

// query reads by GraphQL. It is repeated where that may help.
func (c *Client) query(ctx context.Context, document string, variables map[string]any, result any) error {
	return c.ask(asRead(ctx), document, variables, result)
}

// ask sends one GraphQL request and decodes its data into result. An answer with errors is a failure even if
// it has data: an incomplete pull request is no basis for a decision. Only parts in other organizations may
// be missing.
func (c *Client) ask(ctx context.Context, document string, variables map[string]any, result any) error {
	owner, _ := variables["owner"].(string)
	if name, _ := variables["name"].(string); owner != "" && name != "" {
		ctx = about(ctx, Repo{Owner: owner, Name: name})
	}
	body, err := json.Marshal(map[string]any{"query": document, "variables": variables})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.graphql, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", c.rest.UserAgent)
	response, err := c.http.Do(req)
	if err != nil {
		return c.token.misdirected(err)
	}
	defer response.Body.Close()
	var answer struct {
		Data   json.RawMessage
		Errors []graphqlError
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		if page := (*json.SyntaxError)(nil); errors.As(err, &page) { // a truncated answer is none
			err = fmt.Errorf("%w; %s", err, checkAddress)
		}
		return fmt.Errorf("GitHub's answer cannot be read: %w", err)
	}
	for _, failure := range answer.Errors {
		if !failure.elsewhere() {
			return c.token.denied(failure, response.Header, c.clock.now())
		}
	}
	if err := json.Unmarshal(answer.Data, result); err != nil {
		return fmt.Errorf("GitHub's answer cannot be read: %w", err)
	}
	return nil
}

// checkAddress is what to do if something else than GitHub's API answers.
const checkAddress = "check github.api_url: it is https://api.github.com/, https://api.NAME.ghe.com/ for a company whose GitHub is at " +
	"NAME.ghe.com, and https://HOST/api/v3/ for GitHub Enterprise Server"

// misdirected corrects what to do about a refusal of a whole GraphQL request. GitHub reports a missing repository or
// pull request with status 200, so these statuses come from a server that has no GraphQL there.
func (t token) misdirected(err error) error {
	refused := (*Error)(nil)
	if !errors.As(err, &refused) || t.app || refused.Status != http.StatusNotFound && refused.Status != http.StatusMethodNotAllowed {
		return err
	}
	other := *refused
	other.Remedy = checkAddress
	return &other
}

// graphqlError is one entry of "errors", which comes with status 200.
type graphqlError struct {
	Type    string
	Message string
	Path    []any
}

// elsewhere reports whether an error is about an issue or a pull request of another organization that this
// token may not see, or about the run of a workflow, which needs a permission that the token may lack. That is
// no reason to fail: the answer has null in its place.
func (e graphqlError) elsewhere() bool {
	return slices.Contains(e.Path, any("closingIssuesReferences")) || slices.Contains(e.Path, any("associatedPullRequests")) ||
		e.Type == "FORBIDDEN" && slices.Contains(e.Path, any("workflowRun"))
}

// limited reports whether an error is about a rate limit. A secondary limit may also come with status 200
// (https://docs.github.com/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api), and only its
// message is sure to tell.
func (e graphqlError) limited() bool {
	return e.Type == "RATE_LIMITED" || e.Type == "RATE_LIMIT" || strings.Contains(strings.ToLower(e.Message), "secondary rate limit")
}

func (t token) denied(answer graphqlError, header http.Header, now time.Time) *Error {
	err := &Error{Message: t.clean(answer.Message)}
	switch answer.Type {
	case "NOT_FOUND":
		err.kind = ErrNotFound
		if slices.Equal(answer.Path, []any{"repository", "pullRequest"}) {
			err.Message, err.Remedy = "the repository exists, but has no pull request with this number", "check the number"
			return err
		}
	case "FORBIDDEN", "INSUFFICIENT_SCOPES":
		err.kind = ErrForbidden
	}
	if answer.limited() {
		wait, ok := toldToWait(header, now)
		if !ok {
			wait = time.Minute
		}
		return err.limited(wait)
	}
	err.Remedy = t.remedy(err.kind, header)
	return err
}

// Viewer returns the login that the token belongs to. An App's installation has one too, "name[bot]".
func (c *Client) Viewer(ctx context.Context) (string, error) {
	var data struct{ Viewer struct{ Login string } }
	err := c.query(ctx, "query Viewer { viewer { login } }", nil, &data)
	return data.Viewer.Login, c.failed("ask GitHub who the token belongs to", err)
}

// Address returns the email address by which GitHub attributes commits to the token's login, without
// revealing another one. For accounts made before 2017, GitHub may also know an address without the number
// (https://docs.github.com/account-and-profile/reference/email-addresses-reference).
func (c *Client) Address(ctx context.Context) (string, error) {
	var data struct {
		Viewer struct {
			Login      string
			DatabaseID int64
		}
	}
	if err := c.query(ctx, "query Address { viewer { login databaseId } }", nil, &data); err != nil {
		return "", c.failed("ask GitHub for the address of the token's login", err)
	}
	web, err := url.Parse(c.web)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d+%s@users.noreply.%s", data.Viewer.DatabaseID, data.Viewer.Login, web.Hostname()), nil
}

// Account returns GitHub's id for the account of a login; for an App, it is that of its bot. ErrNotFound says
// that there is none.
func (c *Client) Account(ctx context.Context, login string) (int64, error) {
	user, _, err := c.rest.Users.Get(ctx, url.PathEscape(login))
	if err != nil {
		return 0, c.failed("look up the account "+login, err)
	}
	return user.GetID(), nil
}

// maxListed bounds a list of open pull requests: a hundred pages.
const maxListed = 5000

// OpenPullRequests lists the open pull requests of a repository, newest first. More than 5,000 are an error.
func (c *Client) OpenPullRequests(ctx context.Context, repo Repo) ([]Listed, error) {
	op := "list the open pull requests of " + repo.String()
	var all []Listed
	for node, err := range readPulls[listNode](ctx, c, op, openPullRequestsQuery, repo) {
		switch {
		case err != nil:
			return nil, err
		case len(all) == maxListed:
			return nil, &Error{Op: op, Message: fmt.Sprintf("there are more than %d", maxListed)}
		}
		all = append(all, Listed{Ref: Ref{Repo: repo, Number: node.Number}, Title: node.Title, UpdatedAt: node.UpdatedAt})
	}
	return all, nil
}

// readPulls are a repository's pull requests that a query lists, page by page. A pair with an error is the
// last one.
func readPulls[N any](ctx context.Context, c *Client, op, document string, repo Repo) iter.Seq2[N, error] {
	return func(yield func(N, error) bool) {
		var none N
		for variables := repo.variables(); ; {
			found, err := readRepository[struct{ PullRequests connection[N] }](ctx, c, op, document, variables)
			if err != nil {
				yield(none, err)
				return
			}
			for _, node := range found.PullRequests.Nodes {
				if !yield(node, nil) {
					return
				}
			}
			switch info := found.PullRequests.PageInfo; {
			case !info.HasNextPage:
				return
			case info.EndCursor == variables["after"]:
				yield(none, &Error{Op: op, Message: "GitHub's list does not end", kind: ErrUnavailable})
				return
			default:
				variables["after"] = info.EndCursor
			}
		}
	}
}

// readRepository reads the fields of T from one repository.
func readRepository[T any](ctx context.Context, c *Client, op, document string, variables map[string]any) (*T, error) {
	var data struct{ Repository *T }
	err := c.query(ctx, document, variables, &data)
	if err == nil && data.Repository == nil {
		err = c.missing()
	}
	return data.Repository, c.failed(op, err)
}

// readPull reads the fields of T from one pull request.
func readPull[T any](ctx context.Context, c *Client, op, document string, variables map[string]any) (*T, error) {
	found, err := readRepository[struct{ PullRequest *T }](ctx, c, op, document, variables)
	if err != nil {
		return nil, err
	}
	if found.PullRequest == nil {
		return nil, c.failed(op, c.missing())
	}
	return found.PullRequest, nil
}

// missing is the error for an answer of null.
func (c *Client) missing() *Error {
	return c.token.denied(graphqlError{Type: "NOT_FOUND", Message: "the repository or pull request does not exist, or the token cannot see " +
		"it"},
		nil, time.Time{})
}

// connection is a page of a GraphQL list.
type connection[T any] struct {
	Nodes    []T
	PageInfo pageInfo
}

// pageInfo says what is beyond a page. A query asks for one direction only: for the end of a list and what is before it, or
// for its beginning and what is after it.
type pageInfo struct {
	HasPreviousPage, HasNextPage bool
	StartCursor, EndCursor       string
}

// advance moves a list's cursor past the page just read and reports whether another one follows. An empty
// page has no cursor and keeps the last one, so that the next answer is empty again and not the first page.
func (p pageInfo) advance(variables map[string]any, cursor string) bool {
	if at := cmp.Or(p.StartCursor, p.EndCursor); at != "" {
		variables[cursor] = at
	}
	return p.HasPreviousPage || p.HasNextPage
}

type actorNode struct {
	Login      string
	Typename   string `json:"__typename"`
	DatabaseID int64
}

// user converts an actor. GraphQL omits the suffix from the login of a bot, and has no author if the account
// was deleted.
func (a *actorNode) user() User {
	if a == nil || a.Login == "" {
		return User{Login: verdict.DeletedLogin}
	}
	user := User{Login: a.Login, Bot: a.Typename == "Bot", ID: a.DatabaseID}
	if user.Bot {
		user.Login = strings.TrimSuffix(user.Login, verdict.AppSuffix) + verdict.AppSuffix
	}
	return user
}

// person reports whether the actor is a user's account that still exists.
func (a *actorNode) person() bool { return a != nil && a.Typename == "User" && a.Login != "" }

type requestNode struct{ RequestedReviewer *actorNode }

// logins lists the requested people and bots. A team, or somebody that the token cannot see, has no login.
func logins(requests connection[requestNode]) []string {
	var all []string
	for _, r := range requests.Nodes {
		if r.RequestedReviewer != nil && r.RequestedReviewer.Login != "" {
			all = append(all, r.RequestedReviewer.user().Login)
		}
	}
	return all
}

type listNode struct {
	Number    int
	Title     string
	UpdatedAt time.Time
}

// bigInt is GraphQL's BigInt, which GitHub sends as a string because JavaScript has no such numbers.
type bigInt int64

func (b *bigInt) UnmarshalJSON(data []byte) error {
	n, err := strconv.ParseInt(string(bytes.Trim(data, `"`)), 10, 64)
	*b = bigInt(n)
	return err
}
