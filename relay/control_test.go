package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"touchstone/relay/client"
	"touchstone/relay/event"
)

// choices returns the models that a follower is sent, one after the other, until the test ends. The follower
// filters for events that never come.
func choices(t *testing.T, address, token string) <-chan string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	models, done := make(chan string, 100), make(chan error, 1)
	c := &client.Client{URL: "http://" + address, Token: token, Filter: event.Filter{Repos: []string{"acme/app"}, Sources: []string{"github"}}}
	go func() {
		done <- c.Follow(ctx, client.Now, func(_ context.Context, m event.Message) error {
			if m.Settings != nil {
				models <- m.Settings.Values["engine.review.model"]
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
	return models
}

// administrator makes an admin's token for the relays of a store.
func administrator(t *testing.T, binary, store string) string {
	t.Helper()
	create := exec.CommandContext(t.Context(), binary, "token", "create", "--store", store, "--name", "ops", "--role", "admin")
	text, err := create.Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

// awaitModel waits until a follower is sent a model.
func awaitModel(t *testing.T, who string, models <-chan string, want string) {
	t.Helper()
	for {
		select {
		case got := <-models:
			if got == want {
				return
			}
		case <-t.Context().Done():
			t.Fatalf("%s is never told %s", who, want)
		}
	}
}

// Each choice reaches the followers that are connected and those that connect later, although the relay is
// killed as soon as it has acknowledged the choice.
func TestSettingsSurviveAKill(t *testing.T) {
	t.Parallel()
	binary := buildRelay(t)
	store := newStore(t)
	token := administrator(t, binary, store)
	p := startRelay(t, binary, store, "")
	one, two := choices(t, p.address, token), choices(t, p.address, token)
	for i := range 4 {
		model := fmt.Sprint("model-", i)
		set := exec.CommandContext(t.Context(), binary, "control", "set", "--url", "http://"+p.address, "engine.review.model="+model)
		set.Env = append(os.Environ(), "RELAY_TOKEN="+token)
		if output, err := set.CombinedOutput(); err != nil {
			t.Fatalf("set %s: %v\n%s", model, err, output)
		}
		if i%2 == 1 {
			p.kill()
			p = startRelay(t, binary, store, p.address)
		}
		awaitModel(t, "the first follower", one, model)
		awaitModel(t, "the second follower", two, model)
		awaitModel(t, "who comes later", choices(t, p.address, token), model)
	}
}
