package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"touchstone/relay/client"
	"touchstone/relay/event"
	"touchstone/relay/server"
	"touchstone/relay/token"
)

// administered starts a relay with an admin's token and one token for each scope. The relay's own requests
// use the admin's.
func administered(t *testing.T, config server.Config, scopes ...event.Filter) (r *relay, admin string, texts []string) {
	t.Helper()
	store := token.File{Path: filepath.Join(t.TempDir(), "tokens")}
	admin = mint(t, store, "ops", token.Admin, event.Filter{})
	for i, scope := range scopes {
		texts = append(texts, mint(t, store, fmt.Sprint("laptop-", i), token.Subscriber, scope))
	}
	guard := newChecker(t, store)
	config.Tokens = guard
	r = start(t, config)
	r.token = admin
	return r, admin, texts
}

// change sends a patch of the settings, with a token if one is given.
func (r *relay) change(t *testing.T, token, patch string) (answer, event.Settings) {
	t.Helper()
	authorization := ""
	if token != "" {
		authorization = "Bearer " + token
	}
	a := send(t, r.request(t, http.MethodPatch, "/control", authorization, patch))
	if a.status != http.StatusOK {
		return a, event.Settings{}
	}
	return a, r.settings(t, token)
}

// settings requests the settings in force.
func (r *relay) settings(t *testing.T, token string) event.Settings {
	t.Helper()
	response, text := do(t, http.DefaultClient, http.MethodGet, r.address+"/control", "", http.Header{"Authorization": {"Bearer " + token}})
	var settings event.Settings
	if err := json.Unmarshal([]byte(text), &settings); err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("the settings were answered %s: %v", response.Status, err)
	}
	return settings
}

// must makes a change that has to succeed.
func (r *relay) must(t *testing.T, token, patch string) event.Settings {
	t.Helper()
	a, settings := r.change(t, token, patch)
	if a.status != http.StatusOK {
		t.Fatalf("the change %s: %+v", patch, a)
	}
	return settings
}

// follow passes on what a subscriber gets, except moves of the cursor, until the test ends.
func (r *relay) follow(t *testing.T, token, after string, filter event.Filter) <-chan event.Message {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	messages, done := make(chan event.Message, 100), make(chan error, 1)
	c := &client.Client{URL: r.address, Token: token, Filter: filter}
	go func() {
		done <- c.Follow(ctx, after, func(_ context.Context, m event.Message) error {
			if m.Event != nil || m.Gap != nil || m.Reset != nil || m.Settings != nil {
				messages <- m
			}
			return nil
		})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("following ended with %v", err)
		}
	})
	return messages
}

// A connected subscriber is sent new settings, and a later one begins with the settings in force: from any
// cursor, with any filter, within any scope.
func TestSettingsReachAllSubscribers(t *testing.T) {
	r, admin, texts := administered(t, server.Config{}, event.Filter{}, event.Filter{Repos: []string{"acme/*"}},
		event.Filter{Sources: []string{"grafana"}})
	first := r.post(t, "a", `{}`)
	var early []<-chan event.Message
	for _, text := range texts {
		early = append(early, r.follow(t, text, client.Oldest, event.Filter{Types: []string{"deployment"}}))
	}
	for r.metrics(t)["relay_subscribers"] != fmt.Sprint(len(early)) {
		if t.Context().Err() != nil {
			t.Fatal("not all subscribers are connected")
		}
	}
	one := r.must(t, admin, `{"engine.review.model":"claude-sonnet-4-5","engine.off":"opus"}`)
	r.post(t, "b", `{}`)
	two := r.must(t, admin, `{"engine.review.model":null}`)
	if want := map[string]string{"engine.off": "opus"}; !maps.Equal(two.Values, want) || two.By != "ops" ||
		time.Since(two.At) > time.Minute {
		t.Errorf("after unsetting it holds %+v, want %v", two, want)
	}
	for i, messages := range early {
		for _, want := range []event.Settings{one, two} {
			if m := <-messages; m.Settings == nil || !reflect.DeepEqual(*m.Settings, want) || m.Cursor != want.ID {
				t.Errorf("subscriber %d got %+v, want %+v", i, m, want)
			}
		}
	}
	for name, after := range map[string]string{"now": client.Now, "the first event": first, "oldest": client.Oldest,
		"the newest settings": two.ID.String(), "another log": "zzzzzzzz-5"} {
		for _, text := range texts[1:] {
			messages := r.follow(t, text, after, event.Filter{Types: []string{"deployment"}})
			m := <-messages
			if m.Reset != nil {
				m = <-messages
			}
			if m.Settings == nil || !reflect.DeepEqual(*m.Settings, two) || name == "now" && m.Cursor.Seq != 4 ||
				name == "oldest" && m.Cursor.Seq != 0 {
				t.Errorf("a subscriber after %s first gets %+v", name, m)
			}
		}
	}
}

// A replay leaves out settings that are older than those it began with, and nothing else; the frames are as
// in the README.
func TestReplayBeginsWithTheNewestSettings(t *testing.T) {
	r, admin, _ := administered(t, server.Config{})
	r.must(t, admin, `{"engine.model":"opus"}`)
	a := r.post(t, "a", `{}`)
	second := r.must(t, admin, `{"engine.model":"haiku"}`)
	b := r.post(t, "b", `{}`)
	log := strings.TrimSuffix(a, "2")
	stream := r.open(t, "after=oldest", "")
	if frame, want := stream.next(), "retry: 1000\nid: "+log+"0\n"; frame != want {
		t.Errorf("it begins with %q, want %q", frame, want)
	}
	head := "event: relay.control\ndata: {\"id\":\"" + second.ID.String() +
		"\",\"settings\":{\"engine.model\":\"haiku\"},\"by\":\"ops\",\"at\":\""
	if frame := stream.next(); !strings.HasPrefix(frame, head) || !strings.HasSuffix(frame, "\"}\nid: "+log+"0\n") {
		t.Errorf("then comes %q", frame)
	}
	for _, want := range []string{a, b} {
		if got := stream.event().ID.String(); got != want {
			t.Errorf("then comes %s, want %s", got, want)
		}
	}
	third := r.must(t, admin, `{"engine.model":"sonnet"}`)
	if frame := stream.message(); !strings.HasPrefix(frame, "event: relay.control\n") ||
		!strings.HasSuffix(frame, "\nid: "+third.ID.String()+"\n") {
		t.Errorf("a later change is told as %q", frame)
	}
}

// Settings that are not allowed are refused with a sentence, and nothing is stored.
func TestOnlyKnownSettingsAreAccepted(t *testing.T) {
	r, admin, texts := administered(t, server.Config{}, event.Filter{})
	for name, test := range map[string]struct {
		token, patch, sentence string
		status                 int
	}{
		"no token":     {"", `{"engine.model":"opus"}`, "access token", http.StatusUnauthorized},
		"a subscriber": {texts[0], `{"engine.model":"opus"}`, "role admin", http.StatusForbidden},
		"no JSON":      {admin, `engine.model=opus`, "not a change of settings", http.StatusBadRequest},
		"nothing":      {admin, ``, "not a change of settings", http.StatusBadRequest},
		"no change":    {admin, `{}`, "not a change of settings", http.StatusBadRequest},
		"no text":      {admin, `{"engine.model":5}`, "not a change of settings", http.StatusBadRequest},
		"too long":     {admin, `{"engine.model":"` + strings.Repeat("a", 1<<17) + `"}`, "not a change of settings", http.StatusBadRequest},
		"unknown": {admin, `{"engine.model":"opus","engine.command":"sh"}`, `"engine.command" cannot be set from a relay`,
			http.StatusBadRequest},
		"unknown, unset": {admin, `{"engine.modle":null}`, `unknown setting "engine.modle"`, http.StatusBadRequest},
		"an option":      {admin, `{"engine.model":"--help"}`, "must be the name of a model", http.StatusBadRequest},
		"a secret":       {admin, `{"engine.model":"sk-ant-api03-x"}`, "looks like a key", http.StatusBadRequest},
		"not set anyway": {admin, `{"engine.model":null}`, "", http.StatusOK},
	} {
		a, _ := r.change(t, test.token, test.patch)
		if a.status != test.status || !strings.Contains(a.Error, test.sentence) {
			t.Errorf("%s: %+v", name, a)
		}
	}
	if settings := r.settings(t, texts[0]); !settings.ID.IsZero() || settings.Values == nil || len(settings.Values) != 0 {
		t.Errorf("now holds %+v", settings)
	}
}

// While the store is down no setting changes, and the client is told to try again.
func TestSettingsAreServedWithTheStoreDown(t *testing.T) {
	store := &brokenStore{Store: openStore(t, filepath.Join(t.TempDir(), "relay.db"))}
	r, admin, _ := administered(t, server.Config{Store: store})
	store.broken.Store(true)
	if a, _ := r.change(t, admin, `{"engine.model":"opus"}`); a.status != http.StatusServiceUnavailable || a.retryAfter == "" {
		t.Errorf("with the store down: %+v", a)
	}
	store.broken.Store(false)
	if c := r.settings(t, admin); len(c.Values) != 0 {
		t.Errorf("what was refused holds: %+v", c)
	}
	if c := r.must(t, admin, `{"engine.model":"opus"}`); c.ID.Seq != 1 {
		t.Errorf("it holds since %s", c.ID)
	}
}

// Without tokens there are no admins, neither directly nor through a proxy, in any version of HTTP: a model's
// session in a sandbox can reach the loopback address too.
func TestNoTokensNoAdministrators(t *testing.T) {
	r := start(t, server.Config{})
	a, _ := r.change(t, "", `{"engine.model":"opus"}`)
	if a.status != http.StatusForbidden || !strings.Contains(a.Error, "touchstone-relay token create") {
		t.Errorf("a change without tokens is answered %+v", a)
	}
	if a, _ := r.change(t, "rly_aaaaaaaa_guess", `{"engine.off":"opus"}`); a.status != http.StatusForbidden {
		t.Errorf("a change with an invented token is answered %+v", a)
	}
	if c := r.settings(t, ""); len(c.Values) != 0 {
		t.Errorf("now holds %+v", c)
	}
}
