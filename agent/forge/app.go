package forge

import (
	"bytes"
	"context"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"touchstone/relay/appkey"
)

// App is a GitHub App, as the holder of its private key knows it.
type App struct {
	ID  int64
	Key *rsa.PrivateKey
}

// renewBefore is how long before its end an installation's token is renewed: an act that begins with it is
// done by then. GitHub gives one for an hour.
const renewBefore = 10 * time.Minute

// signer gives out what requests are signed with.
type signer interface {
	// sign gives the token for a request about a repository; the zero Repo is none in particular.
	sign(ctx context.Context, repo Repo) (token, error)
	// refused says that GitHub did not know a token, and reports whether another one can be had.
	refused(repo Repo, t token) bool
}

func (t token) sign(context.Context, Repo) (token, error) { return t, nil }

func (t token) refused(Repo, token) bool { return false }

// installations sign as an App: a request about a repository with a token for that repository alone, which is
// asked for when it is first needed and renewed before it ends.
type installations struct {
	app  App
	api  *url.URL
	base http.RoundTripper
	// clock tells how far this machine's is ahead of GitHub's, whose times an App's own tokens carry.
	clock *clock

	mu     sync.Mutex
	issued map[Repo]*issued
}

// issued is the token of a repository. Its lock is held while one is asked for, so that many requests at once
// ask for one.
type issued struct {
	mu    sync.Mutex
	token token
	until time.Time // by GitHub's clock
}

func (i *installations) of(repo Repo) *issued {
	i.mu.Lock()
	defer i.mu.Unlock()
	repo = Repo{Owner: strings.ToLower(repo.Owner), Name: strings.ToLower(repo.Name)}
	if i.issued == nil {
		i.issued = map[Repo]*issued{}
	}
	if i.issued[repo] == nil {
		i.issued[repo] = &issued{}
	}
	return i.issued[repo]
}

func (i *installations) sign(ctx context.Context, repo Repo) (token, error) {
	held := i.of(repo)
	held.mu.Lock()
	defer held.mu.Unlock()
	if i.clock.now().Before(held.until) {
		return held.token, nil
	}
	found, err := i.find(ctx, repo)
	if err != nil {
		return token{}, err
	}
	got, until, err := i.issue(ctx, found, repo)
	if err != nil {
		return token{}, err
	}
	held.token, held.until = got, until
	return got, nil
}

func (i *installations) refused(repo Repo, t token) bool {
	held := i.of(repo)
	held.mu.Lock()
	defer held.mu.Unlock()
	if held.token == t {
		held.until = time.Time{}
	}
	return true
}

// installation is where an App was installed.
type installation struct {
	ID      int64
	Account struct{ Login string }
	// SuspendedAt is empty unless somebody suspended it.
	SuspendedAt string `json:"suspended_at"`
	HTMLURL     string `json:"html_url"`
}

// find looks up the installation that a repository is part of; for none in particular, any that is not suspended.
func (i *installations) find(ctx context.Context, repo Repo) (installation, error) {
	if repo == (Repo{}) {
		return i.any(ctx)
	}
	var found installation
	err := i.call(ctx, http.MethodGet, "repos/"+repo.String()+"/installation", nil, &found)
	switch {
	case errors.Is(err, ErrNotFound) && !unknownApp(err):
		return found, i.absent(ctx, repo)
	case err == nil && found.SuspendedAt != "":
		err = found.suspended()
	}
	return found, err
}

// unknownApp tells the App that is gone, or never was, from what it is asked about.
func unknownApp(err error) bool { return strings.Contains(err.Error(), "Integration not found") }

func (i *installations) any(ctx context.Context) (installation, error) {
	var all []installation
	if err := i.call(ctx, http.MethodGet, "app/installations?per_page=100", nil, &all); err != nil {
		return installation{}, err
	}
	for _, found := range all {
		if found.SuspendedAt == "" {
			return found, nil
		}
	}
	if len(all) > 0 {
		return installation{}, all[0].suspended()
	}
	return installation{}, &Error{Message: "the GitHub App is not installed anywhere", kind: ErrNotFound,
		Remedy: "install it at " + i.page(ctx)}
}

// issue asks for the token of an installation, of the repository alone if there is one.
func (i *installations) issue(ctx context.Context, from installation, repo Repo) (token, time.Time, error) {
	body := map[string]any{}
	if repo != (Repo{}) {
		body["repositories"] = []string{repo.Name}
	}
	var got struct {
		Token     string
		ExpiresAt time.Time `json:"expires_at"`
	}
	err := i.call(ctx, http.MethodPost, fmt.Sprintf("app/installations/%d/access_tokens", from.ID), body, &got)
	var refusal *Error
	switch {
	case errors.As(err, &refusal) && refusal.Status == http.StatusUnprocessableEntity, errors.Is(err, ErrNotFound):
		return token{}, time.Time{}, i.absent(ctx, repo) // it was taken out just now
	case errors.Is(err, ErrForbidden) && strings.Contains(refusal.Message, "suspended"):
		return token{}, time.Time{}, from.suspended()
	case err != nil:
		return token{}, time.Time{}, err
	case got.Token == "":
		return token{}, time.Time{}, errors.New("GitHub's answer holds no token of the installation")
	}
	until := got.ExpiresAt.Add(-renewBefore)
	return token{text: got.Token, app: true}, until, nil
}

// absent says that the App cannot act in a repository, and how it could.
func (i *installations) absent(ctx context.Context, repo Repo) *Error {
	return &Error{Message: fmt.Sprintf("the GitHub App is not installed on %s", repo), kind: ErrNotFound,
		Remedy: "check the name, and add the repository at " + i.page(ctx)}
}

func (f installation) suspended() *Error {
	return &Error{Message: fmt.Sprintf("the installation of the GitHub App at %s is suspended", f.Account.Login), kind: ErrForbidden,
		Remedy: "have an owner of it end that at " + f.HTMLURL}
}

// page is where people install the App.
func (i *installations) page(ctx context.Context) string {
	var app struct {
		HTMLURL string `json:"html_url"`
	}
	if err := i.call(ctx, http.MethodGet, "app", nil, &app); err != nil || app.HTMLURL == "" {
		return "the App's page on GitHub"
	}
	return app.HTMLURL + "/installations/new"
}

// call sends a request as the App itself, again by GitHub's clock if this machine's is too far off, and reads
// the answer into a value.
func (i *installations) call(ctx context.Context, method, path string, in, into any) error {
	before := i.clock.apart()
	err := i.once(ctx, method, path, in, into)
	if errors.Is(err, ErrUnauthorized) && (i.clock.apart()-before).Abs() >= time.Second {
		err = i.once(ctx, method, path, in, into)
	}
	return err
}

func (i *installations) once(ctx context.Context, method, path string, in, into any) error {
	signed, err := appkey.Token(strconv.FormatInt(i.app.ID, 10), i.app.Key, i.clock.now())
	if err != nil {
		return err
	}
	own := &transport{base: i.base, host: i.api.Host, signer: token{text: signed, own: true}, clock: i.clock}
	return own.call(ctx, i.api, method, path, in, into)
}

// call sends a request with a body in JSON, if there is one, and reads the answer into a value.
func (t *transport) call(ctx context.Context, api *url.URL, method, path string, in, into any) error {
	address, err := api.Parse(path)
	if err != nil {
		return err
	}
	var body []byte
	if in != nil {
		if body, err = json.Marshal(in); err != nil {
			return err
		}
	}
	// What is asked for twice here is made once, or is one token more, of which the first ends by itself.
	req, err := http.NewRequestWithContext(asRead(ctx), method, address.String(), bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "application/vnd.github+json")
	req.Header.Set("Content-Type", "application/json")
	response, err := t.RoundTrip(req)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(into); err != nil {
		return fmt.Errorf("GitHub's answer cannot be read: %w", err)
	}
	return nil
}

type aboutKey struct{}

// about marks a request that is about a repository where its address does not say so.
func about(ctx context.Context, repo Repo) context.Context {
	return context.WithValue(ctx, aboutKey{}, repo)
}

// aboutRepo is the repository that a request is about, zero for none.
func aboutRepo(req *http.Request) Repo {
	if repo, ok := req.Context().Value(aboutKey{}).(Repo); ok {
		return repo
	}
	_, rest, _ := strings.Cut(req.URL.Path, "/repos/")
	owner, rest, _ := strings.Cut(rest, "/")
	name, _, _ := strings.Cut(rest, "/")
	if owner == "" || name == "" {
		return Repo{}
	}
	return Repo{Owner: owner, Name: name}
}
