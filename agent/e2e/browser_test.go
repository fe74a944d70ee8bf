package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"touchstone/agent/githubsim"
	"touchstone/relay/dashboard/chromium"
)

// gate blocks something until it is opened; it may be opened more than once.
type gate struct {
	open func()
	wait <-chan struct{}
}

func newGate(t *testing.T) gate {
	c := make(chan struct{})
	g := gate{sync.OnceFunc(func() { close(c) }), c}
	t.Cleanup(g.open)
	return g
}

// Pages that are open in a browser show the whole loop while it runs, without a reload: whose turn it is, the
// rounds, and the merge. Each step waits until the pages have shown the one before.
func TestOpenPagesShowTheWholeLoop(t *testing.T) {
	t.Parallel()
	w := newWorld(t, twoDefects())
	w.showPage()
	reviewed, fixed, checked := newGate(t), newGate(t), newGate(t)
	w.Intercept(func(login string, r *http.Request) githubsim.Fault {
		switch {
		case login == reviewer && r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/reviews"):
			<-reviewed.wait
		case login == author && strings.HasSuffix(r.URL.Path, "/git-receive-pack"):
			<-fixed.wait
		}
		return w.intercept(login, r)
	})
	w.conclude = func(string) string { <-checked.wait; return "success" }

	board := chromium.Open(t, w.relay.url)
	board.SignIn("/?state=all", w.relay.token)
	pull, machines, trends := board.Another(), board.Another(), board.Another()
	board.Run(chromium.Visible("main .empty"))
	w.startBoth()
	board.Run(chromium.Visible(".live.on"))
	ref := w.openBad(false)
	row := fmt.Sprintf(`document.getElementById("p-%s-%d")`, ref.Repo, ref.Number)
	board.Run(chromium.Holds(row))
	pull.Run(pull.Go(fmt.Sprintf("/pulls/%s/%d", ref.Repo, ref.Number)))
	machines.Run(machines.Go("/machines"))
	trends.Run(trends.Go("/trends"))
	pages := map[string]*chromium.Tab{"board": board, "pull request": pull, "machines": machines, "trends": trends}
	for _, page := range pages {
		// A page that is loaded again would have forgotten this.
		page.Run(chromium.Visible(".live.on"), chromedp.Evaluate(`window.since = "the beginning"`, nil))
	}
	shows := func(page *chromium.Tab, where string, texts ...string) {
		t.Helper()
		for _, text := range texts {
			here := fmt.Sprintf(`%s?.textContent.includes(%q) && window.since === "the beginning"`, where, text)
			if err := page.Try(chromium.Holds(here)); err != nil {
				t.Fatalf("waiting for %s: %v\n%s", here, err, w.describe())
			}
		}
	}
	const lead, rounds, main = `document.querySelector("header.lead")`, `document.querySelector("ol.rounds")`, `document.querySelector("main")`

	shows(board, row, "Reviewer", "reviewing, round 1", reviewer)
	shows(pull, lead, "Reviewer", "reviewing, round 1")
	shows(machines, main, ref.String()+" review", "idle")
	reviewed.open()
	shows(board, row, "Author", "fixing, round 1", "2 critical", author)
	shows(pull, rounds, "Round 1", "changes requested")
	shows(pull, main, "Critical at store/search.go:4")
	shows(machines, main, ref.String()+" fix")
	fixed.open()
	shows(board, row, "CI", "waiting for CI: ", "approved")
	shows(pull, rounds, "Round 2", "approved")
	shows(pull, `document.querySelector("table.ledger")`, "verified")
	checked.open()
	shows(board, row, "merged")
	shows(pull, main, "Why it was merged", "approved by "+reviewer)
	shows(trends, `document.querySelector("table.trends")`, "100 %")
	w.finished(ref, 2)

	after := board.Another()
	for view, texts := range map[string][]string{
		"/log":          {"pull_request_review", "check_run", ref.String()},
		"/rules":        {"security/"},
		"/health":       {"ready", "up to date", "github", "ops"},
		"/?state=open":  {"No pull request is open"},
		"/machines":     {"reviewer", "author", "idle"},
		"/trends":       {"Merged"},
		"/?state=all":   {"merged"},
		"/?author=none": {"No pull request fits the filter"},
	} {
		after.Run(after.Go(view), chromium.Visible("#main"))
		for _, text := range texts {
			after.Run(chromium.Holds(fmt.Sprintf(`%s.textContent.includes(%q)`, main, text)))
		}
	}
	pages["the last"] = after
	for name, page := range pages {
		page.Clean(name)
	}
}
