package dashboard_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"touchstone/relay/client"
	"touchstone/relay/dashboard/chromium"
	"touchstone/relay/event"
	"touchstone/verdict"
)

// Every page can be read with JavaScript off.
func TestPagesNeedNoJavaScript(t *testing.T) {
	t.Parallel()
	r := startRelay(t)
	pull := opened(1, 5, "The first", "alice", "one")
	r.send("pull_request", pull)
	r.send("pull_request_review", review(pull, verdict.RequestChanges, "judge",
		verdict.Ledger{{ID: "f1", Status: verdict.Open, Severity: verdict.Major, Rule: "security/S2", Claim: "It leaks.", First: 1, Last: 1}}))
	guarded := manage(t)
	pages := map[string]struct {
		relay      *relay
		view, want string
	}{
		"board": {r, "/", "changes requested in round 1: 1 major"}, "pull": {r, "/pulls/acme/app/1", "It leaks."},
		"log": {r, "/log", "pull_request_review"}, "event": {r, "/log/" + r.newest("pull_request_review"), "$RELAY_TOKEN"},
		"rules": {r, "/rules", "security/S2"}, "rule": {r, "/rules/security/S2", "acme/app#1"}, "trends": {r, "/trends", "Cost a merge"},
		"machines": {r, "/machines", "resting: sonnet"}, "health": {r, "/health", "Newest event"},
		"problem": {r, "/pulls/none/none/1", "has no events of this pull request"}, "signin": {guarded.relay, "/health", "relay-token"},
	}
	tabs := map[*relay]*chromium.Tab{r: chromium.Open(t, r.address), guarded.relay: chromium.Open(t, guarded.address)}
	for _, tab := range tabs {
		tab.Run(emulation.SetScriptExecutionDisabled(true))
	}
	templates, err := os.ReadDir("templates")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range templates {
		name := strings.TrimSuffix(file.Name(), ".html")
		if name == "layout" || name == "parts" {
			continue
		}
		page, known := pages[name]
		if !known {
			t.Errorf("the page %s is not looked at", name)
			continue
		}
		if page.view == "/machines" {
			page.relay.announce()
		}
		b := tabs[page.relay]
		var text string
		b.Run(b.Go(page.view), chromedp.Text("main", &text, chromedp.ByQuery))
		if !strings.Contains(text, page.want) {
			t.Errorf("%s does not show %q:\n%s", page.view, page.want, text)
		}
		b.Clean(page.view)
	}

	// Whose turn it is stands before the reason, as on the board: the reason often begins with whom it waits for.
	b := tabs[r]
	var now string
	b.Run(b.Go("/pulls/acme/app/1"), chromedp.Text(".now", &now, chromedp.ByQuery))
	if !strings.HasPrefix(now, "Author alice changes requested in round 1") {
		t.Errorf("the pull request's page begins with %q", now)
	}

	// What is done on them is done by links and forms.
	var address, event, payload string
	b.Run(b.Go("/"), chromedp.SendKeys("input[name=author]", "nobody", chromedp.ByQuery),
		chromedp.Click("form.filter button", chromedp.ByQuery), chromium.Visible("main .empty"), chromedp.Location(&address))
	if !strings.Contains(address, "author=nobody") {
		t.Errorf("the filter leads to %s", address)
	}
	b.Run(b.Go("/log"), chromedp.Click("main a[href^='/log/']", chromedp.ByQuery), chromium.Visible(".tree"),
		chromedp.Text("main", &event, chromedp.ByQuery), chromedp.Click("//summary[span='review']"),
		chromedp.Text(".tree", &payload, chromedp.ByQuery))
	if strings.Contains(event, "It leaks.") || !strings.Contains(payload, "It leaks.") || strings.Contains(event, "Copy") {
		t.Errorf("the event shows\n%s\nand opened\n%s", event, payload)
	}
	b.Clean("the links and forms")
}

// A browser without JavaScript can sign in with a token and with a one-time link, and sign out again.
func TestSigningInNeedsNoJavaScript(t *testing.T) {
	t.Parallel()
	r := manage(t)
	var answer struct{ Link string }
	if err := json.Unmarshal([]byte(r.ask(http.MethodPost, "/sign-in/link", http.StatusOK)), &answer); err != nil {
		t.Fatal(err)
	}
	for name, signIn := range map[string]func(b *chromium.Tab){
		"a token": func(b *chromium.Tab) { b.SignIn("/health", r.token) },
		"a link": func(b *chromium.Tab) {
			b.Run(chromedp.Navigate(answer.Link), chromedp.Click("main button", chromedp.ByQuery), chromium.Visible("table.board"),
				b.Go("/health"))
		},
	} {
		b := chromium.Open(t, r.address)
		b.Run(emulation.SetScriptExecutionDisabled(true))
		signIn(b)
		var text, refused string
		b.Run(chromedp.Text("main", &text, chromedp.ByQuery))
		if !strings.Contains(text, "Tokens and invitations") {
			t.Errorf("signed in by %s, an administrator sees\n%s", name, text)
		}
		b.Run(chromedp.Click("form[action='/sign-out'] button", chromedp.ByQuery), chromium.Visible("#token"), b.Go("/health"),
			chromedp.Text("main", &refused, chromedp.ByQuery))
		if !strings.Contains(refused, "Access token") {
			t.Errorf("signed out, the page says\n%s", refused)
		}
		b.Clean(name)
	}
}

// newest is the cursor of the newest event of a type.
func (r *relay) newest(kind string) string {
	r.t.Helper()
	var all struct{ Events []struct{ ID string } }
	r.read("/api/v1/events?before=now&limit=1&type="+kind, &all)
	if len(all.Events) == 0 {
		r.t.Fatalf("there is no event of the type %s", kind)
	}
	return all.Events[0].ID
}

// announce sends an agent's report; the relay keeps it for 90 seconds.
func (r *relay) announce() {
	r.t.Helper()
	beacon := event.Beacon{
		Role: "reviewer", Login: "judge", Version: "0.3.0", Engine: "claude", Model: "opus", Queued: 3, Resting: []string{"sonnet"},
		Work: []event.Work{{Pull: "acme/app#20", Act: "review", Phase: "Security", Since: time.Now().Add(-time.Minute)}},
	}
	if err := (&client.Client{URL: r.address, Token: r.token}).Announce(r.t.Context(), beacon); err != nil {
		r.t.Fatal(err)
	}
}

// usual returns a relay after some weeks, with pull requests in most of the possible states and an agent at
// work. The cursor is that of a review.
func usual(t *testing.T) (r *relay, cursor string) {
	r = startRelay(t, time.Now().AddDate(0, 0, -20))
	firing(r)
	pull := opened(20, 5, "Search notes by their text", "alice", "search")
	r.send("pull_request", pull)
	r.send("pull_request_review", review(pull, verdict.RequestChanges, "judge", verdict.Ledger{
		{ID: "f1", Status: verdict.Open, Severity: verdict.Critical, Dimension: verdict.Security, Rule: "security/S2", Path: "api/search.go",
			Line: 16, Claim: "It leaks.", First: 1, Last: 1},
		{ID: "f2", Status: verdict.Disputed, Severity: verdict.Major, Dimension: verdict.Doc, Rule: "doc/D2", Path: "README.md", Line: 14,
			Claim: "It lies.", First: 1, Last: 1},
		{ID: "f3", Status: verdict.Verified, Severity: verdict.Nit, Dimension: verdict.Doc, Rule: "doc/D2", Claim: "A typo.", First: 1, Last: 1},
	}))
	r.send("pull_request_review", review(opened(21, 5, "Keep what was typed", "bob", "two"), verdict.Approve, "mallory", nil))
	r.send("check_run", object{"action": "completed", "repository": object{"full_name": "acme/app"},
		"check_run": object{"id": 1, "name": "lint", "head_sha": fmt.Sprintf("%040d", 20), "status": "completed", "conclusion": "failure"}})
	r.announce()
	return r, r.newest("pull_request_review")
}

// The pages are as accessible as axe-core can tell, in light and dark, on a desk and on a phone. A picture of
// each is an artifact of this test (go test -artifacts).
func TestPagesAreAccessible(t *testing.T) {
	t.Parallel()
	axe, err := os.ReadFile("../../.tools/node_modules/axe-core/axe.min.js")
	if err != nil {
		chromium.Missing(t, "axe-core (make tools)")
	}
	weeks, cursor := usual(t)
	guarded := manage(t)
	guarded.ask(http.MethodPost, "/recover", http.StatusOK)
	for _, scene := range []struct {
		name  string
		relay *relay
		views []string
	}{
		{"usual", weeks, []string{"/", "/?state=closed", "/pulls/acme/app/20", "/pulls/acme/app/21", "/log", "/log/" + cursor, "/rules",
			"/rules/security/S2", "/trends", "/machines", "/health", "/pulls/none/none/1"}},
		{"empty", startRelay(t), []string{"/", "/log", "/rules", "/trends", "/machines", "/health"}},
		{"guarded", guarded.relay, []string{"/", "/log/" + guarded.newest("pull_request"), "/machines", "/health", "/pulls/acme/app/1"}},
		{"locked", &relay{t: t, address: guarded.address}, []string{"/sign-in?to=%2Fhealth", "/sign-in?code=one"}},
	} {
		b := chromium.Open(t, scene.relay.address)
		if scene.relay.token != "" {
			b.SignIn("/", scene.relay.token)
		}
		for _, view := range scene.views {
			if view == "/machines" && scene.name != "empty" {
				scene.relay.announce()
			}
			b.Run(b.Go(view), chromedp.WaitReady("body", chromedp.ByQuery),
				chromedp.Evaluate(string(axe)+";0", nil))
			// In the dark nothing is other than the colours.
			for scheme, rules := range map[string]string{"light": "{}", "dark": `{ runOnly: ["color-contrast"] }`} {
				for device, size := range map[string][2]int64{"desk": {1280, 900}, "phone": {390, 844}} {
					var found []string
					b.Run(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme},
						{Name: "prefers-reduced-motion", Value: "reduce"}}), chromedp.EmulateViewport(size[0], size[1]),
						chromedp.Evaluate(`axe.run(`+rules+`).then(r => r.violations.map(v => v.id + ": " + v.help + ": " + `+
							`v.nodes.slice(0, 3).map(n => n.html.slice(0, 160)).join(" | ")))`, &found,
							func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
					for _, violation := range found {
						t.Errorf("%s %s, %s, on a %s: %s", scene.name, view, scheme, device, violation)
					}
					picture(t, b, strings.Join([]string{scene.name, strings.Trim(strings.NewReplacer("/", "-", "?", "-", "=", "-").Replace(view), "-"),
						scheme, device}, "_"))
				}
			}
		}
	}
}

// picture stores a picture of the whole page.
func picture(t *testing.T, b *chromium.Tab, name string) {
	t.Helper()
	var picture []byte
	b.Run(chromedp.FullScreenshot(&picture, 100))
	if err := os.WriteFile(filepath.Join(t.ArtifactDir(), name+".png"), picture, 0o600); err != nil {
		t.Fatal(err)
	}
}

// Long names break, and short ones stay in one piece, so that every column of a list stays on the screen.
func TestLongNamesLeaveTheOtherColumnsTheirPlace(t *testing.T) {
	t.Parallel()
	r := startRelay(t)
	long := opened(1, 5, "A long one", strings.Repeat("long-login-", 20), "one")
	long["repository"] = object{"full_name": "acme-with-a-long-name/" + strings.Repeat("long_name_", 10)}
	r.send("pull_request", long)
	pull := opened(2, 1, "The second", "alice", "two")
	r.send("pull_request", pull)
	r.send("pull_request_review", review(pull, verdict.RequestChanges, "judge", verdict.Ledger{{ID: "f1", Status: verdict.Open,
		Severity: verdict.Major, Dimension: verdict.Security, Rule: "security/S2", Path: strings.Repeat("a/long/path/", 20), Line: 1,
		Claim: strings.Repeat("It leaks. ", 50), First: 1, Last: 1}}))
	b := chromium.Open(t, r.address)
	for _, path := range []string{"/", "/pulls/" + long["repository"].(object)["full_name"].(string) + "/1"} {
		b.Run(b.Go(path), chromium.Visible(".live.on"))
		intact(t, b, path, [2]int64{1280, 900}, [2]int64{390, 844})
	}
	for path, name := range map[string]string{"/log": "judge", "/pulls/acme/app/2": "security/S2"} {
		b.Run(b.Go(path), chromium.Visible(".live.on"))
		intact(t, b, path, [2]int64{1280, 900}, [2]int64{390, 844})
		b.Run(chromedp.EmulateViewport(1280, 900))
		var lines int
		b.Run(chromedp.Evaluate(fmt.Sprintf(`(e => Math.round(e.offsetHeight / parseFloat(getComputedStyle(e).lineHeight)))(`+
			`[...document.querySelectorAll("td bdi")].find(e => e.textContent === %q))`, name), &lines))
		if lines != 1 {
			t.Errorf("%s breaks %s into %d lines", path, name, lines)
		}
	}
}
