package server_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"touchstone/relay/recovery"
	"touchstone/relay/server"
	"touchstone/worktree/await"
)

// A recovery whose client hung up compared no hooks, so it does not count as a success.
func TestARecoveryThatWasCutOffIsNoReport(t *testing.T) {
	t.Parallel()
	asked, answer := make(chan struct{}, 100), make(chan struct{})
	github := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		select {
		case <-answer:
		case <-r.Context().Done():
		}
		w.WriteHeader(http.StatusBadGateway)
	}))
	t.Cleanup(github.Close)
	target, err := recovery.ParseTarget("acme/app")
	if err != nil {
		t.Fatal(err)
	}
	log, address := startJournal(t, server.Config{Recovery: recovery.Config{
		GitHub: recovery.GitHub{API: github.URL, Token: "token"}, Targets: []recovery.Target{target}, Sources: []string{"github"},
	}})
	<-asked // the relay's own pass is under way, and others wait for its end

	ctx, hangUp := context.WithCancel(t.Context())
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+address+"/recover", nil)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if response, err := http.DefaultClient.Do(request); err == nil {
			response.Body.Close()
		}
	}()
	await.Until(t, "the second pass", func() bool { return len(log.lines("recovery asked for")) > 0 })
	hangUp()
	<-done
	r := relay{address: "http://" + address}
	await.Until(t, "the second pass to end", func() bool {
		return len(log.lines("recovery cut off")) > 0 || !strings.HasPrefix(r.metrics(t)["relay_recovery_success_timestamp_seconds"], "0")
	})
	expectMetrics(t, r.metrics(t), map[string]string{"relay_recovery_success_timestamp_seconds": "0"})
	close(answer)
}
