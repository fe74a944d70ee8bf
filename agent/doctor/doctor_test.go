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
	"touchstone/agent/engine/sandbox"
	"touchstone/agent/remoteconfig"
	"touchstone/verdict/decide"
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

// TestNetworkNamesWhoIsNotLimited says which sessions connect past a gateway, and that none of them fix anything if
// authors must use one, which does not matter where only reviewers run.
func TestNetworkNamesWhoIsNotLimited(t *testing.T) {
	t.Parallel()
	if err := sandbox.Network(); err != nil {
		t.Skip("SKIPPED, so that nothing is known of what doctor says of the network: ", err)
	}
	d := Doctor{Config: config.Default()}
	gated, claude := config.Engine{Name: "opencode"}, config.Engine{Name: "claude"}
	direct, codexNext := []string{"claude"}, config.Engine{Name: "opencode", Fallback: []string{"codex:"}}
	for _, tc := range []struct {
		role    decide.Role
		network string
		chosen  config.Engine
		direct  []string
		says    string
	}{
		{decide.Author, config.NetworkFull, gated, nil, "reviewers' sessions can connect only to their gateway; authors' sessions"},
		{decide.Author, config.NetworkFull, claude, direct, "; those of claude, which use no gateway, can connect to every"},
		{decide.Author, config.NetworkFull, codexNext, nil, "; codex itself can connect to everything"},
		{decide.Author, config.NetworkGateway, claude, direct, "give it an API key, or set author.network to full"},
		{decide.Reviewer, config.NetworkGateway, claude, direct, "; those of claude, which use no gateway, can"},
	} {
		d.Role, d.Config.Author.Network = tc.role, tc.network
		said, err := d.network(t.Context(), tc.chosen, tc.direct)
		if err != nil {
			said = err.Error()
		}
		fixesNothing := tc.role == decide.Author && tc.network == config.NetworkGateway
		ofAuthors := strings.Contains(said, "author")
		if !strings.Contains(said, tc.says) || (err != nil) != fixesNothing || ofAuthors != (tc.role == decide.Author) {
			t.Errorf("%s, %s, direct %v: %q, %v; want %q", tc.role, tc.network, tc.direct, said, err, tc.says)
		}
	}
}

// TestAResultCannotControlTheTerminal has a relay whose administrator chose a name for that.
func TestAResultCannotControlTheTerminal(t *testing.T) {
	t.Parallel()
	relay := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"id":"abcdefgh-5","settings":{"engine.model":"sonnet"},"by":"root\u001b[2J\nok       github"}`))
	}))
	defer relay.Close()
	var out strings.Builder
	d := Doctor{Report: Print(&out), Config: config.Default()}
	d.Config.Relay.URL = relay.URL
	d.check("control", func() (string, error) {
		choices, err := remoteconfig.Ask(t.Context(), d.Config)
		return choices.Summary("claude").String(), err
	})
	if said := out.String(); !strings.Contains(said, "by root\uFFFD[2J\n") || strings.Contains(said, "\nok") {
		t.Errorf("%q", said)
	}
}
