package dashboard_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"touchstone/verdict"
)

// A review whose record cannot be read is shown as such, with a link to it.
func TestAnUnreadableRecordShowsWithItsLink(t *testing.T) {
	t.Parallel()
	r := startRelay(t)
	pull := opened(1, 5, "The first", "alice", "one")
	r.send("pull_request", pull)
	broken := review(pull, verdict.Approve, "judge", nil)
	o := broken["review"].(object)
	o["body"] = strings.Replace(o["body"].(string), "{", "[", 1)
	r.send("pull_request_review", broken)
	page := r.get("/pulls/acme/app/1", http.StatusOK)
	for _, want := range []string{"its record cannot be read", `href="https://github.test/r"`, "not believed"} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is missing in\n%s", want, page)
		}
	}
	if strings.Contains(page, `class="verdict yes"`) {
		t.Error("it counts as an approval")
	}
}

// negative matches a negative length of time, on a page or in JSON.
var negative = regexp.MustCompile(`[>" ]-\d+ (s|min|h|d)\b|":-\d`)

// Clocks that differ or jump never make a length of time negative.
func TestClocksThatJumpShowNothingNegative(t *testing.T) {
	t.Parallel()
	r := startRelay(t)
	pull := opened(1, -180, "From the future", "alice", "one") // in three hours
	r.send("pull_request", pull)
	reviewed := review(pull, verdict.RequestChanges, "judge", nil)
	reviewed["review"].(object)["submitted_at"] = time.Now().Add(-time.Hour).UTC()
	r.send("pull_request_review", reviewed)
	merged := opened(1, -180, "From the future", "alice", "one")
	merged["action"] = "closed"
	o := merged["pull_request"].(object)
	o["state"], o["closed_at"], o["merged_at"] = "closed", time.Now().Add(-2*time.Hour).UTC(), time.Now().Add(-2*time.Hour).UTC()
	o["updated_at"] = time.Now().Add(4 * time.Hour).UTC()
	r.send("pull_request", merged)
	for _, path := range []string{"/?state=all", "/pulls/acme/app/1", "/log", "/trends", "/rules", "/health", "/api/v1/pulls?state=all",
		"/api/v1/pulls/acme/app/1", "/api/v1/trends", "/api/v1/health"} {
		if found := negative.FindString(r.get(path, http.StatusOK)); found != "" {
			t.Errorf("%s tells %q", path, found)
		}
	}
}

// A relay that has received nothing yet says how to make the first webhook arrive.
func TestAnEmptyLogSaysHowToBegin(t *testing.T) {
	t.Parallel()
	r := startRelay(t)
	for _, path := range []string{"/", "/log"} {
		page := r.get(path, http.StatusOK)
		if !strings.Contains(page, "No webhook has arrived yet") || !strings.Contains(page, "touchstone-relay hook install") ||
			!strings.Contains(page, "--url https://ADDRESS/webhooks/github<") {
			t.Errorf("%s says\n%s", path, page)
		}
	}
	for _, path := range []string{"/trends", "/rules"} {
		if page := r.get(path, http.StatusOK); strings.Contains(page, "Known since 0001") {
			t.Errorf("%s says since when nothing is known:\n%s", path, page)
		}
	}
	if answer := r.get("/api/v1/trends", http.StatusOK); !strings.Contains(answer, `"buckets":[]`) {
		t.Errorf("figures of nothing: %s", answer)
	}
}
