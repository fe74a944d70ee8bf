package arena

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"

	"touchstone/agent/forge"
)

// inbox is where the webhooks end that GitHub sends. No server is needed for it.
type inbox struct {
	mu      sync.Mutex
	receive func(event string, ref forge.Ref)
}

// Receive has all webhooks about pull requests of a repository told to receive, from which
// it must not call GitHub.
func (a *Arena) Receive(ctx context.Context, repo forge.Repo, receive func(event string, ref forge.Ref)) error {
	a.inbox.mu.Lock()
	a.inbox.receive = receive
	a.inbox.mu.Unlock()
	return a.Call(ctx, Owner, http.MethodPost, repo, "hooks", map[string]any{
		"events": []string{"pull_request", "pull_request_review", "issue_comment", "status"},
		"config": map[string]string{"url": "http://relay.example.com/webhooks/github", "content_type": "json"},
	}, nil)
}

// RoundTrip takes a webhook.
func (i *inbox) RoundTrip(r *http.Request) (*http.Response, error) {
	defer r.Body.Close()
	var payload struct {
		Repository  struct{ Name string }
		PullRequest struct{ Number int } `json:"pull_request"`
		Issue       struct{ Number int }
	}
	if err := json.NewDecoder(r.Body).Decode(&payload); err != nil {
		return nil, fmt.Errorf("read a webhook: %w", err)
	}
	ref := forge.Ref{Repo: forge.Repo{Owner: Owner, Name: payload.Repository.Name},
		Number: max(payload.PullRequest.Number, payload.Issue.Number)}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.receive != nil {
		i.receive(r.Header.Get("X-GitHub-Event"), ref)
	}
	return &http.Response{StatusCode: http.StatusAccepted, Body: http.NoBody, Request: r}, nil
}
