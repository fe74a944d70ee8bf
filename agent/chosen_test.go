package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"touchstone/relay/event"
)

// chosen configures a relay whose administrators have made choices for all agents: chosen
// KEY=VALUE...
func chosen(ts *testscript.TestScript, _ bool, args []string) {
	settings := map[string]string{}
	for _, arg := range args {
		key, value, _ := strings.Cut(arg, "=")
		settings[key] = value
	}
	relay := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/readyz":
			return
		case r.Method+" "+r.URL.Path != "GET /control":
			http.NotFound(w, r)
			return
		case r.Header.Get("Authorization") == "Bearer rly_wrong":
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		// What cannot be sent, the script will miss.
		_ = json.NewEncoder(w).Encode(event.Settings{ID: event.Cursor{Log: "q7m2x4ka", Seq: 4}, Values: settings, By: "ops"})
	}))
	ts.Defer(relay.Close)
	ts.Check(worldOf(ts).config([]string{`{engine: {model: own}, relay: {url: "` + relay.URL + `"}}`}))
}
