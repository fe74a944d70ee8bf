package main

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

// told returns what a subscriber with a cursor is sent until it has the last of the events, each message in a
// word or two.
func (p *process) told(t *testing.T, after string, last int64) string {
	t.Helper()
	var told []string
	c := client.Client{URL: "http://" + p.address}
	err := c.Follow(t.Context(), after, func(_ context.Context, m event.Message) error {
		switch {
		case m.Gap != nil:
			told = append(told, fmt.Sprintf("gap %d to %d", m.Gap.From.Seq, m.Gap.To.Seq))
		case m.Reset != nil:
			told = append(told, "reset: "+m.Reset.Reason)
		case m.Event != nil:
			told = append(told, fmt.Sprint(m.Event.ID.Seq))
		}
		if m.Event != nil && m.Event.ID.Seq == last {
			return errSeen
		}
		return nil
	})
	if !errors.Is(err, errSeen) {
		t.Fatalf("from %s: %v", after, err)
	}
	return strings.Join(told, ", ")
}

// From any cursor, a subscriber gets every event after it or is told which events it does not get, from
// either kind of store, before and after a restart.
func TestSubscriberOfEveryAge(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(*testing.T) (store string, environment []string){
		"sqlite": func(t *testing.T) (string, []string) { return newStore(t), nil },
		"firestore": func(t *testing.T) (string, []string) {
			store, host := database(t)
			return store, []string{"FIRESTORE_EMULATOR_HOST=" + host}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store, environment := open(t)
			start := func(retention string) *process {
				return launch(t, buildRelay(t), environment, "--listen", "127.0.0.1:0", "--store", store, "--retention", retention)
			}
			first := start("200ms")
			for i := range 3 {
				first.expect(t, i, http.StatusAccepted)
			}
			first.says(t, "/metrics", "\nrelay_log_floor 3\n")
			first.kill()

			p := start("1h")
			for i := range 3 {
				p.expect(t, 3+i, http.StatusAccepted)
			}
			log := follow(t, p.address, client.Oldest, 1)[0].ID.Log
			for range 2 {
				for after, want := range map[string]string{
					client.Oldest: "4, 5, 6",
					log + "-0":    "gap 1 to 3, 4, 5, 6",
					log + "-2":    "gap 3 to 3, 4, 5, 6",
					log + "-3":    "4, 5, 6",
					log + "-5":    "6",
					log + "-7":    "reset: beyond head, 4, 5, 6",
					"aaaaaaaa-5":  "reset: unknown log, 4, 5, 6",
				} {
					if got := p.told(t, after, 6); got != want {
						t.Errorf("from %s a subscriber is told %q, want %q", after, got, want)
					}
				}
				p.kill()
				p = start("1h")
			}
		})
	}
}
