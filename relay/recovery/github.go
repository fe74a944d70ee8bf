package recovery

import (
	"cmp"
	"context"
	"crypto/rsa"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/google/go-github/v66/github"
	"github.com/rs/zerolog"

	"touchstone/worktree/pause"
)

// DefaultAPI is the address of github.com's API. GitHub Enterprise Server has its own at
// https://HOST/api/v3/.
const DefaultAPI = "https://api.github.com/"

// GitHub says where GitHub's API is and how to authenticate there.
type GitHub struct {
	// API is the address of the REST API; empty means DefaultAPI.
	API string
	// Token may read deliveries of repositories and organizations and request redeliveries.
	Token string
	// AppKey signs requests for the GitHub App among the targets.
	AppKey *rsa.PrivateKey
}

// requestTimeout bounds one request to GitHub.
const requestTimeout = 30 * time.Second

// client sends requests to GitHub and waits when GitHub says so.
type client struct{ rest, app *github.Client }

// Validate reports an API that is not an address.
func (g GitHub) Validate() error {
	_, err := g.base()
	return err
}

// base returns the address that all requests begin with.
func (g GitHub) base() (*url.URL, error) {
	base, err := url.Parse(cmp.Or(g.API, DefaultAPI))
	if err != nil || base.Host == "" {
		return nil, fmt.Errorf("%q is not the address of a GitHub API; write one such as %s", g.API, DefaultAPI)
	}
	return base.JoinPath("/"), nil
}

// client builds the client for these targets. It fails if credentials for a target are missing.
func (g GitHub) client(targets ...Target) (client, error) {
	base, err := g.base()
	if err != nil {
		return client{}, err
	}
	var c client
	for _, t := range targets {
		switch {
		case t.kind == app && c.app != nil:
			return client{}, errors.New("one relay can recover the deliveries of only one GitHub App; remove the others from --recover")
		case t.kind == app && g.AppKey == nil:
			return client{}, fmt.Errorf("only the App itself can read the deliveries of %s; set RELAY_GITHUB_APP_KEY_FILE to "+
				"the file with its private key", t)
		case t.kind == app:
			c.app = github.NewClient(&http.Client{Timeout: requestTimeout, Transport: appTransport{id: t.name, key: g.AppKey}})
			c.app.BaseURL = base
		case g.Token == "":
			return client{}, fmt.Errorf("GITHUB_TOKEN is not set; to read the webhooks of %s, set it to an access token with the permission "+
				"Webhooks, read and write", t)
		}
	}
	c.rest = github.NewClient(&http.Client{Timeout: requestTimeout}).WithAuthToken(g.Token)
	c.rest.BaseURL = base
	return c, nil
}

// call sends one request, as the App if the target is one and otherwise with the token, and decodes the
// answer into a variable. Over a rate limit it waits as long as GitHub asks and sends the request again. 202
// Accepted is not an error.
func (c client) call(ctx context.Context, t Target, method, path string, body, into any) (*github.Response, error) {
	rest := c.rest
	if t.kind == app {
		rest = c.app
	}
	for {
		request, err := rest.NewRequest(method, path, body)
		if err != nil {
			return nil, err
		}
		response, err := rest.Do(ctx, request, into)
		if errors.As(err, new(*github.AcceptedError)) {
			return response, nil
		}
		wait, limited := limitedFor(err)
		if !limited {
			return response, err
		}
		zerolog.Ctx(ctx).Warn().Stringer("wait", wait).Msg("GitHub's rate limit is used up; recovery continues once it resets")
		if !pause.For(ctx, wait) {
			return nil, context.Cause(ctx)
		}
	}
}

// limitedFor returns how long to send GitHub no requests if err is about a rate limit
// (https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#exceeding-the-rate-limit): from
// a second to an hour, in case a clock is wrong.
func limitedFor(err error) (time.Duration, bool) {
	wait := time.Minute // where GitHub does not say
	primary, secondary, plain := new(github.RateLimitError), new(github.AbuseRateLimitError), new(github.ErrorResponse)
	switch {
	case errors.As(err, &primary):
		wait = time.Until(primary.Rate.Reset.Time) + time.Second
	case errors.As(err, &secondary):
		if secondary.RetryAfter != nil {
			wait = *secondary.RetryAfter
		}
	case refused(err, http.StatusTooManyRequests) && errors.As(err, &plain): // go-github recognizes a rate limit only by 403
		if seconds, err := strconv.Atoi(plain.Response.Header.Get("Retry-After")); err == nil {
			wait = time.Duration(seconds) * time.Second
		}
	default:
		return 0, false
	}
	return min(max(wait, time.Second), time.Hour), true
}

// hooks lists all hooks of a repository or an organization.
func (c client) hooks(ctx context.Context, t Target) ([]*github.Hook, error) {
	var all []*github.Hook
	for page := 1; page != 0; {
		var hooks []*github.Hook
		response, err := c.call(ctx, t, http.MethodGet, fmt.Sprintf("%s?per_page=100&page=%d", t.hooksPath(), page), nil, &hooks)
		if err != nil {
			return nil, t.explain(err)
		}
		all = append(all, hooks...)
		page = response.NextPage
	}
	return all, nil
}

// refused reports whether GitHub answered with one of these status codes.
func refused(err error, status ...int) bool {
	answer := new(github.ErrorResponse)
	return errors.As(err, &answer) && answer.Response != nil && slices.Contains(status, answer.Response.StatusCode)
}

// explain turns GitHub's refusals into sentences that say what to do.
func (t Target) explain(err error) error {
	switch {
	case refused(err, http.StatusUnauthorized) && t.kind == app:
		return fmt.Errorf("GitHub rejected the App's key for %s; check that RELAY_GITHUB_APP_KEY_FILE names the App's own private "+
			"key, and that the clock is right", t)
	case refused(err, http.StatusUnauthorized):
		return errors.New("GitHub rejected the access token in GITHUB_TOKEN; it may have expired: create a new one")
	case refused(err, http.StatusForbidden, http.StatusNotFound):
		return fmt.Errorf("GitHub denied access to the webhooks of %s, or the %s was not found; the access token needs the permission "+
			"Webhooks, read and write (a classic one the scope admin:repo_hook, for an organization admin:org_hook)", t, t.kind)
	}
	return fmt.Errorf("ask GitHub about the webhooks of %s: %w", t, err)
}
