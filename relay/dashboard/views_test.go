package dashboard_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"touchstone/relay/client"
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
	r.announce()
	b := newBrowser(t, r.address)
	b.run(emulation.SetScriptExecutionDisabled(true))
	for view, want := range map[string]string{
		"/": "changes requested in round 1: 1 major", "/pulls/acme/app/1": "It leaks.", "/log": "pull_request_review", "/rules": "security/S2",
		"/rules/security/S2": "acme/app#1", "/trends": "Cost a merge", "/machines": "resting: sonnet", "/health": "Newest event",
	} {
		var text string
		b.run(chromedp.Navigate(r.address+view), chromedp.Text("main", &text, chromedp.ByQuery))
		if !strings.Contains(text, want) {
			t.Errorf("%s does not show %q:\n%s", view, want, text)
		}
	}
}

// announce has an agent say what it does; the relay keeps that for 90 seconds.
func (r *relay) announce() {
	r.t.Helper()
	beacon := event.Beacon{
		Role: "reviewer", Login: "judge", Version: "0.3.0", Engine: "claude", Model: "opus", Queued: 3, Resting: []string{"sonnet"},
		Work: []event.Work{{Pull: "acme/app#20", Act: "review", Phase: "Security", Since: time.Now().Add(-time.Minute)}},
	}
	if err := (&client.Client{URL: r.address}).Announce(r.t.Context(), beacon); err != nil {
		r.t.Fatal(err)
	}
}

// usual is a relay after some weeks with pull requests in most of the states that there are, at which an agent is at work. The
// cursor is that of a review.
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
	var newest struct{ Events []struct{ ID, Type string } }
	r.read("/api/v1/events?before=now&limit=9&type=pull_request_review", &newest)
	return r, newest.Events[0].ID
}

// The pages are as accessible as axe-core can tell, in light and dark, on a desk and on a phone. A picture of each is an
// artifact of this test (go test -artifacts).
func TestPagesAreAccessible(t *testing.T) {
	t.Parallel()
	axe, err := os.ReadFile("../../.tools/node_modules/axe-core/axe.min.js")
	if err != nil {
		need(t, "axe-core (make tools)")
	}
	weeks, cursor := usual(t)
	locked, _, _ := managed(t)
	for _, scene := range []struct {
		name  string
		relay *relay
		views []string
	}{
		{"usual", weeks, []string{"/", "/?state=closed", "/pulls/acme/app/20", "/pulls/acme/app/21", "/log", "/log/" + cursor, "/rules",
			"/rules/security/S2", "/trends", "/machines", "/health", "/pulls/none/none/1"}},
		{"empty", startRelay(t), []string{"/", "/log", "/rules", "/trends", "/machines", "/health"}},
		{"locked", locked, []string{"/"}},
	} {
		b := newBrowser(t, scene.relay.address)
		for _, view := range scene.views {
			if scene.name == "usual" {
				weeks.announce()
			}
			b.run(chromedp.Navigate(scene.relay.address+view), chromedp.WaitReady("body", chromedp.ByQuery),
				chromedp.Evaluate(string(axe)+";0", nil))
			// In the dark nothing is other than the colours.
			for scheme, rules := range map[string]string{"light": "{}", "dark": `{ runOnly: ["color-contrast"] }`} {
				for device, size := range map[string][2]int64{"desk": {1280, 900}, "phone": {390, 844}} {
					var found []string
					b.run(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme},
						{Name: "prefers-reduced-motion", Value: "reduce"}}), chromedp.EmulateViewport(size[0], size[1]),
						chromedp.Evaluate(`axe.run(`+rules+`).then(r => r.violations.map(v => v.id + ": " + v.help + ": " + `+
							`v.nodes.slice(0, 3).map(n => n.html.slice(0, 160)).join(" | ")))`, &found,
							func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
					for _, violation := range found {
						t.Errorf("%s %s, %s, on a %s: %s", scene.name, view, scheme, device, violation)
					}
					b.picture(strings.Join([]string{scene.name, strings.Trim(strings.NewReplacer("/", "-", "?", "-", "=", "-").Replace(view), "-"),
						scheme, device}, "_"))
				}
			}
		}
	}
}

// picture keeps what the whole page looks like.
func (b *browser) picture(name string) {
	b.t.Helper()
	var picture []byte
	b.run(chromedp.FullScreenshot(&picture, 100))
	if err := os.WriteFile(filepath.Join(b.t.ArtifactDir(), name+".png"), picture, 0o600); err != nil {
		b.t.Fatal(err)
	}
}
