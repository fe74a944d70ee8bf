package doctor

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"touchstone/agent/compose"
	"touchstone/agent/config"
)

// TestEachRepositoryHasItsOwnTime checks that a repository whose checks run out of time takes none from the next
// one.
func TestEachRepositoryHasItsOwnTime(t *testing.T) {
	t.Parallel()
	ended := make(chan struct{})
	github := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked, _ := io.ReadAll(r.Body)
		if strings.Contains(string(asked), "slow") {
			select {
			case <-r.Context().Done():
			case <-ended:
			}
		}
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(`{"message":"Bad credentials"}`))
	}))
	defer github.Close()
	defer close(ended)
	cfg := config.Default()
	cfg.GitHub.APIURL, cfg.GitHub.Token = github.URL+"/", "gho_canary"
	client, err := compose.Client(cfg)
	if err != nil {
		t.Fatal(err)
	}
	d := Doctor{Config: cfg, Report: func(Result) {}}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, name := range []string{"acme/slow", "acme/app"} {
		d.repository(ctx, client, name, "octocat", 500*time.Millisecond)
	}
	const late = "timed out"
	if len(d.Results) != 2 || !strings.Contains(d.Results[0].Message, late) || strings.Contains(d.Results[1].Message, late) {
		t.Errorf("%+v", d.Results)
	}
}
