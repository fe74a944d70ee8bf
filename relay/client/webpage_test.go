package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"touchstone/relay/client"
	"touchstone/relay/event"
)

// A proxy that leads to a page to sign in, or another program at the address, is no connection, and the error says
// where it leads.
func TestAWebPageIsNoStream(t *testing.T) {
	url, _ := scripted(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/sign-in", http.StatusFound)
	}, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, "<!doctype html>\n\n<p>Sign in</p>\n\n")
	}, stream(frame(t, 1)))
	var states []client.State
	c := &client.Client{URL: url, OnState: func(s client.State) { states = append(states, s) }}
	err := c.Follow(t.Context(), client.Oldest, func(context.Context, event.Message) error { return errEnough })
	if !errors.Is(err, errEnough) {
		t.Error(err)
	}
	if len(states) != 2 || states[0].Connected || !strings.Contains(states[0].Err.Error(), url+"/sign-in") || !states[1].Connected {
		t.Errorf("got %+v", states)
	}
}
