package forge_test

import (
	"slices"
	"testing"

	"touchstone/agent/forge"
	"touchstone/agent/githubsim"
)

// needs is the permission, of which reading suffices, without which GitHub sends an App none of an event
// (https://docs.github.com/webhooks/webhook-events-and-payloads).
var needs = map[string]string{
	"pull_request": "pull_requests", "pull_request_review": "pull_requests", "pull_request_review_comment": "pull_requests",
	"pull_request_review_thread": "pull_requests", "issue_comment": "issues", "issues": "issues", "check_run": "checks",
	"check_suite": "checks", "status": "statuses", "push": "contents", "workflow_run": "actions", "repository": "metadata",
}

// TestAManifestAsksForItsEvents checks that an App hears of replaced workflow runs, and of repositories that are gone,
// and has the permissions for that.
func TestAManifestAsksForItsEvents(t *testing.T) {
	t.Parallel()
	m := forge.ReviewerManifest("touchstone", "https://example.com/", "http://127.0.0.1:1/", "https://example.com/webhooks/github")
	for event, permission := range needs {
		if !slices.Contains(m.Events, event) {
			t.Errorf("it does not ask for %s", event)
		}
		if m.Permissions[permission] == "" {
			t.Errorf("%s needs %s", event, permission)
		}
	}
	if len(m.Events) != len(needs) {
		t.Errorf("it asks for %v", m.Events)
	}
}

func TestWhatAnAppsWebhookDoesNotSendIsKnown(t *testing.T) {
	w := start(t, githubsim.RepoOptions{})
	app := w.App()
	if err := w.Install(app.Login, "acme", "acme/app"); err != nil {
		t.Fatal(err)
	}
	client, _ := w.actingAs(app)
	unsent, err := client.App().Installed(t.Context(), forge.Repo{Owner: "acme", Name: "app"})
	if err != nil || len(unsent) != len(needs)-1 || slices.Contains(unsent, "pull_request") {
		t.Errorf("%v, %v", unsent, err)
	}
}
