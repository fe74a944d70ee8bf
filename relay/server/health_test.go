package server_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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

// The health page says how long events are kept in the words of the setting, also when that is less than an hour.
func TestHealthTellsTheRetention(t *testing.T) {
	settings := map[string]time.Duration{"ever": 0, "30d": 30 * 24 * time.Hour, "36h0m0s": 36 * time.Hour, "30m0s": 30 * time.Minute}
	for want, keep := range settings {
		r := start(t, server.Config{Retention: keep, Page: &server.Page{File: filepath.Join(t.TempDir(), "page.db")}})
		_, text := do(t, http.DefaultClient, http.MethodGet, r.address+"/api/v1/health", "", nil)
		if !strings.Contains(text, `"retention":"`+want+`"`) {
			t.Errorf("a relay that keeps events for %s says %s", keep, text)
		}
	}
}
