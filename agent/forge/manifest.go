package forge

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"touchstone/relay/appkey"
	"touchstone/verdict"
)

// Manifest is what GitHub creates an App from
// (https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest#github-app-manifest-parameters).
type Manifest struct {
	Name        string            `json:"name"`
	URL         string            `json:"url"`
	RedirectURL string            `json:"redirect_url"`
	Public      bool              `json:"public"`
	Events      []string          `json:"default_events"`
	Permissions map[string]string `json:"default_permissions"`
	Hook        ManifestHook      `json:"hook_attributes"`
}

// ManifestHook is the target of an App's webhook.
type ManifestHook struct {
	URL    string `json:"url"`
	Active bool   `json:"active"`
}

// hookEvents are the events that the agents and the relay's page need. GitHub sends an App only the events for which
// it has a permission (https://docs.github.com/webhooks/webhook-events-and-payloads): repository takes metadata: read,
// and workflow_run takes actions: read.
var hookEvents = []string{
	"pull_request", "pull_request_review", "pull_request_review_comment", "pull_request_review_thread", "issue_comment", "issues",
	"check_run", "check_suite", "status", "push", "workflow_run", "repository",
}

// ReviewerManifest is the manifest of a reviewer's App: what its agent reads and writes, and the events that
// the agents need. Its approvals can only count with write access to contents. GitHub sends the browser back
// to redirect. Without a hook it gets no events, and home, the project's page, is used where GitHub requires
// a URL.
func ReviewerManifest(name, home, redirect, hook string) Manifest {
	m := Manifest{
		Name: name, URL: home, RedirectURL: redirect, Events: []string{}, Hook: ManifestHook{URL: home},
		Permissions: map[string]string{
			"contents": "write", "pull_requests": "write", "issues": "write", "statuses": "write",
			"checks": "read", "actions": "read", "metadata": "read",
		},
	}
	if hook != "" {
		m.Hook = ManifestHook{URL: hook, Active: true}
		m.Events = slices.Clone(hookEvents)
	}
	return m
}

// RegisterURL is the URL to which a browser posts a manifest, for an organization or, if that is empty, for
// the person who is signed in. GitHub returns state.
func (cfg Config) RegisterURL(organization, state string) (string, error) {
	api, err := cfg.api()
	if err != nil {
		return "", err
	}
	path := "/settings/apps/new"
	if organization != "" {
		path = "/organizations/" + url.PathEscape(organization) + path
	}
	return webURL(*api) + path + "?" + url.Values{"state": {state}}.Encode(), nil
}

// Registered is a new App.
type Registered struct {
	App
	// Owner is the login of the person or organization that owns the App.
	Owner string
	// Page is the App's page on GitHub.
	Page string
	// KeyPEM is the private key, which GitHub returns only this once.
	KeyPEM string
}

// Register exchanges the code with which GitHub sent the browser back for the App. That works once and within
// an hour (https://docs.github.com/rest/apps/apps#create-a-github-app-from-a-manifest).
func Register(ctx context.Context, cfg Config, code string) (Registered, error) {
	const op = "take over the App from GitHub"
	api, err := cfg.api()
	if err != nil {
		return Registered{}, err
	}
	var made struct {
		ID      int64
		HTMLURL string `json:"html_url"`
		PEM     string
		Owner   struct{ Login string }
	}
	err = newTransport(cfg, api).call(ctx, api, http.MethodPost, "app-manifests/"+url.PathEscape(code)+"/conversions", nil, &made)
	if errors.Is(err, ErrNotFound) {
		return Registered{}, &Error{Op: op, Message: "GitHub does not know the code, it was already used, or it is more than an hour old",
			Remedy: "run `touchstone app create` again", kind: ErrNotFound}
	}
	if err != nil {
		return Registered{}, new(Client).failed(op, err)
	}
	key, err := appkey.Parse([]byte(made.PEM))
	if err != nil || made.ID == 0 {
		return Registered{}, &Error{Op: op, Message: "GitHub's answer contains no App", Remedy: "create a private key in the App's settings on " +
			"GitHub, and set github.app_id and github.app_key_file by hand"}
	}
	return Registered{App: App{ID: made.ID, Key: key}, Owner: made.Owner.Login, Page: made.HTMLURL, KeyPEM: made.PEM}, nil
}

// AppClient manages an App with its key.
type AppClient struct{ i *installations }

// NewAppClient returns a client for the App in cfg. It opens no connection; its errors are mistakes in cfg.
func NewAppClient(cfg Config) (*AppClient, error) {
	api, err := cfg.api()
	if err != nil {
		return nil, err
	}
	return &AppClient{newTransport(cfg, api).signer.(*installations)}, nil
}

// App manages the App as which the client acts; nil if that is a login.
func (c *Client) App() *AppClient {
	if i, ok := c.signer.(*installations); ok {
		return &AppClient{i}
	}
	return nil
}

// AppInfo is what GitHub says about an App.
type AppInfo struct {
	// Login is the login of its bot, which posts its reviews; Owner is the person or organization that owns the App.
	Login, Owner string
	// InstallURL is where people install it and choose its repositories.
	InstallURL string
}

// Info asks GitHub about the App. ErrUnauthorized and ErrNotFound say that the key, or the App, is not known.
func (a *AppClient) Info(ctx context.Context) (AppInfo, error) {
	var app struct {
		Slug    string
		HTMLURL string `json:"html_url"`
		Owner   struct{ Login string }
	}
	err := a.failed("ask GitHub about the App", a.i.call(ctx, http.MethodGet, "app", nil, &app))
	return AppInfo{Login: app.Slug + verdict.AppSuffix, Owner: app.Owner.Login, InstallURL: app.HTMLURL + "/installations/new"}, err
}

// SetHook sets the URL and the secret of the App's webhook
// (https://docs.github.com/rest/apps/webhooks#update-a-webhook-configuration-for-an-app).
func (a *AppClient) SetHook(ctx context.Context, address, secret string) error {
	body := map[string]string{"url": address, "content_type": "json", "insecure_ssl": "0", "secret": secret}
	return a.failed("set the App's webhook", a.i.call(ctx, http.MethodPatch, "app/hook/config", body, &struct{}{}))
}

// Installed returns a nil error if the App can act in a repository, ErrNotFound if it is not installed there, and
// ErrForbidden if its installation is suspended. Unsent are the events of the manifest that the App's webhook does not
// send there; GitHub's API cannot add events to an App.
func (a *AppClient) Installed(ctx context.Context, repo Repo) (unsent []string, err error) {
	found, err := a.i.find(ctx, repo)
	unsent = slices.DeleteFunc(slices.Clone(hookEvents), func(event string) bool { return slices.Contains(found.Events, event) })
	return unsent, a.failed(fmt.Sprintf("look for the App's installation on %s", repo), err)
}

func (a *AppClient) failed(op string, err error) error { return new(Client).failed(op, err) }
