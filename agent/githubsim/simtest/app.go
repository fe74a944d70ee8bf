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

// App registers an App with a name and permissions, as a person and a program with the manifest do. By default
// it may write what a reviewer writes. It is not installed anywhere.
func (g *GitHub) App(name string, permissions map[string]string) App {
	g.t.Helper()
	if permissions == nil {
		permissions = map[string]string{"contents": "write", "pull_requests": "write", "issues": "write", "statuses": "write", "metadata": "read"}
	}
	manifest, err := json.Marshal(map[string]any{
		"name": name, "url": "https://example.com/", "redirect_url": "http://127.0.0.1:1/", "default_permissions": permissions,
		"default_events": []string{"pull_request"}, "hook_attributes": map[string]any{"url": "https://example.com/", "active": false},
	})
	g.must(err)
	browser := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := browser.PostForm(g.URL+"/settings/apps/new/confirmed", url.Values{"name": {name}, "manifest": {string(manifest)}})
	g.must(err)
	answer.Body.Close()
	back, err := answer.Location()
	g.must(err)
	answer, err = http.Post(g.URL+"/app-manifests/"+back.Query().Get("code")+"/conversions", "application/json", strings.NewReader(""))
	g.must(err)
	defer answer.Body.Close()
	var made struct {
		ID   int64
		Slug string
		PEM  string
	}
	g.must(json.NewDecoder(answer.Body).Decode(&made))
	key, err := appkey.Parse([]byte(made.PEM))
	g.must(err)
	return App{ID: made.ID, Login: made.Slug + "[bot]", Key: key}
}

func (g *GitHub) must(err error) {
	g.t.Helper()
	if err != nil {
		g.t.Fatal(err)
	}
}
