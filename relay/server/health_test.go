package server_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"touchstone/relay/event"
	"touchstone/relay/server"
	"touchstone/relay/token"
)

// While something that the health page shows cannot be read, it says so, and shows the rest.
func TestHealthShowsWhatThereIsToShow(t *testing.T) {
	dir := t.TempDir()
	store := token.File{Path: filepath.Join(dir, "relay.db.tokens")}
	admin := mint(t, store, "ops", token.Admin, event.Filter{})
	r := start(t, server.Config{Tokens: newChecker(t, store), Page: &server.Page{File: filepath.Join(dir, "page.db"), Version: "0.0.7"}})
	for _, damaged := range []bool{false, true} {
		if damaged {
			must(t, os.WriteFile(store.Path, []byte("{"), 0o600))
		}
		for _, path := range []string{"/health", "/api/v1/health"} {
			response, text := do(t, http.DefaultClient, http.MethodGet, r.address+path, "", http.Header{"Authorization": {"Bearer " + admin}})
			if response.StatusCode != http.StatusOK || !strings.Contains(text, "0.0.7") ||
				strings.Contains(text, "the relay cannot read the access tokens") != damaged {
				t.Errorf("damaged: %t: %s is answered %s:\n%s", damaged, path, response.Status, text)
			}
		}
	}
}
