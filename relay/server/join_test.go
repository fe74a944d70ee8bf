package server_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"touchstone/relay/event"
	"touchstone/relay/server"
	"touchstone/relay/token"
)

// TestACodeGivesATokenThatWorksAtOnceAndOnlyOnce redeems an invitation over HTTP: its token reads events at once, and the code works once.
func TestACodeGivesATokenThatWorksAtOnceAndOnlyOnce(t *testing.T) {
	tokens := token.File{Path: filepath.Join(t.TempDir(), "tokens")}
	made, code, err := token.NewInvite("alice", event.ForAuthor, event.Filter{Repos: []string{"acme/app"}},
		[]string{"acme-reviewer"}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	must(t, token.Add(t.Context(), tokens, made))
	checker := newChecker(t, tokens)
	r := start(t, server.Config{Tokens: checker, PublicURL: "https://relay.example.com"})
	send := func(path, body string) (int, map[string]any) {
		response, err := http.Post(r.address+path, "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		var answer map[string]any
		must(t, json.NewDecoder(response.Body).Decode(&answer))
		return response.StatusCode, answer
	}
	join := func(body string) (int, map[string]any) { return send("/api/v1/join", body) }
	look := func(body string) (int, map[string]any) { return send("/api/v1/join/look", body) }
	for body, want := range map[string]int{
		"": http.StatusBadRequest, "{}": http.StatusBadRequest, `{"code":7}`: http.StatusBadRequest,
		`{"code":"inv_guess"}`:                          http.StatusUnauthorized,
		`{"code":"` + strings.Repeat("a", 8<<10) + `"}`: http.StatusBadRequest,
	} {
		if status, answer := join(body); status != want || answer["error"] == nil {
			t.Errorf("%.40s: answered %d, %v; want %d", body, status, answer, want)
		}
		if status, answer := look(body); status != want || answer["error"] == nil {
			t.Errorf("%.40s, looked at: answered %d, %v; want %d", body, status, answer, want)
		}
	}

	// Looked at, it stays good, and gives nothing away.
	want := map[string]any{
		"relay": "https://relay.example.com", "role": "author",
		"repositories": []any{"acme/app"}, "reviewers": []any{"acme-reviewer"},
	}
	for range 2 {
		if status, answer := look(`{"code":"` + code + `"}`); status != http.StatusOK || !reflect.DeepEqual(answer, want) {
			t.Errorf("looked at: answered %d, %v", status, answer)
		}
	}
	status, answer := join(`{"code":"` + code + `"}`)
	text, _ := answer["token"].(string)
	delete(answer, "token")
	if status != http.StatusOK || !reflect.DeepEqual(answer, want) {
		t.Errorf("answered %d, %v", status, answer)
	}
	if a := r.get(t, "/control", "Bearer "+text); a.status != http.StatusOK {
		t.Errorf("the token is answered %d", a.status)
	}
	if status, answer := join(`{"code":"` + code + `"}`); status != http.StatusGone ||
		!strings.Contains(answer["error"].(string), "works only once") {
		t.Errorf("the second time: %d, %v", status, answer)
	}
	if status, answer := look(`{"code":"` + code + `"}`); status != http.StatusGone {
		t.Errorf("looked at after that: %d, %v", status, answer)
	}
	stored, err := tokens.Load(t.Context())
	if err != nil || len(stored) != 1 {
		t.Fatalf("stored are %v, %v", stored, err)
	}
	encoded, err := json.Marshal(stored)
	if err != nil || bytes.Contains(encoded, []byte(text[len("rly_")+9:])) {
		t.Errorf("the token itself is stored: %v", err)
	}
}
