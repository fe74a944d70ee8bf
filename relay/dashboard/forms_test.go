package dashboard_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/google/go-github/v66/github"

	"touchstone/agent/githubsim"
	"touchstone/agent/githubsim/simtest"
	"touchstone/relay/dashboard/chromium"
	"touchstone/relay/event"
	"touchstone/relay/recovery"
	"touchstone/relay/server"
	"touchstone/relay/source"
	"touchstone/relay/token"
)

// managed is a relay that looks after the webhook of a simulated GitHub.
type managed struct {
	*relay
	hub  *simtest.GitHub
	hook int64
	// asked is how often GitHub was asked to redeliver.
	asked atomic.Int64
}

// manage starts such a relay; its log holds the webhook's ping and a pull request.
func manage(t *testing.T) *managed {
	t.Helper()
	dir := t.TempDir()
	tokens := token.File{Path: filepath.Join(dir, "tokens")}
	issued, admin, err := token.New("ops", token.Admin, event.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	if err := token.Add(t.Context(), tokens, issued); err != nil {
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
	r := &managed{relay: &relay{t: t, address: "http://" + listener.Addr().String(), token: admin, notes: store}}
	r.hub = simtest.Behind(t, githubsim.Config{Users: simtest.Users("admin", "octocat")},
		githubsim.RepoOptions{Owner: "acme", Name: "app", Files: map[string]string{"a.txt": "a\n"}},
		func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
				if strings.HasSuffix(request.URL.Path, "/attempts") {
					r.asked.Add(1)
				}
				next.ServeHTTP(w, request)
			})
		})
	// The webhook is there first, so that the relay, whose first comparison finds it, makes the next one in ten minutes.
	gh := r.hub.As("admin")
	made, _, err := gh.Repositories.CreateHook(t.Context(), "acme", "app", &github.Hook{Name: github.String("web"), Events: []string{"*"},
		Config: &github.HookConfig{URL: github.String(r.address + "/webhooks/github"), ContentType: github.String("json"),
			Secret: github.String(secret)}})
	if err != nil {
		t.Fatal(err)
	}
	r.hook = made.GetID()
	target, err := recovery.ParseTarget("acme/app")
	if err != nil {
		t.Fatal(err)
	}
	serve(t, server.Config{
		Listener: listener, Store: store, Tokens: checker, Sources: map[string]server.Source{"github": source.GitHub{Secret: secret}},
		Page: &server.Page{File: filepath.Join(dir, "page.db"), Reviewers: []string{"judge"}, GitHub: []string{"github"}},
		Recovery: recovery.Config{GitHub: recovery.GitHub{API: r.hub.URL, Token: simtest.Token("admin")}, Sources: []string{"github"},
			Targets: []recovery.Target{target}, Pace: 1},
	})
	if _, err := r.hub.Commit(t.Context(), "admin", "acme/app", "feature", "Change a", map[string]string{"a.txt": "b\n"}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := gh.PullRequests.Create(t.Context(), "acme", "app", &github.NewPullRequest{
		Title: github.String("Change a"), Head: github.String("feature"), Base: github.String("main"),
	}); err != nil {
		t.Fatal(err)
	}
	r.hub.Settle()
	return r
}

// The page's plain forms do what administrators do, with JavaScript and without it.
func TestFormsInABrowser(t *testing.T) {
	t.Parallel()
	r := manage(t)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.address+"/events?type=pull_request&after=oldest", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+r.token)
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
	b := chromium.Open(t, r.address)
	b.SignIn("/health", r.token)
	for round, script := range []bool{true, false} {
		b.Run(emulation.SetScriptExecutionDisabled(!script))
		text := func(actions ...chromedp.Action) (said string) {
			b.Run(append(actions, chromium.Visible(".notice"), chromedp.Text("main", &said, chromedp.ByQuery))...)
			return said
		}
		event := b.Go("/log/" + id)
		said := text(event, chromedp.Click("form[action$='/redeliver'] button", chromedp.ByQuery))
		if !strings.Contains(said, "GitHub was asked") || r.asked.Load() != int64(round+1) {
			t.Errorf("scripts %t: GitHub was asked %d times, and the page says\n%s", script, r.asked.Load(), said)
		}
		if said := text(event, chromedp.Click("form[action$='/send'] button", chromedp.ByQuery)); !strings.Contains(said, "is being sent again") {
			t.Errorf("scripts %t: sent again:\n%s", script, said)
		}
		if again := next(); again != id {
			t.Errorf("scripts %t: the subscriber got %s, not %s", script, again, id)
		}
		said = text(b.Go("/health"), chromedp.SetValue("select[name=key]", "engine.off", chromedp.ByQuery),
			chromedp.SendKeys("input[name=value]", "opus", chromedp.ByQuery), chromedp.Click("button[value=set]", chromedp.ByQuery))
		if !strings.Contains(said, "The settings are saved") || !strings.Contains(said, "opus") || !strings.Contains(said, "Set by ops") {
			t.Errorf("scripts %t: set:\n%s", script, said)
		}
		said = text(b.Go("/health"), chromedp.Click("button[value=unset]", chromedp.ByQuery))
		if !strings.Contains(said, "The settings are saved") || strings.Contains(said, "opus") {
			t.Errorf("scripts %t: unset:\n%s", script, said)
		}
	}
	b.Clean("the forms")
}

// The health page shows each webhook's last ping, and what was recovered.
func TestHealthTellsOfHooks(t *testing.T) {
	t.Parallel()
	r := manage(t)
	r.ask(http.MethodPost, "/recover", http.StatusOK)
	health := r.get("/api/v1/health", http.StatusOK)
	if !strings.Contains(health, `"free_bytes":`) || strings.Contains(health, `"free_bytes":0,`) {
		t.Errorf("it does not say what is free on the disk:\n%s", health)
	}
	for _, want := range []string{`"name":"repository acme/app, hook `, `"last_ping":"`, `"compared":"`, `"missing":0`, `"left":0`} {
		if !strings.Contains(health, want) {
			t.Errorf("%s is missing in\n%s", want, health)
		}
	}
	b := chromium.Open(t, r.address)
	var row string
	b.SignIn("/health", r.token)
	b.Run(chromedp.Text("table.hooks tbody tr", &row, chromedp.ByQuery))
	if !strings.Contains(row, "repository acme/app, hook") || !strings.Contains(row, "none") || strings.Contains(row, "–") {
		t.Errorf("the page says %q", row)
	}
}

// The health page shows what a comparison with GitHub's list brought in, and which deliveries are lost: here
// a webhook's secret was wrong for a while, and then the relay was down for longer than GitHub lists
// deliveries.
func TestHealthTellsOfGaps(t *testing.T) {
	t.Parallel()
	r := manage(t)
	r.ask(http.MethodPost, "/recover", http.StatusOK)
	gh, path := r.hub.As("admin"), fmt.Sprintf("repos/acme/app/hooks/%d", r.hook)
	signedBy := func(secret string) {
		hook := &github.Hook{Config: &github.HookConfig{URL: github.String(r.address + "/webhooks/github"),
			ContentType: github.String("json"), Secret: github.String(secret)}}
		if _, _, err := gh.Repositories.EditHook(t.Context(), "acme", "app", r.hook, hook); err != nil {
			t.Fatal(err)
		}
	}
	signedBy("another")
	if _, _, err := gh.Issues.CreateComment(t.Context(), "acme", "app", 1, &github.IssueComment{Body: github.String("Lost?")}); err != nil {
		t.Fatal(err)
	}
	r.hub.Settle()
	signedBy(secret)
	type hook struct {
		Missing, Recovered, Left int
		Gap, Since               time.Time
	}
	b := chromium.Open(t, r.address)
	b.SignIn("/health", r.token)
	compared := func() (h hook, row string) {
		t.Helper()
		r.ask(http.MethodPost, "/recover", http.StatusOK)
		var health struct{ Hooks []hook }
		r.read("/api/v1/health", &health)
		b.Run(b.Go("/health"), chromedp.Text("table.hooks tbody tr", &row, chromedp.ByQuery))
		return health.Hooks[0], row
	}
	h, row := compared()
	if h.Missing == 0 || h.Recovered != h.Missing || h.Left != 0 || !h.Gap.IsZero() ||
		!strings.HasSuffix(row, fmt.Sprintf("\t%d\t%d\t0\tnone", h.Missing, h.Recovered)) {
		t.Errorf("after deliveries that were refused it tells %+v and %q", h, row)
	}
	if !strings.Contains(r.get("/pulls/acme/app/1", http.StatusOK), "Lost?") {
		t.Error("what was recovered does not show")
	}
	away := time.Now().Add(-4 * 24 * time.Hour).UTC().Truncate(time.Second)
	if err := r.notes.SetNote(t.Context(), "recovery "+path, away.Format(time.RFC3339)); err != nil {
		t.Fatal(err)
	}
	h, row = compared()
	const stamp = "2006-01-02 15:04:05 UTC"
	if lost := away.Format(stamp) + " to " + h.Since.UTC().Format(stamp) + " is lost"; !h.Gap.Equal(away) || !strings.HasSuffix(row, lost) {
		t.Errorf("after four days it tells %+v and %q, want %q", h, row, lost)
	}
}

// The health page shows since when the log is known, which is not since ever.
func TestHealthSaysSinceWhenTheLogIsKnown(t *testing.T) {
	t.Parallel()
	since := time.Now().AddDate(0, 0, -20).UTC()
	r := startRelay(t, since)
	want := "<dt>Known since</dt><dd>" + since.Format("2006-01-02 15:04:05 UTC")
	if page := r.get("/health", http.StatusOK); !strings.Contains(page, want) {
		t.Errorf("%q is missing in\n%s", want, page)
	}
	for _, path := range []string{"/trends", "/rules"} {
		if page := r.get(path+"?since=90d", http.StatusOK); !strings.Contains(page, "Known since "+since.Format(time.DateOnly)) {
			t.Errorf("%s does not say since when it knows:\n%s", path, page)
		}
		if page := r.get(path+"?since=7d", http.StatusOK); strings.Contains(page, "what was before is not counted") {
			t.Errorf("%s says that it knows less than it is asked for:\n%s", path, page)
		}
	}
}
