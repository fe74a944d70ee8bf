package server_test

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"touchstone/relay/event"
	"touchstone/relay/internal/examples"
	"touchstone/relay/server"
	"touchstone/relay/source"
)

// toSource sends a request about the sources with a token.
func (r *relay) toSource(t *testing.T, token, path, body string) answer {
	t.Helper()
	return send(t, r.request(t, http.MethodPut, "/api/v1/sources"+path, "Bearer "+token, body))
}

// An administrator sets an App's secret; webhooks signed with it are accepted beside those of the configured
// secret, also after a restart.
func TestAnAppsSecretIsBelievedBesideTheConfigured(t *testing.T) {
	const appSecret = "0123456789abcdef"
	store := openStore(t, filepath.Join(t.TempDir(), "relay.db"))
	sources := map[string]server.Source{"github": source.GitHub{Secret: secret}, "other": source.Generic{Secret: secret}}
	r, admin, others := administered(t, server.Config{Store: store, Sources: sources, PublicURL: "https://relay.example.com"}, event.Filter{})
	signed := func(secret string, want int) {
		t.Helper()
		request := examples.Request(t, r.address, secret, "push", rand.Text(), []byte(`{"at":"`+rand.Text()+`"}`))
		if a := send(t, request); a.status != want {
			t.Errorf("what %s signs is answered %+v; want %d", secret, a, want)
		}
	}
	signed(appSecret, http.StatusUnauthorized)

	const path = "/github/app-secret"
	for _, refused := range []struct {
		token, path, body string
		status            int
	}{
		{others[0], path, `{"secret":"` + appSecret + `"}`, http.StatusForbidden},
		{"rly_guess", path, `{"secret":"` + appSecret + `"}`, http.StatusUnauthorized},
		{admin, "/other/app-secret", `{"secret":"` + appSecret + `"}`, http.StatusNotFound},
		{admin, "/none/app-secret", `{"secret":"` + appSecret + `"}`, http.StatusNotFound},
		{admin, path, `{"secret":"short"}`, http.StatusBadRequest},
		{admin, path, `{"secret":"` + strings.Repeat("x", 8<<10) + `"}`, http.StatusBadRequest},
		{admin, path, `nothing`, http.StatusBadRequest},
	} {
		if a := r.toSource(t, refused.token, refused.path, refused.body); a.status != refused.status || a.Error == "" {
			t.Errorf("%+v is answered %+v", refused, a)
		}
	}
	signed(appSecret, http.StatusUnauthorized)

	const listed = `{"sources":[{"name":"github","url":"https://relay.example.com/webhooks/github","app":%t}]}` + "\n"
	if got, want := r.sources(t, admin), fmt.Sprintf(listed, false); got != want {
		t.Errorf("the sources are %s, want %s", got, want)
	}
	if a := r.toSource(t, admin, path, `{"secret":"`+appSecret+`"}`); a.status != http.StatusNoContent {
		t.Fatalf("the secret is answered %+v", a)
	}
	signed(appSecret, http.StatusAccepted)
	signed(secret, http.StatusAccepted)
	if got, want := r.sources(t, admin), fmt.Sprintf(listed, true); got != want {
		t.Errorf("the sources are %s, want %s", got, want)
	}

	// Another relay of the same log, and one that is started anew, know it too.
	r, _, _ = administered(t, server.Config{Store: store, Sources: sources})
	signed(appSecret, http.StatusAccepted)
}

// sources requests the sources that an App can send to.
func (r *relay) sources(t *testing.T, token string) string {
	t.Helper()
	_, text := do(t, http.DefaultClient, http.MethodGet, r.address+"/api/v1/sources", "", http.Header{"Authorization": {"Bearer " + token}})
	return text
}
