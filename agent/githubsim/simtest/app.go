package simtest

import (
	"crypto/rsa"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"touchstone/relay/appkey"
)

// App is a GitHub App registered from a manifest.
type App struct {
	ID    int64
	Login string // the login of its bot
	Key   *rsa.PrivateKey
}

// App registers an App that may write what a reviewer writes, as a person and a program with the manifest do. It is not
// installed anywhere.
func (g *GitHub) App() App {
	g.t.Helper()
	const name = "Acme Reviewer"
	manifest, err := json.Marshal(map[string]any{
		"name": name, "url": "https://example.com/", "redirect_url": "http://127.0.0.1:1/",
		"default_permissions": map[string]string{
			"contents": "write", "pull_requests": "write", "issues": "write", "statuses": "write", "metadata": "read",
		},
		"default_events": []string{"pull_request"}, "hook_attributes": map[string]any{"url": "https://example.com/", "active": false},
	})
	g.Must(err)
	browser := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := browser.PostForm(g.URL+"/settings/apps/new/confirmed", url.Values{"name": {name}, "manifest": {string(manifest)}})
	g.Must(err)
	answer.Body.Close()
	back, err := answer.Location()
	g.Must(err)
	answer, err = http.Post(g.URL+"/app-manifests/"+back.Query().Get("code")+"/conversions", "application/json", strings.NewReader(""))
	g.Must(err)
	defer answer.Body.Close()
	var made struct {
		ID   int64
		Slug string
		PEM  string
	}
	g.Must(json.NewDecoder(answer.Body).Decode(&made))
	key, err := appkey.Parse([]byte(made.PEM))
	g.Must(err)
	return App{ID: made.ID, Login: made.Slug + "[bot]", Key: key}
}

// Must fails the test if there is an error.
func (g *GitHub) Must(err error) {
	g.t.Helper()
	if err != nil {
		g.t.Fatal(err)
	}
}
