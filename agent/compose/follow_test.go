package compose

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"touchstone/agent/daemon"
	"touchstone/agent/forge"
	"touchstone/agent/journal"
	"touchstone/relay/event"
)

// Every event that may have changed a pull request wakes an agent, and no other event does.
func TestOnlyEventsThatMayChangeAPullRequestWakeAnAgent(t *testing.T) {
	t.Parallel()
	const claim = "https://relay.example/pulls/acme/app/1#touchstone-0123456789ab"
	for name, test := range map[string]struct {
		kind, payload string
		want          bool
	}{
		"a comment on an issue":         {"issue_comment", `{"issue":{"number":1}}`, true},
		"a comment on a pull request":   {"issue_comment", `{"issue":{"number":1,"pull_request":{"url":"x"}}}`, false},
		"a label of an issue":           {"issues", `{"issue":{"number":1}}`, true},
		"a claim, and each renewal":     {"status", `{"state":"pending","target_url":"` + claim + `"}`, true},
		"what came of a session":        {"status", `{"state":"success","target_url":"` + claim + `"}`, false},
		"a status that claims nothing":  {"status", `{"state":"pending","target_url":"https://x/acme/app/pull/1"}`, false},
		"a status of CI":                {"status", `{"state":"pending","target_url":null}`, false},
		"a push":                        {"push", `{}`, false},
		"a job of a workflow":           {"workflow_job", `{"workflow_job":{"head_sha":"abc"}}`, true},
		"a run of a workflow":           {"workflow_run", `{"workflow_run":{"pull_requests":[]}}`, false},
		"a star":                        {"star", `{}`, true},
		"a status that cannot be read":  {"status", `[]`, false},
		"a comment that cannot be read": {"issue_comment", `[]`, false},
	} {
		if got := idle(&event.Event{Type: test.kind, Payload: []byte(test.payload)}); got != test.want {
			t.Errorf("%s is idle: %t", name, got)
		}
	}
}

// TestEachGitHubSourceOfTheRelayIsHeard checks that the source's name does not matter, and that another sender's event
// about the repository is no hint.
func TestEachGitHubSourceOfTheRelayIsHeard(t *testing.T) {
	t.Parallel()
	const headers = `"headers":{"X-Github-Event":"pull_request"},`
	relay := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		wanted := event.Filter{Sources: r.URL.Query()["source"], Repos: r.URL.Query()["repo"]}
		w.Header().Set("Content-Type", "text/event-stream")
		for i, e := range []struct{ source, headers string }{{"github", headers}, {"alerts", ""}, {"github-acme", headers}} {
			if !wanted.Match(event.Event{Source: e.source, Type: "pull_request", Repo: "acme/app"}) {
				continue
			}
			fmt.Fprintf(w, "event: %s.pull_request\ndata: {\"id\":\"q7m2x4ka-%d\",\"source\":%q,\"delivery\":\"d%d\",\"type\":\"pull_request\","+
				"\"repo\":\"acme/app\",\"number\":%d,%s\"received_at\":\"2026-11-28T09:00:00Z\",\"payload\":{}}\nid: q7m2x4ka-%d\n\n",
				e.source, i+1, e.source, i+1, i+1, e.headers, i+1)
		}
	}))
	defer relay.Close()
	kept, err := journal.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var heard []int
	f := relayFollower{url: relay.URL, repos: []forge.Repo{{Owner: "acme", Name: "app"}}, journal: kept}
	err = f.Follow(ctx, func(h daemon.Hint) {
		if heard = append(heard, h.Number); h.Number == 3 || len(heard) > 8 {
			cancel()
		}
	})
	heard = slices.DeleteFunc(heard, func(number int) bool { return number == 0 })
	if !errors.Is(err, context.Canceled) || strings.Trim(fmt.Sprint(heard), "[]") != "1 3" {
		t.Errorf("it was told of %v, %v", heard, err)
	}
}
