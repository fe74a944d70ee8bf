package compose

import (
	"testing"

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
		"a status that cannot be read":  {"status", `[]`, false},
		"a comment that cannot be read": {"issue_comment", `[]`, false},
	} {
		if got := idle(&event.Event{Type: test.kind, Payload: []byte(test.payload)}); got != test.want {
			t.Errorf("%s is idle: %t", name, got)
		}
	}
}
