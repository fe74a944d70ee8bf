package arena

import (
	"context"
	"net/http"
	"strings"
	"sync"

	"touchstone/agent/forge"
)

// inbox receives GitHub's webhooks without a server, as an HTTP transport.
type inbox struct {
	mu      sync.Mutex
	receive func(event string, repo forge.Repo)
}

// Receive passes all webhooks about pull requests of a repository to receive, which must not call GitHub.
func (a *Arena) Receive(ctx context.Context, repo forge.Repo, receive func(event string, repo forge.Repo)) error {
	a.inbox.mu.Lock()
	a.inbox.receive = receive
	a.inbox.mu.Unlock()
	return a.Call(ctx, Owner, http.MethodPost, repo, "hooks", map[string]any{
		"events": []string{"pull_request", "pull_request_review", "issue_comment", "status"},
		"config": map[string]string{"url": "http://relay.example.com/" + repo.String(), "content_type": "json"},
	}, nil)
}

// RoundTrip receives a webhook. The URL names the repository.
func (i *inbox) RoundTrip(r *http.Request) (*http.Response, error) {
	defer r.Body.Close()
	owner, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.receive != nil {
		i.receive(r.Header.Get("X-GitHub-Event"), forge.Repo{Owner: owner, Name: name})
	}
	return &http.Response{StatusCode: http.StatusAccepted, Body: http.NoBody, Request: r}, nil
}
