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

// App is a GitHub App with its private key.
type App struct {
	ID  int64
	Key *rsa.PrivateKey
}

// renewBefore is how long before its end an installation's token is renewed, so that an act that starts with
// it can finish. GitHub's tokens are valid for an hour.
const renewBefore = 10 * time.Minute

// signer provides the tokens for requests.
type signer interface {
	// sign returns the token for a request about a repository. The zero Repo means no particular one.
	sign(ctx context.Context, repo Repo) (token, error)
	// refused says that GitHub rejected a token, and reports whether another one is available.
	refused(repo Repo, t token) bool
}

func (t token) sign(context.Context, Repo) (token, error) { return t, nil }

func (t token) refused(Repo, token) bool { return false }

// installations sign as an App. A request about a repository gets a token for that repository only. The token
// is requested when it is first needed, and renewed before it expires.
type installations struct {
	app  App
	api  *url.URL
	base http.RoundTripper
	// clock knows how far this machine's clock is ahead of GitHub's: the App's own tokens must carry GitHub's
	// time.
	clock *clock

	mu     sync.Mutex
	issued map[Repo]*issued
}

// issued is the token of a repository. Its lock is held while a token is requested, so that concurrent
// requests ask for only one.
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
	signed, err := i.own(ctx, repo)
	if of, ok := ctx.Value(besideKey{}).(Repo); ok && errors.Is(err, ErrNotFound) && !unknownApp(err) {
		return i.own(ctx, of)
	}
	return signed, err
}

// own returns the token of the installation that has a repository.
func (i *installations) own(ctx context.Context, repo Repo) (token, error) {
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

// installation is an installation of an App.
type installation struct {
	ID      int64
	Account struct{ Login string }
	// SuspendedAt is empty unless the installation is suspended.
	SuspendedAt string `json:"suspended_at"`
	HTMLURL     string `json:"html_url"`
	// Events are those that the App's webhook sends.
	Events []string
}

// find looks up the installation that has a repository. For the zero Repo, it is any installation that is not
// suspended.
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

// unknownApp reports whether an error is about the App itself, which is gone or never existed.
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

// issue requests a token of an installation, limited to the repository if there is one.
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
		return token{}, time.Time{}, i.absent(ctx, repo) // it was removed from the installation just now
	case errors.Is(err, ErrForbidden) && strings.Contains(refusal.Message, "suspended"):
		return token{}, time.Time{}, from.suspended()
	case err != nil:
		return token{}, time.Time{}, err
	case got.Token == "":
		return token{}, time.Time{}, errors.New("GitHub's answer contains no installation token")
	}
	until := got.ExpiresAt.Add(-renewBefore)
	return token{text: got.Token, app: true}, until, nil
}

// absent is the error that the App cannot act in a repository, with the remedy.
func (i *installations) absent(ctx context.Context, repo Repo) *Error {
	return &Error{Message: fmt.Sprintf("the GitHub App is not installed on %s", repo), kind: ErrNotFound,
		Remedy: "check the name, and add the repository at " + i.page(ctx)}
}

func (f installation) suspended() *Error {
	return &Error{Message: fmt.Sprintf("the installation of the GitHub App at %s is suspended", f.Account.Login), kind: ErrForbidden,
		Remedy: "ask its owner to end the suspension at " + f.HTMLURL}
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

// call sends a request as the App itself and decodes the answer. If this machine's clock turns out to be
// wrong, it repeats the request by GitHub's clock.
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

// call sends a request, with a JSON body if there is one, and decodes the answer.
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
	// A repetition is harmless: it creates nothing twice, except perhaps one more token, and the unused one
	// expires.
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

// about marks a request as being about a repository, where its URL does not say so.
func about(ctx context.Context, repo Repo) context.Context {
	return context.WithValue(ctx, aboutKey{}, repo)
}

type besideKey struct{}

// Beside marks reads as made for a repository. An App reads others, on which it is not installed, with the token of
// this one, which sees what is public.
func Beside(ctx context.Context, of Repo) context.Context {
	return context.WithValue(ctx, besideKey{}, of)
}

// aboutRepo is the repository that a request is about, or zero.
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
