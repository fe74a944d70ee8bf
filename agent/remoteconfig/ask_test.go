package remoteconfig_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"touchstone/agent/config"
	"touchstone/agent/remoteconfig"
)

// What a relay says once holds; where it says nothing, the file's settings do, and the log
// says that in a sentence.
func TestFileSettingsHoldWhereTheRelaySaysNothing(t *testing.T) {
	t.Parallel()
	const answer = `{"id":"q7m2x4ka-4","settings":{"engine.model":"sonnet"},"by":"ops","at":"2026-05-01T12:00:00Z"}`
	says := func(status int, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodGet || r.URL.Path != "/below/control" || r.Header.Get("Authorization") != "Bearer rly_canary" {
				t.Errorf("asked %s %s as %q", r.Method, r.URL, r.Header.Get("Authorization"))
			}
			w.WriteHeader(status)
			_, _ = w.Write([]byte(text))
		}
	}
	hangs := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	for name, test := range map[string]struct {
		relay   http.HandlerFunc
		deaf    bool
		model   string
		warning string
	}{
		"chosen":         {relay: says(http.StatusOK, answer), model: "sonnet"},
		"nothing chosen": {relay: says(http.StatusOK, `{"settings":{}}`), model: "own"},
		"not listening":  {relay: says(http.StatusOK, answer), deaf: true, model: "own"},
		"no relay":       {model: "own"},
		"refused": {relay: says(http.StatusUnauthorized, "{}"), model: "own",
			warning: "the relay rejects this machine's token; run `touchstone join` with a new invitation, or set RELAY_TOKEN"},
		"no relay there": {relay: says(http.StatusOK, "<html>"), model: "own", warning: "cannot be read"},
		"silent":         {relay: hangs, model: "own", warning: "it has not answered within 2s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := config.Default()
			cfg.Control, cfg.Engine.Model = !test.deaf, "own"
			if test.relay != nil {
				relay := httptest.NewServer(test.relay)
				defer relay.Close()
				cfg.Relay.URL, cfg.Relay.Token = relay.URL+"/below/", "rly_canary"
			}
			var log bytes.Buffer
			got := remoteconfig.Of(zerolog.New(&log).WithContext(t.Context()), cfg).Apply(cfg.Engine)
			if got.Model != test.model {
				t.Errorf("the model is %s, want %s", got.Model, test.model)
			}
			warned := strings.Contains(log.String(), `"level":"warn"`)
			if warned != (test.warning != "") || !strings.Contains(log.String(), test.warning) || strings.Contains(log.String(), "canary") {
				t.Errorf("the log says %s, want %q", &log, test.warning)
			}
		})
	}
}

// What a relay told last holds while it is away, in the next process too, until it says
// otherwise; what another relay told does not.
func TestLastChoiceHoldsWhileTheRelayIsAway(t *testing.T) {
	t.Parallel()
	answer := http.StatusOK
	text := `{"id":"q7m2x4ka-4","settings":{"engine.off":"opus"},"by":"ops","at":"2026-05-01T12:00:00Z"}`
	relay := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(answer)
		_, _ = w.Write([]byte(text))
	}))
	defer relay.Close()
	cfg := config.Default()
	cfg.StateDir, cfg.Relay.URL = filepath.Join(t.TempDir(), "state"), relay.URL
	off := func(when, want string) {
		t.Helper()
		if got := strings.Join(remoteconfig.Of(t.Context(), cfg).Apply(cfg.Engine).Off, ","); got != want {
			t.Errorf("%s: off is %q, want %q", when, got, want)
		}
	}
	answer = http.StatusServiceUnavailable
	off("never told", "")
	answer = http.StatusOK
	off("told", "opus")
	answer = http.StatusServiceUnavailable
	off("while the relay is away", "opus")
	cfg.Relay.URL = relay.URL + "/another"
	off("with another relay", "")
	cfg.Relay.URL = relay.URL
	off("with the first one again", "opus")
	answer, text = http.StatusOK, `{"settings":{}}`
	off("unset", "")
	answer = http.StatusServiceUnavailable
	off("unset, and away", "")
}
