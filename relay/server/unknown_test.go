package server_test

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"touchstone/relay/server"
)

// What the API does not know is refused as everything is that it refuses: in JSON, with a sentence. It does not matter
// whether the relay has a page.
func TestTheAPIRefusesUnknownPathsInItsOwnForm(t *testing.T) {
	for name, page := range map[string]*server.Page{"with a page": {File: filepath.Join(t.TempDir(), "page.db")}, "without one": nil} {
		r := start(t, server.Config{Page: page})
		for request, want := range map[string]int{
			"GET /api/v1/none": 404, "GET /api/v1/": 404, "GET /api/v1/pulls/acme/app": 404, "DELETE /api/v1/none": 405, "POST /api/v1/pulls": 405,
			"PATCH /api/v1/join": 405,
		} {
			if page == nil && request != "PATCH /api/v1/join" {
				want = 404
			}
			t.Run(name+": "+request, func(t *testing.T) {
				method, path, _ := strings.Cut(request, " ")
				response, text := do(t, http.DefaultClient, method, r.address+path, "", nil)
				var refused struct{ Error string }
				if err := json.Unmarshal([]byte(text), &refused); err != nil || refused.Error == "" || response.StatusCode != want ||
					response.Header.Get("Content-Type") != "application/json" || (response.Header.Get("Allow") != "") != (want == 405) {
					t.Errorf("%s, %v, %q: %v", response.Status, response.Header, text, err)
				}
			})
		}
	}
}
