package dashboard_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"touchstone/relay/dashboard/chromium"
	"touchstone/verdict"
)

// row matches the number of a pull request on the board.
var row = regexp.MustCompile(`id="p-acme/app-(\d+)"`)

// The board's filters are in its address, and the API has the same ones; pull requests that are blocked come
// first.
func TestFiltersStandInTheAddress(t *testing.T) {
	t.Parallel()
	r := startRelay(t)
	for n, author := range map[int]string{1: "alice", 2: "bob", 3: "alice", 4: "bob"} {
		pull := opened(n, 10*n, "A change", author, "branch")
		r.send("pull_request", pull)
		switch n {
		case 2: // its author's turn
			r.send("pull_request_review", review(pull, verdict.RequestChanges, "judge", verdict.Ledger{
				{ID: "f1", Status: verdict.Open, Severity: verdict.Major, Dimension: verdict.Security, Rule: "security/S2", Claim: "It leaks.",
					First: 1, Last: 1}}))
		case 3: // a person's
			labelled := opened(n, 10*n, "A change", author, "branch")
			labelled["action"], labelled["label"] = "labeled", object{"name": "needs-human"}
			labelled["pull_request"].(object)["labels"] = []object{{"name": "needs-human"}}
			r.send("pull_request", labelled)
		case 4: // nobody's
			closed := opened(n, 10*n, "A change", author, "branch")
			closed["action"] = "closed"
			pull, at := closed["pull_request"].(object), time.Now().UTC()
			pull["state"], pull["merged"], pull["merged_at"], pull["closed_at"], pull["updated_at"] = "closed", true, at, at, at
			r.send("pull_request", closed)
		}
	}
	for query, want := range map[string]string{
		"": "3 2 1", "state=all": "3 2 1 4", "state=closed": "4", "author=alice": "3 1", "author=alice&state=all": "3 1",
		"waiting=bob": "2", "waiting=judge": "1", "turn=author": "2", "turn=reviewer": "1", "turn=person": "3", "needs_human=true": "3",
		"needs_human=false": "2 1", "repo=acme/app&author=bob": "2", "repo=acme/other": "",
	} {
		var rows, listed []string
		for _, m := range row.FindAllStringSubmatch(r.get("/?"+query, http.StatusOK), -1) {
			rows = append(rows, m[1])
		}
		var answer struct{ Pulls []struct{ Number int } }
		r.read("/api/v1/pulls?"+query, &answer)
		for _, p := range answer.Pulls {
			listed = append(listed, strconv.Itoa(p.Number))
		}
		if got, told := strings.Join(rows, " "), strings.Join(listed, " "); got != want || told != want {
			t.Errorf("%q shows %q and lists %q, want %q", query, got, told, want)
		}
	}
}

// Programs get the trends as JSON and as CSV, with the same figures.
func TestTrendsAreThereForPrograms(t *testing.T) {
	t.Parallel()
	r := startRelay(t, time.Now().AddDate(0, 0, -20))
	firing(r)
	merging(r)
	pull := opened(14, 60, "Change 14", "alice", "branch-14")
	r.send("pull_request", pull)
	var found verdict.Ledger
	for i := range 3 {
		found = append(found, verdict.Entry{ID: fmt.Sprint("f", i), Status: verdict.Open, Severity: verdict.Major, Dimension: verdict.Security,
			Rule: "security/S2", Claim: "It leaks.", First: 1, Last: 1})
	}
	r.send("pull_request_review", review(pull, verdict.RequestChanges, "judge", found))
	for _, query := range []string{"since=14d", "since=14d&bucket=week&repo=acme/app"} {
		var answer struct{ Buckets []map[string]any }
		r.read("/api/v1/trends?"+query, &answer)
		lines, err := csv.NewReader(strings.NewReader(r.get("/api/v1/trends?format=csv&"+query, http.StatusOK))).ReadAll()
		if err != nil || len(lines) != len(answer.Buckets)+1 || len(lines) < 3 {
			t.Fatalf("%s: %d buckets and %d lines, %v", query, len(answer.Buckets), len(lines), err)
		}
		sums := map[string]float64{}
		for i, bucket := range answer.Buckets {
			for column, name := range lines[0] {
				number, ok := bucket[name].(float64)
				if !ok {
					continue
				}
				if text := lines[i+1][column]; text != strconv.FormatFloat(number, 'f', -1, 64) {
					t.Errorf("%s: %s of %v is %v in JSON and %q in CSV", query, name, bucket["start"], number, text)
				}
				sums[name] += number
			}
		}
		if sums["opened"] != 14 || sums["merged"] != 5 || sums["rounds"] != 13 || sums["findings"] != 15 ||
			sums["escalations"] != 1 || sums["cost_usd"] < 8 {
			t.Errorf("%s: in sum %v", query, sums)
		}
	}
}

// What an agent works on leads to its page, and so does the rule of a finding.
func TestWhatIsNamedLeadsToItsPage(t *testing.T) {
	t.Parallel()
	r, _ := usual(t)
	for page, link := range map[string]string{
		"/machines":          `<a href="/pulls/acme/app/20"><bdi>acme/app#20</bdi></a>`,
		"/pulls/acme/app/20": `<a href="/rules/doc/D2"><bdi>doc/D2</bdi></a>`,
	} {
		if text := r.get(page, http.StatusOK); !strings.Contains(text, link) {
			t.Errorf("%s lacks %s:\n%s", page, link, text)
		}
	}
}

// figure is a cell of the trends' table, and led where a figure leads.
var (
	figure = regexp.MustCompile(`<td class="num" data-label="([^"]+)">(.*?)</td>`)
	led    = regexp.MustCompile(`^<a href="([^"]+)">[^<]+</a>$`)
)

// Each figure of the trends' table leads to the pull requests that it is made from.
func TestTheFiguresOfATrendLeadToPullRequests(t *testing.T) {
	t.Parallel()
	r := startRelay(t, time.Now().AddDate(0, 0, -20))
	firing(r)
	merging(r)
	leads := map[string]bool{}
	for _, cell := range figure.FindAllStringSubmatch(r.get("/trends?since=14d&repo=acme/app", http.StatusOK), -1) {
		name, text := cell[1], cell[2]
		if text == "–" || text == "0 %" {
			continue
		}
		link := led.FindStringSubmatch(text)
		if link == nil {
			t.Errorf("%s leads nowhere: %s", name, text)
			continue
		}
		to := html.UnescapeString(link[1])
		if !row.MatchString(r.get(to, http.StatusOK)) || !strings.Contains(to, "&repo=acme%2Fapp") {
			t.Errorf("%s leads to %s, which lists nothing or another repository's", name, to)
		}
		leads[name] = true
	}
	if len(leads) != 8 { // of all but tokens and the share without a person, of which there are none here
		t.Errorf("there are figures of %v", leads)
	}
}

// A click copies the command on an event's page, and the command prints that event.
func TestAnEventIsReadAgainByTheCommandOnItsPage(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		chromium.Missing(t, "curl")
	}
	r := manage(t)
	b := chromium.Open(t, r.address)
	b.SignIn("/log/"+r.newest("pull_request"), r.token)
	var command string
	b.Run(chromedp.Click("[data-copy]", chromedp.ByQuery), chromium.Holds(`document.querySelector("[data-copy]").textContent === "Copied"`),
		chromedp.Text("#curl", &command, chromedp.ByQuery))
	curl := exec.CommandContext(t.Context(), "sh", "-c", command)
	curl.Env = append(curl.Environ(), "RELAY_TOKEN="+r.token)
	out, err := curl.Output()
	var event struct {
		Type    string
		Payload struct{ Action string }
	}
	if err == nil {
		err = json.Unmarshal(out, &event)
	}
	if err != nil || event.Type != "pull_request" || event.Payload.Action != "opened" {
		t.Errorf("%s gives %v and\n%s", command, err, out)
	}
	b.Clean("the event")
}

// A repository that the relay knows nothing of is no fault.
func TestAFilterThatFitsNoRepositoryFindsNothing(t *testing.T) {
	t.Parallel()
	r, _ := usual(t)
	for _, path := range []string{"/?", "/log?number=1&", "/rules?", "/rules/security/S2?", "/trends?", "/api/v1/pulls?",
		"/api/v1/events?number=1&", "/api/v1/rules?", "/api/v1/rules/security/S2?", "/api/v1/trends?"} {
		r.get(path+"repo=nobody/*", http.StatusOK)
	}
}
