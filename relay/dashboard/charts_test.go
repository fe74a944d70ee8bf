package dashboard_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"touchstone/relay/dashboard/chromium"
	"touchstone/verdict"
)

// firing sends reviews over some days with findings of one row; most findings were confirmed and some
// refuted.
func firing(r *relay) {
	for i := range 12 {
		pull := opened(i+1, 60*24*(i+1), fmt.Sprintf("Change %d", i+1), "alice", fmt.Sprintf("branch-%d", i+1))
		r.send("pull_request", pull)
		status := []verdict.Status{verdict.Verified, verdict.Refuted, verdict.Open, verdict.Verified}[i%4]
		sent := review(pull, verdict.RequestChanges, "judge", verdict.Ledger{
			{ID: "f1", Status: status, Severity: verdict.Major, Dimension: verdict.Security, Rule: "security/S2", Claim: "It leaks.", First: 1,
				Last: 1},
		})
		sent["review"].(object)["submitted_at"] = time.Now().AddDate(0, 0, -i).UTC()
		r.send("pull_request_review", sent)
	}
}

// inked counts the pixels of each plot that have the colour of one of its lines.
const inked = `[...document.querySelectorAll("#charts canvas")].map(c => {
	const data = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
	const style = getComputedStyle(document.documentElement);
	const probe = document.createElement("canvas").getContext("2d");
	const lines = ["good", "ci", "author", "reviewer", "person"].map(name => {
		probe.fillStyle = style.getPropertyValue("--" + name).trim();
		probe.fillRect(0, 0, 1, 1);
		return probe.getImageData(0, 0, 1, 1).data;
	});
	let n = 0;
	for (let i = 0; i < data.length; i += 4)
		if (data[i + 3] > 200 && lines.some(l => Math.abs(l[0] - data[i]) + Math.abs(l[1] - data[i + 1]) + Math.abs(l[2] - data[i + 2]) < 12)) n++;
	return n;
})`

// merging merges some of firing's pull requests, the first of them now, and opens another one for which a
// person is called.
func merging(r *relay) {
	for n := 1; n <= 5; n++ {
		closed := opened(n, 60*24*n, fmt.Sprintf("Change %d", n), "alice", fmt.Sprintf("branch-%d", n))
		closed["action"] = "closed"
		at := time.Now().AddDate(0, 0, 1-n).UTC()
		pull := closed["pull_request"].(object)
		pull["state"], pull["merged"], pull["merged_at"], pull["closed_at"], pull["updated_at"] = "closed", true, at, at, at
		r.send("pull_request", closed)
	}
	called := opened(13, 0, "Change 13", "alice", "branch-13")
	r.send("pull_request", called)
	called["action"], called["label"] = "labeled", object{"name": "needs-human"}
	called["pull_request"].(object)["labels"] = []object{{"name": "needs-human"}}
	r.send("pull_request", called)
}

// The plots have lines, and a click on a point of a plot leads to the pull requests behind it.
func TestChartsAreDrawn(t *testing.T) {
	t.Parallel()
	r := startRelay(t, time.Now().AddDate(0, 0, -20))
	firing(r)
	merging(r)
	b := chromium.Open(t, r.address)
	b.Run(chromedp.EmulateViewport(1280, 1100))
	for view, plots := range map[string]int{"/trends?since=14d": 9, "/rules/security/S2?since=14d": 2} {
		var ink []int
		b.Run(b.Go(view), chromium.Visible("#charts canvas"), chromedp.Evaluate(inked, &ink))
		var wide int
		b.Run(chromedp.Evaluate(`[...document.querySelectorAll("#charts figure")].filter(f => `+
			`f.querySelector(".uplot").offsetWidth > f.clientWidth).length`, &wide))
		if wide > 0 {
			t.Errorf("%s has %d plots that are wider than their frames", view, wide)
		}
		if len(ink) != plots {
			t.Errorf("%s has %d plots, want %d", view, len(ink), plots)
		}
		var titles []string
		b.Run(chromedp.Evaluate(`[...document.querySelectorAll("#charts figcaption")].map(c => c.textContent)`, &titles))
		for i, n := range ink {
			if n < 50 {
				t.Errorf("%s: the plot %q has %d pixels of its lines", view, titles[i], n)
			}
		}
		var silent int
		b.Run(chromedp.Evaluate(`[...document.querySelectorAll("#charts .u-legend .u-value")].filter(v => !v.textContent).length`, &silent))
		if silent > 0 {
			t.Errorf("%s: %d values of legends are empty while nothing is pointed at", view, silent)
		}
		b.Clean(view)
	}
	// Change 1 was opened yesterday, and reviewed and merged today; change 13 was opened today.
	today := time.Now().UTC()
	day := today.Format(time.DateOnly) + ".." + today.AddDate(0, 0, 1).Format(time.DateOnly)
	for title, leads := range map[string]struct{ moment, number string }{
		"Time to merge, hours": {"merged", "1"}, "Time to first review, minutes": {"answered", ""},
		"Merged, and of these without a person": {"merged", "1"}, "Rounds and findings": {"reviewed", "1"},
		"Cost of reviews, US dollars": {"reviewed", "1"}, "Tokens of reviews, millions": {"reviewed", "1"},
		"Cost of a merge, US dollars": {"merged", "1"}, "Rounds of a merge": {"merged", "1"}, "Escalations": {"escalated", "13"},
	} {
		var address string
		var rows []string
		b.Run(b.Go("/trends?since=14d&repo=acme/app"), chromium.Visible("#charts canvas"))
		clickLastPointAt(b, title, "top", 20)
		b.Run(chromium.Visible("form.filter[role=search]"), chromedp.Location(&address),
			chromedp.Evaluate(`[...document.querySelectorAll("table.board .ref")].map(r => r.textContent)`, &rows))
		to, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		q, want := to.Query(), []string{}
		if leads.number != "" {
			want = []string{"acme/app#" + leads.number}
		}
		if q.Get(leads.moment) != day || q.Get("repo") != "acme/app" || !slices.Equal(rows, want) {
			t.Errorf("a click on today's point of %q leads to %s, which lists %q", title, address, rows)
		}
	}
	var address string
	b.Run(b.Go("/trends?since=14d"), chromium.Visible("#charts canvas"))
	clickLastPointAt(b, "Merged, and of these without a person", "bottom", -5)
	b.Run(chromium.Visible("form.filter[role=search]"), chromedp.Location(&address))
	if !strings.Contains(address, "unattended="+day) {
		t.Errorf("a click on today's lower point of a plot of two lines leads to %s", address)
	}
	for _, title := range []string{"Fired, and what became of it", "Precision so far, percent"} {
		var row string
		b.Run(b.Go("/rules/security/S2?since=14d"), chromium.Visible("#charts canvas"))
		clickLastPointAt(b, title, "top", 20)
		b.Run(chromedp.Text("tr:target", &row, chromedp.ByQuery))
		if !strings.HasPrefix(row, today.Format(time.DateOnly)) || !strings.Contains(row, "acme/app#1") {
			t.Errorf("a click on today's point of %q leads to %q", title, row)
		}
	}
	b.Clean("the clicks")
}

// Plots follow changes while a page is open, like the rest of the page.
func TestPlotsAreLive(t *testing.T) {
	t.Parallel()
	r := startRelay(t, time.Now().AddDate(0, 0, -20))
	r.send("pull_request", opened(1, 60*24, "Change 1", "alice", "one"))
	b := chromium.Open(t, r.address)
	var before, after []int
	b.Run(b.Go("/trends?since=14d"), chromium.Visible(".live.on"), chromium.Visible("#charts canvas"), chromedp.Evaluate(inked, &before))
	merging(r)
	// The first plot is of merges, of which there were none.
	b.Run(chromium.Holds(`document.querySelector("table.trends tbody").textContent.includes("24 h 0 min / 24 h")`),
		chromedp.Poll(inked+`[0] >= 50`, nil, chromedp.WithPollingTimeout(0)), chromedp.Evaluate(inked, &after))
	if before[0] != 0 || len(after) != 9 {
		t.Errorf("the first plot had %d pixels of lines before a merge; %d plots are left", before[0], len(after))
	}
	b.Clean("the trends")
}

// A legend tells small values too, in the colours of the lines as they are now.
func TestLegendsTellWhatThePlotsShow(t *testing.T) {
	t.Parallel()
	r := startRelay(t, time.Now().AddDate(0, 0, -20))
	merged := opened(1, 1, "Change 1", "alice", "one")
	pull := merged["pull_request"].(object)
	at := pull["created_at"].(time.Time).Add(8 * time.Second)
	merged["action"] = "closed"
	pull["state"], pull["merged"], pull["merged_at"], pull["closed_at"], pull["updated_at"] = "closed", true, at, at, at
	r.send("pull_request", merged)
	b := chromium.Open(t, r.address)
	b.Run(b.Go("/trends?since=14d"), chromium.Visible("#charts canvas"))
	for _, scheme := range []string{"light", "dark"} {
		var legend, marker, line string
		b.Run(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}),
			chromedp.Text("#charts figure .u-legend", &legend, chromedp.ByQuery),
			chromedp.Evaluate(`getComputedStyle(document.querySelector("#charts .u-series:nth-child(2) .u-marker")).borderTopColor`, &marker),
			chromedp.Evaluate(`(probe => (probe.style.color = "var(--good)", document.body.append(probe), `+
				`getComputedStyle(probe).color))(document.createElement("i"))`, &line))
		if !strings.Contains(legend, "0.0022") || marker != line {
			t.Errorf("in the %s the legend says %q, with a marker of %s for a line of %s", scheme, legend, marker, line)
		}
	}
	b.Clean("the legends")
}

// clickLastPointAt clicks on the last point of a plot, so many pixels below its top or bottom.
func clickLastPointAt(b *chromium.Tab, title, edge string, below float64) {
	var box struct{ Right, Edge float64 }
	b.Run(chromedp.Evaluate(fmt.Sprintf(`(over => (over.scrollIntoView(), (box => ({ Right: box.right, Edge: box[%q] }))(`+
		`over.getBoundingClientRect())))([...document.querySelectorAll("#charts figure")].find(f => `+
		`f.querySelector("figcaption").textContent === %q).querySelector(".u-over"))`, edge, title), &box))
	b.Run(chromedp.MouseEvent(input.MouseMoved, box.Right-3, box.Edge+below), chromedp.MouseClickXY(box.Right-3, box.Edge+below))
}

// Programs can get what a rule's page shows.
func TestARuleOverTimeIsThereForPrograms(t *testing.T) {
	t.Parallel()
	r := startRelay(t, time.Now().AddDate(0, 0, -20))
	firing(r)
	get := func(path string, want int) []byte {
		response, err := http.Get(r.address + path)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err != nil || response.StatusCode != want {
			t.Fatalf("%s: %s, %v", path, response.Status, err)
		}
		return text
	}
	var answer struct {
		Rule    string
		Buckets []struct{ Fired, Held, Wrong int }
	}
	if err := json.Unmarshal(get("/api/v1/rules/security/S2?since=14d", 200), &answer); err != nil {
		t.Fatal(err)
	}
	var fired, held, wrong int
	for _, b := range answer.Buckets {
		fired, held, wrong = fired+b.Fired, held+b.Held, wrong+b.Wrong
	}
	if len(answer.Buckets) != 15 || fired != 12 || held != 6 || wrong != 3 || answer.Rule != "security/S2" {
		t.Errorf("%d buckets, %d fired, %d held, %d wrong", len(answer.Buckets), fired, held, wrong)
	}
	rows, err := csv.NewReader(bytes.NewReader(get("/api/v1/rules/security/S2?since=14d&bucket=week&format=csv", 200))).ReadAll()
	if err != nil || len(rows) < 3 || rows[0][1] != "fired" || !strings.Contains(rows[len(rows)-1][5], "acme/app#1") {
		t.Errorf("%v, %q", err, rows)
	}
	if page := string(get("/rules/security/S2?since=14d", 200)); !strings.Contains(page, `href="/pulls/acme/app/3"`) ||
		!strings.Contains(page, "67 %") {
		t.Errorf("the page says\n%s", page)
	}
	if page := string(get("/rules", 200)); !strings.Contains(page, `href="/rules/security/S2?since=30d&amp;repo="`) ||
		!strings.Contains(page, `data-label="Precision">67 %`) || !strings.Contains(page, `data-label="Not known yet">3<`) {
		t.Errorf("the rules do not tell of it, or lead there:\n%s", page)
	}
	for model, found := range map[string]bool{"a-model": true, "another": false} {
		for _, path := range []string{"/api/v1/rules/security/S2?since=14d&model=", "/api/v1/rules/security/S2?since=14d&format=csv&model="} {
			if answer := string(get(path+model, 200)); (strings.Contains(answer, `"fired":1`) || strings.Contains(answer, ",1,")) != found {
				t.Errorf("%s%s says\n%s", path, model, answer)
			}
		}
	}
	get("/rules/security", 404)
	get("/api/v1/rules/a/b/c", 404)
	get("/api/v1/rules/security/S2?bucket=hour", 400)
}
