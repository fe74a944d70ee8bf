// Package forge is GitHub as this product needs it: small types of our own for a pull request and everything
// on it, reads that are complete or fail, and the few acts that change something. Each act has a type of its
// own, so that a package that only gets a Client can read but not change anything.
//
// The package logs nothing and stores nothing. None of its errors contains the token.
package forge

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/google/go-github/v66/github"
)

// defaultAPIURL is the API of github.com.
const defaultAPIURL = "https://api.github.com/"

// maxRestPages bounds every list that is read by REST, in pages of 100.
const maxRestPages = 20

// Config says which GitHub to talk to, and as whom.
type Config struct {
	APIURL    string            // root of the REST API; empty means github.com's, a GitHub Enterprise Server's is https://host/api/v3/
	Token     string            // of a person's or a machine's login
	Renew     string            // what to do if GitHub rejects Token, for a person; empty means a sentence about where it can be
	App       *App              // acts instead of Token, by its installations
	Transport http.RoundTripper // carries the requests; nil means a transport with timeouts of its own
	Version   string            // of this program, for the User-Agent header
}

// Client reads from GitHub. It is safe for concurrent use.
type Client struct {
	rest    *github.Client
	http    *http.Client
	bare    http.RoundTripper // carries requests without the token, to hosts that GitHub names
	graphql string            // address of the GraphQL API
	web     string            // root of pages and clone addresses, without a trailing slash
	token   token             // what is known of the login that acts; an App's has no text
	signer  signer            // gives out the token for each request
	clock   *clock
}

// New returns a client for cfg. It opens no connection; its errors are mistakes in cfg.
func New(cfg Config) (*Client, error) {
	if cfg.App == nil && cfg.Token == "" {
		return nil, errors.New("there is no GitHub token; set GITHUB_TOKEN, or write the token to a file that only you can read and name that " +
			"file as github.token_file")
	}
	if strings.ContainsFunc(cfg.Token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errors.New("the GitHub token contains a space or another character that no token has; copy it again")
	}
	api, err := cfg.api()
	if err != nil {
		return nil, err
	}
	client := &Client{graphql: graphqlURL(*api), web: webURL(*api), token: token{text: cfg.Token, renew: cfg.Renew, app: cfg.App != nil}}
	transport := newTransport(cfg, api)
	client.http, client.clock, client.signer = &http.Client{Transport: transport}, transport.clock, transport.signer
	client.bare = transport.base
	client.rest = github.NewClient(&http.Client{Transport: forgetful{transport}})
	client.rest.BaseURL = api
	client.rest.UserAgent = "touchstone/" + cfg.Version
	return client, nil
}

// api is the root of the REST API, which ends in a slash.
func (cfg Config) api() (*url.URL, error) {
	api, err := url.Parse(cmp.Or(cfg.APIURL, defaultAPIURL))
	if err != nil || api.Host == "" || api.User != nil || api.RawQuery != "" || api.Fragment != "" {
		return nil, errors.New("github.api_url is not the address of an API; it looks like https://api.github.com/, " +
			"https://api.NAME.ghe.com/ or https://HOST/api/v3/")
	}
	if api.Scheme != "https" && (api.Scheme != "http" || !Loopback(api.Hostname())) {
		return nil, fmt.Errorf("github.api_url %s would send the token unencrypted; use https", api)
	}
	if name, ok := strings.CutSuffix(api.Hostname(), ".ghe.com"); ok && !strings.HasPrefix(name, "api.") {
		return nil, fmt.Errorf("github.api_url %s is the address of pages; the API is at https://api.%s/", api, api.Hostname())
	}
	if !strings.HasSuffix(api.Path, "/") {
		api.Path += "/"
	}
	return api, nil
}

// Loopback reports whether a host of an address is this machine.
func Loopback(host string) bool {
	ip, _ := netip.ParseAddr(host) // zero for a name, such as 127.0.0.1.example.com
	return host == "localhost" || ip.IsLoopback()
}

// graphqlURL is the URL of the GraphQL API:
// https://docs.github.com/enterprise-server/graphql/guides/forming-calls-with-graphql
func graphqlURL(api url.URL) string {
	if root, ok := strings.CutSuffix(api.Path, "/api/v3/"); ok {
		api.Path = root + "/api/graphql"
	} else {
		api.Path += "graphql"
	}
	return api.String()
}

// webURL is the root of the web pages. github.com and its data-residency hosts have the API on a host of its
// own, servers have it below /api/v3/.
func webURL(api url.URL) string {
	if host, ok := strings.CutPrefix(api.Host, "api."); ok && (host == "github.com" || strings.HasSuffix(host, ".ghe.com")) {
		api.Host = host
	}
	api.Path = strings.TrimSuffix(strings.TrimSuffix(api.Path, "/"), "/api/v3")
	return api.String()
}

// Host returns the host of GitHub's web pages, by which GitHub's own CLI knows it.
func (cfg Config) Host() (string, error) {
	api, err := cfg.api()
	if err != nil {
		return "", err
	}
	web, err := url.Parse(webURL(*api))
	if err != nil {
		return "", err
	}
	return web.Host, nil
}

// Remote returns how git accesses a repository over HTTP: its clone URL, and the value for the Authorization
// header, which is a secret. An App's is valid for at least ten minutes.
func (c *Client) Remote(ctx context.Context, repo Repo) (cloneURL, authorization string, err error) {
	signed, err := c.signer.sign(ctx, repo)
	if err != nil {
		return "", "", c.failed("sign in to "+repo.String(), err)
	}
	basic := base64.StdEncoding.EncodeToString([]byte("x-access-token:" + signed.text))
	return c.web + "/" + repo.String() + ".git", "Basic " + basic, nil
}

// HeadSHA returns the commit at the head of a pull request. It is the cheap check right before an act.
func (c *Client) HeadSHA(ctx context.Context, ref Ref) (string, error) {
	op := "read the head of " + ref.String()
	pr, _, err := c.rest.PullRequests.Get(ctx, ref.Owner, ref.Name, ref.Number)
	if err != nil {
		return "", c.failed(op, err)
	}
	sha := pr.GetHead().GetSHA()
	if sha == "" {
		return "", &Error{Op: op, Message: "GitHub's answer names no commit"}
	}
	return sha, nil
}

// ReviewRemarks returns the texts of the line comments of one review, in GitHub's order. More than 2,000 are an error.
func (c *Client) ReviewRemarks(ctx context.Context, ref Ref, review int64) ([]string, error) {
	op := fmt.Sprintf("read the comments of review %d on %s", review, ref)
	listed, whole, err := readAll(func(page *github.ListOptions) ([]*github.PullRequestComment, *github.Response, error) {
		return c.rest.PullRequests.ListReviewComments(ctx, ref.Owner, ref.Name, ref.Number, review, page)
	})
	switch {
	case err != nil:
		return nil, c.failed(op, err)
	case !whole:
		return nil, &Error{Op: op, Message: "there are more than this program reads"}
	}
	var all []string
	for _, remark := range listed {
		all = append(all, remark.GetBody())
	}
	return all, nil
}

// call makes a request by REST for which go-github has no fitting method.
func (c *Client) call(ctx context.Context, method, path string, in, into any) (*github.Response, error) {
	request, err := c.rest.NewRequest(method, path, in)
	if err != nil {
		return nil, err
	}
	return c.rest.Do(ctx, request, into)
}

// readAll reads a list by REST, of which list reads a page, and reports whether maxRestPages have it all.
func readAll[T any](list func(*github.ListOptions) ([]T, *github.Response, error)) (all []T, whole bool, err error) {
	next := &github.ListOptions{PerPage: 100}
	for range maxRestPages {
		page, response, err := list(next)
		if err != nil {
			return nil, false, err
		}
		all = append(all, page...)
		if response.NextPage == 0 {
			return all, true, nil
		}
		next.Page = response.NextPage
	}
	return all, false, nil
}
