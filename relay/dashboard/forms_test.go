package dashboard_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/google/go-github/v66/github"

	"touchstone/agent/githubsim"
	"touchstone/agent/githubsim/simtest"
	"touchstone/relay/event"
	"touchstone/relay/recovery"
	"touchstone/relay/server"
	"touchstone/relay/source"
	"touchstone/relay/token"
)

// managed is a relay that looks after the webhook of a simulated GitHub, the text of an administrator's token, and how
// often GitHub was asked to redeliver. The log holds the webhook's ping and a pull request of this GitHub.
func managed(t *testing.T) (*relay, string, *atomic.Int64) {
	t.Helper()
	dir := t.TempDir()
	tokens := token.File{Path: filepath.Join(dir, "tokens")}
	made, admin, err := token.New("ops", token.Admin, event.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	if err := token.Add(t.Context(), tokens, made); err != nil {
		t.Fatal(err)
	}
	checker, err := token.NewChecker(t.Context(), tokens)
	if err != nil {
		t.Fatal(err)
	}
	store, err := server.OpenStore(t.Context(), "sqlite:"+filepath.Join(dir, "relay.db"))
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r, asked := &relay{t, "http://" + listener.Addr().String()}, new(atomic.Int64)
	hub := simtest.Behind(t, githubsim.Config{Users: simtest.Users("admin", "octocat")},
		githubsim.RepoOptions{Owner: "acme", Name: "app", Files: map[string]string{"a.txt": "a\n"}},
		func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
				if strings.HasSuffix(request.URL.Path, "/attempts") {
					asked.Add(1)
				}
				next.ServeHTTP(w, request)
			})
		})
	target, err := recovery.ParseTarget("acme/app")
	if err != nil {
		t.Fatal(err)
	}
	serve(t, server.Config{
		Listener: listener, Store: store, Tokens: checker, Sources: map[string]server.Source{"github": source.GitHub{Secret: secret}},
		Page: &server.Page{File: filepath.Join(dir, "page.db"), Reviewers: []string{"judge"}, GitHub: []string{"github"}},
		Recovery: recovery.Config{GitHub: recovery.GitHub{API: hub.URL, Token: simtest.Token("admin")}, Sources: []string{"github"},
			Targets: []recovery.Target{target}, Pace: 1},
	})
	gh := hub.As("admin")
	hook := &github.Hook{Name: github.String("web"), Events: []string{"*"}, Config: &github.HookConfig{
		URL: github.String(r.address + "/webhooks/github"), ContentType: github.String("json"), Secret: github.String(secret)}}
	if _, _, err := gh.Repositories.CreateHook(t.Context(), "acme", "app", hook); err != nil {
		t.Fatal(err)
	}
	if _, err := hub.Commit(t.Context(), "admin", "acme/app", "feature", "Change a", map[string]string{"a.txt": "b\n"}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := gh.PullRequests.Create(t.Context(), "acme", "app", &github.NewPullRequest{
		Title: github.String("Change a"), Head: github.String("feature"), Base: github.String("main"),
	}); err != nil {
		t.Fatal(err)
	}
	hub.Settle()
	return r, admin, asked
}

// What administrators do on the page is done by plain forms, with JavaScript and without it.
func TestFormsInABrowser(t *testing.T) {
	t.Parallel()
	r, admin, asked := managed(t)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.address+"/events?type=pull_request&after=oldest", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+admin)
	stream, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	lines := bufio.NewScanner(stream.Body)
	lines.Buffer(nil, 1<<20)
	// next is the id of the next pull request's event on the stream.
	next := func() string {
		for lines.Scan() {
			if !strings.HasPrefix(lines.Text(), "event: github.pull_request") {
				continue
			}
			for lines.Scan() {
				if id, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
					return id
				}
			}
		}
		t.Fatalf("the stream ended: %v", lines.Err())
		return ""
	}
	id := next()
	b := newBrowser(t, r.address)
	b.run(chromedp.Navigate(r.address+"/health"), visible("#token"), chromedp.SendKeys("#token", admin, chromedp.ByQuery),
		chromedp.Click("main button", chromedp.ByQuery), visible("#h-settings"))
	for round, script := range []bool{true, false} {
		b.run(emulation.SetScriptExecutionDisabled(!script))
		text := func(actions ...chromedp.Action) (said string) {
			b.run(append(actions, visible(".notice"), chromedp.Text("main", &said, chromedp.ByQuery))...)
			return said
		}
		event := chromedp.Navigate(r.address + "/log/" + id)
		said := text(event, chromedp.Click("form[action$='/redeliver'] button", chromedp.ByQuery))
		if !strings.Contains(said, "GitHub was asked") || asked.Load() != int64(round+1) {
			t.Errorf("scripts %t: GitHub was asked %d times, and the page says\n%s", script, asked.Load(), said)
		}
		if said := text(event, chromedp.Click("form[action$='/send'] button", chromedp.ByQuery)); !strings.Contains(said, "on its way") {
			t.Errorf("scripts %t: sent again:\n%s", script, said)
		}
		if again := next(); again != id {
			t.Errorf("scripts %t: the subscriber got %s, not %s", script, again, id)
		}
		said = text(chromedp.Navigate(r.address+"/health"), chromedp.SetValue("select[name=key]", "engine.off", chromedp.ByQuery),
			chromedp.SendKeys("input[name=value]", "opus", chromedp.ByQuery), chromedp.Click("button[value=set]", chromedp.ByQuery))
		if !strings.Contains(said, "The settings hold") || !strings.Contains(said, "opus") || !strings.Contains(said, "Set by ops") {
			t.Errorf("scripts %t: set:\n%s", script, said)
		}
		said = text(chromedp.Navigate(r.address+"/health"), chromedp.Click("button[value=unset]", chromedp.ByQuery))
		if !strings.Contains(said, "The settings hold") || strings.Contains(said, "opus") {
			t.Errorf("scripts %t: unset:\n%s", script, said)
		}
	}
	b.clean("the forms")
}

// The page of health tells of each webhook its last ping, and what was recovered.
func TestHealthTellsOfHooks(t *testing.T) {
	t.Parallel()
	r, admin, _ := managed(t)
	request := func(method, path string) string {
		request, err := http.NewRequestWithContext(t.Context(), method, r.address+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+admin)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	request(http.MethodPost, "/recover")
	health := request(http.MethodGet, "/api/v1/health")
	if !strings.Contains(health, `"free_bytes":`) || strings.Contains(health, `"free_bytes":0,`) {
		t.Errorf("it does not say what is free on the disk:\n%s", health)
	}
	for _, want := range []string{`"name":"repository acme/app, hook `, `"last_ping":"`, `"compared":"`, `"missing":0`, `"left":0`} {
		if !strings.Contains(health, want) {
			t.Errorf("%s is missing in\n%s", want, health)
		}
	}
	b := newBrowser(t, r.address)
	var row string
	b.run(chromedp.Navigate(r.address+"/health"), visible("#token"), chromedp.SendKeys("#token", admin, chromedp.ByQuery),
		chromedp.Click("main button", chromedp.ByQuery), chromedp.Text("table.hooks tbody tr", &row, chromedp.ByQuery))
	if !strings.Contains(row, "repository acme/app, hook") || !strings.Contains(row, "none") || strings.Contains(row, "–") {
		t.Errorf("the page says %q", row)
	}
}
