package dashboard

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"touchstone/relay/event"
	"touchstone/verdict"
)

// Statistics count only what their viewer may see.
func TestStatisticsAreWithinTheScopeOfTheirViewer(t *testing.T) {
	d, happen := overLog(t)
	record := verdict.Record{Verdict: verdict.RequestChanges, Head: "aaa", Round: 1, Ledger: verdict.Ledger{{ID: "f1", Status: verdict.Open,
		Severity: verdict.Major, Dimension: verdict.Security, Rule: "security/S2", Claim: "It leaks.", First: 1, Last: 1}}}
	seal, err := record.Seal(verdict.Signer{})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now().UTC()
	payload := fmt.Appendf(nil, `{"action":"submitted","pull_request":{"id":1,"number":1,"state":"open","user":{"login":"alice"},
		"head":{"sha":"aaa"},"base":{"ref":"main"},"created_at":%[1]q,"updated_at":%[1]q},
		"review":{"id":1,"user":{"login":"judge"},"state":"changes_requested",
		"commit_id":"aaa","body":%q,"submitted_at":%[1]q}}`, now.Format(time.RFC3339), "No.\n\n"+seal)
	e := event.Event{Source: "github", Delivery: "review", Type: "pull_request_review", Action: "submitted", Repo: "acme/app", Number: 1,
		ReceivedAt: now, Payload: payload}
	if _, _, err := d.config.Relay.(logAlone).log.Append(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	happen()
	for repos, seen := range map[string]bool{"acme/*": true, "other/*": false} {
		for pattern, count := range map[string]string{
			"GET /api/v1/rules": `"findings":1`, "GET /api/v1/rules/{rule...}": `"fired":1`, "GET /api/v1/trends": `"rounds":1`,
		} {
			r, w := httptest.NewRequest(http.MethodGet, "/", nil), httptest.NewRecorder()
			r.SetPathValue("rule", "security/S2")
			d.API[pattern](w, r, Viewer{Token: "a", Scope: event.Filter{Repos: []string{repos}}})
			if w.Code != http.StatusOK || strings.Contains(w.Body.String(), count) != seen {
				t.Errorf("%s within %s: %d\n%s", pattern, repos, w.Code, w.Body)
			}
		}
	}
}
