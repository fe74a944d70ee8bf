package arena

import (
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

// Receive passes all webhooks about the repository's pull requests to receive, which must not call GitHub.
func (s *Subject) Receive(receive func(event string, repo forge.Repo)) {
	s.arena.inbox.mu.Lock()
	s.arena.inbox.receive = receive
	s.arena.inbox.mu.Unlock()
	s.Call(Owner, http.MethodPost, "hooks", map[string]any{
		"events": []string{"pull_request", "pull_request_review", "issue_comment", "status"},
		"config": map[string]string{"url": "http://relay.example.com/" + s.Ref.Repo.String(), "content_type": "json"},
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
