package dashboard_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"touchstone/relay/dashboard/chromium"
	"touchstone/relay/event"
	"touchstone/relay/internal/examples"
	"touchstone/relay/server"
	"touchstone/relay/source"
	"touchstone/relay/token"
	"touchstone/verdict"
)

const secret = "s3cret"

func TestMain(m *testing.M) {
	code := m.Run()
	chromium.Stop()
	os.Exit(code)
}

// relay is a running relay with a page.
type relay struct {
	t       *testing.T
	address string
	token   string         // the text of an administrator's; empty where none is required
	notes   token.Notebook // what is kept beside the log
}

// startRelay starts a relay whose log is known since a moment or, without one, whose log is empty.
func startRelay(t *testing.T, since ...time.Time) *relay {
	t.Helper()
	dir := t.TempDir()
	store, err := server.OpenStore(t.Context(), "sqlite:"+filepath.Join(dir, "relay.db"))
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range since {
		if _, err := store.Append(t.Context(), []event.Event{{Source: "github", Delivery: "first", Type: "ping", ReceivedAt: at}}); err != nil {
			t.Fatal(err)
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	serve(t, server.Config{
		Listener: listener, Store: store, Heartbeat: 300 * time.Millisecond,
		Sources: map[string]server.Source{"github": source.GitHub{Secret: secret}},
		Page: &server.Page{File: filepath.Join(dir, "page.db"), Reviewers: []string{"judge"}, GitHub: []string{"github"},
			Store: "sqlite:" + filepath.Join(dir, "relay.db"), Version: "test"},
	})
	return &relay{t: t, address: "http://" + listener.Addr().String(), notes: store}
}

// serve runs a relay until the test ends, and then closes its store.
func serve(t *testing.T, config server.Config) {
	t.Helper()
	s, err := server.New(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := config.Store.Close(); err != nil {
			t.Error(err)
		}
	})
}

// send sends a webhook.
func (r *relay) send(kind string, payload any) {
	r.t.Helper()
	text, err := json.Marshal(payload)
	if err != nil {
		r.t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(examples.Request(r.t, r.address, secret, kind, rand.Text(), text))
	if err != nil {
		r.t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusAccepted {
		r.t.Fatalf("%s was answered %s", kind, response.Status)
	}
}

type object = map[string]any

// opened is a pull request that was opened a number of minutes ago.
func opened(number, minutes int, title, author, branch string) object {
	at := time.Now().Add(-time.Duration(minutes) * time.Minute).UTC()
	return object{"action": "opened", "number": number, "repository": object{"full_name": "acme/app"}, "sender": object{"login": author},
		"pull_request": object{
			"id": number, "number": number, "title": title, "state": "open", "user": object{"login": author},
			"head": object{"sha": fmt.Sprintf("%040d", number), "ref": branch},
			"base": object{"ref": "main"}, "created_at": at, "updated_at": at, "html_url": "https://github.test/acme/app/pull/1",
		}}
}

// review returns a review of the pull request with a record.
func review(of object, v verdict.Verdict, by string, ledger verdict.Ledger) object {
	pull := of["pull_request"].(object)
	head := pull["head"].(object)["sha"].(string)
	r := verdict.Record{Verdict: v, Head: head, Round: 1, Model: "a-model", Guidelines: "0123456789", CostUSD: 0.7, Ledger: ledger,
		Duration: 42 * time.Second}
	seal, err := r.Seal(verdict.Signer{})
	if err != nil {
		panic(err)
	}
	state := map[verdict.Verdict]string{verdict.Approve: "approved", verdict.RequestChanges: "changes_requested"}[v]
	return object{"action": "submitted", "repository": of["repository"], "sender": object{"login": by}, "pull_request": pull, "review": object{
		"id": pull["number"], "body": "Prose.\n\n" +
			seal, "state": state, "commit_id": head, "user": object{"login": by}, "submitted_at": time.Now().UTC(),
		"html_url": "https://github.test/r",
	}}
}

// hostile are texts that would run, load or break something if they were not treated as text.
var hostile = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `</title><script>alert(1)</script>`, `{{.}}{{template "turn" .}}`,
	`javascript:alert(1)`,
	`<a href="https://evil.test/">x</a>`, `' onmouseover='alert(1)`, `<svg/onload=alert(1)>`, "\u202egnirts desrever\u2066", "a\x00b\x1b[31m",
	`<!-- -->`, `<link rel=stylesheet href=https://evil.test/x.css>`,
	`hx-get="https://evil.test/" hx-trigger="load"`, `<div hx-get="https://evil.test/" hx-trigger="load">x</div>`, strings.Repeat("W", 3000),
	strings.Repeat("\u0301", 500), "../../../etc/passwd",
}

func hostileRelay(t *testing.T) *relay {
	r := startRelay(t)
	for i, text := range hostile {
		pull := opened(i+1, i, text, text, text)
		r.send("pull_request", pull)
		r.send("pull_request_review", review(pull, verdict.RequestChanges, "judge", verdict.Ledger{
			{ID: "f1", Status: verdict.Disputed, Severity: verdict.Critical, Dimension: verdict.Security, Rule: text, Path: text, Line: 3,
				Claim: text, Said: &verdict.Said{By: text, Why: text}, First: 1, Last: 1},
		}))
		r.send("issue_comment", object{"action": "created", "repository": object{"full_name": "acme/app"}, "sender": object{"login": text},
			"issue": object{"number": i + 1, "pull_request": object{}}, "comment": object{"body": text}, text: text})
		r.send("check_run", object{"action": "completed", "repository": object{"full_name": "acme/app"},
			"check_run": object{"id": i, "name": text, "head_sha": fmt.Sprintf("%040d", i+1), "status": "completed", "conclusion": text}})
		r.send("status", object{"repository": object{"full_name": "acme/app"}, "sender": object{"login": "judge"},
			"sha": fmt.Sprintf("%040d", i+1), "context": "touchstone/review", "state": text, "description": text})
		beacon, err := json.Marshal(object{"role": text, "login": text, "version": text, "model": text,
			"work": []object{{"pull": text, "act": text, "phase": text}}, "resting": []string{text}})
		if err != nil {
			t.Fatal(err)
		}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, r.address+"/api/v1/machines/self",
			strings.NewReader(string(beacon)))
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
	}
	return r
}

// read reads what the API answers.
func (r *relay) read(path string, into any) {
	r.t.Helper()
	if err := json.Unmarshal([]byte(r.get(path, http.StatusOK)), into); err != nil {
		r.t.Fatal(err)
	}
}

// views returns the pages of a relay with so many pull requests; those of events are a sample.
func (r *relay) views(pulls int) []string {
	r.t.Helper()
	var all struct{ Events []struct{ ID string } }
	r.read("/api/v1/events?limit=500", &all)
	views := []string{"/", "/?state=all&author=%3Cscript%3Ealert(1)%3C/script%3E", "/log", "/rules?since=7d", "/rules/security/S2?since=7d",
		"/trends?since=7d", "/machines", "/health", "/pulls/none/none/1"}
	for i := range pulls {
		views = append(views, fmt.Sprintf("/pulls/acme/app/%d", i+1))
	}
	for i, e := range all.Events {
		if i%13 == 0 {
			views = append(views, "/log/"+e.ID)
		}
	}
	return views
}

// Titles, branches, logins, findings, payloads and agents' reports are treated as text: in a real browser,
// none of them runs, loads anything or makes a page wider than the screen.
func TestHostileTextsStayText(t *testing.T) {
	t.Parallel()
	r := hostileRelay(t)
	b := chromium.Open(t, r.address)
	for _, view := range r.views(len(hostile)) {
		b.Run(b.Go(view), chromium.Visible("#main"))
		intact(t, b, view, [2]int64{1280, 900}, [2]int64{390, 844})
	}
}

// Every page shows GitHub's published example webhooks, and an event of each type.
func TestPagesShowTheWebhooksThatGitHubPublishes(t *testing.T) {
	t.Parallel()
	r := startRelay(t)
	all := examples.All(t)
	for i, e := range all {
		response, err := http.DefaultClient.Do(examples.Request(t, r.address, secret, e.Event, examples.Delivery(i), e.Payload))
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode/100 != 2 {
			t.Fatalf("%s was answered %s", e.Event, response.Status)
		}
	}
	var log struct{ Events []struct{ ID, Type string } }
	r.read("/api/v1/events?limit=500", &log)
	var pulls struct {
		Pulls []struct {
			Repo   string
			Number int
		}
	}
	r.read("/api/v1/pulls?state=all&limit=500", &pulls)
	if len(log.Events) < 300 || len(pulls.Pulls) == 0 {
		t.Fatalf("of %d examples the page knows %d events and %d pull requests", len(all), len(log.Events), len(pulls.Pulls))
	}
	views := []string{"/", "/?state=all", "/log", "/rules", "/trends", "/machines", "/health"}
	for _, p := range pulls.Pulls {
		views = append(views, fmt.Sprintf("/pulls/%s/%d", p.Repo, p.Number))
	}
	types := map[string]bool{}
	for _, e := range log.Events {
		if !types[e.Type] {
			types[e.Type], views = true, append(views, "/log/"+e.ID)
		}
	}
	b := chromium.Open(t, r.address)
	for _, view := range views {
		b.Run(b.Go(view), chromium.Visible("#main"))
		intact(t, b, view, [2]int64{1280, 900})
	}
}

// intact reports hostile texts on the open page that were not treated as text, and where the page is wider
// than a screen.
func intact(t *testing.T, b *chromium.Tab, view string, sizes ...[2]int64) {
	t.Helper()
	for _, size := range sizes {
		var strange []string
		// Plots take their width a moment after the screen has changed its own.
		fits := chromedp.Poll(`document.documentElement.scrollWidth <= document.documentElement.clientWidth`, nil,
			chromedp.WithPollingTimeout(20*time.Second))
		b.Run(chromedp.EmulateViewport(size[0], size[1]))
		if err := b.Try(fits); err != nil {
			t.Errorf("%s is wider than a screen of %d: %v", view, size[0], err)
		}
		b.Run(chromedp.Evaluate(`[...document.querySelectorAll("main script, main img, main svg[onload], main iframe, main [onerror], main `+
			`[onload], main [onmouseover], main [hx-get], `+
			`main [data-hx-get]:not(#main), main a[href^='javascript' i], main [style]:not(.charts *)")].map(e => `+
			`e.outerHTML.slice(0, 100))`, &strange))
		for _, element := range strange {
			t.Errorf("%s holds %s", view, element)
		}
		b.Clean(view)
	}
}

// An open board shows a change within a second, and does not move while it is paused.
func TestBoardIsLive(t *testing.T) {
	t.Parallel()
	r := startRelay(t)
	r.send("pull_request", opened(1, 5, "The first", "alice", "one"))
	b := chromium.Open(t, r.address)
	b.Run(b.Go("/"), chromium.Visible(".live.on"))
	r.send("pull_request", opened(2, 1, "The second", "alice", "two"))
	b.Run(chromium.Visible(`[id="p-acme/app-2"]`))
	b.Run(chromedp.KeyEvent("p"), chromium.Visible(".live[aria-pressed=true]"))
	r.send("pull_request", opened(3, 1, "The third", "alice", "three"))
	var there bool
	b.Run(chromedp.Poll(`document.getElementById("live").textContent.includes("there is news")`, nil, chromedp.WithPollingTimeout(0)),
		chromedp.Evaluate(`!!document.querySelector("[id='p-acme/app-3']")`, &there))
	if there {
		t.Error("a paused board moved")
	}
	b.Run(chromedp.Click("#live", chromedp.ByQuery), chromium.Visible(`[id="p-acme/app-3"]`))
	b.Clean("the board")
}

// The keys j and k move between rows, and the slash goes to the filter.
func TestBoardTakesKeys(t *testing.T) {
	t.Parallel()
	r := startRelay(t)
	r.send("pull_request", opened(1, 5, "The first", "alice", "one"))
	r.send("pull_request", opened(2, 3, "The second", "alice", "two"))
	b := chromium.Open(t, r.address)
	var focused, field string
	// A page that is refreshed meanwhile would lose the focus.
	b.Run(b.Go("/"), chromium.Visible(`[id="p-acme/app-2"]`), chromedp.KeyEvent("p"), chromium.Visible(".live[aria-pressed=true]"),
		chromedp.KeyEvent("jjjk"),
		chromedp.Evaluate(`document.activeElement.textContent`, &focused),
		chromedp.KeyEvent("/"), chromedp.Evaluate(`document.activeElement.name`, &field))
	if focused != "The first" || field != "author" {
		t.Errorf("after jjjk %q has the focus, after a slash %q", focused, field)
	}
}

// A refresh of a page keeps the focus, what is typed and chosen, and what was opened.
func TestRefreshesLeaveWhatPeopleDoAlone(t *testing.T) {
	t.Parallel()
	r := startRelay(t)
	firing(r)
	b := chromium.Open(t, r.address)
	var typed, chosen, focused string
	b.Run(b.Go("/"), chromium.Visible(".live.on"), chromedp.SendKeys("input[name=author]", "ali", chromedp.ByQuery),
		chromedp.SetValue("select[name=state]", "all", chromedp.ByQuery), chromedp.Focus(`[id="p-acme/app-2"] a.title`, chromedp.ByQuery))
	r.send("pull_request", opened(40, 1, "Another", "bob", "another"))
	b.Run(chromium.Visible(`[id="p-acme/app-40"]`), chromedp.Value("input[name=author]", &typed, chromedp.ByQuery),
		chromedp.Value("select[name=state]", &chosen, chromedp.ByQuery), chromedp.Evaluate(`document.activeElement.textContent`, &focused))
	if typed != "ali" || chosen != "all" || focused != "Change 2" {
		t.Errorf("a refresh leaves %q typed, %q chosen, and the focus on %q", typed, chosen, focused)
	}
	var open bool
	b.Run(b.Go("/rules"), chromium.Visible(".live.on"), chromedp.Click("table.rules summary", chromedp.ByQuery), chromium.Visible(".split"))
	pull := opened(41, 1, "One more", "bob", "more")
	r.send("pull_request", pull)
	r.send("pull_request_review", review(pull, verdict.RequestChanges, "judge",
		verdict.Ledger{{ID: "f1", Status: verdict.Open, Severity: verdict.Major, Dimension: verdict.Security, Rule: "security/S2",
			Claim: "It leaks.", First: 1, Last: 1}}))
	b.Run(chromium.Holds(`document.querySelector("table.rules").textContent.includes("in 13")`),
		chromedp.Evaluate(`document.querySelector("table.rules details").open`, &open))
	if !open {
		t.Error("a refresh closes what was opened")
	}
	b.Clean("the pages")
}
