package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"touchstone/relay/client"
	"touchstone/relay/event"
)

// Whoever read a log further than the backup goes that took its place is told so, with either store, and gets it from its
// oldest event.
func TestARelayContinuesARestoredLogUnderANewID(t *testing.T) {
	t.Parallel()
	for name, made := range map[string]func(*testing.T) (store, host string){
		"SQLite": func(t *testing.T) (string, string) { return newStore(t), "" }, "Firestore": database,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store, host := made(t)
			environment := []string{"FIRESTORE_EMULATOR_HOST=" + host}
			fill(t, store, environment...)
			p := startRelay(t, buildRelay(t), store, "", environment...)
			before := follow(t, p.address, client.Oldest, 5)[4].ID
			p.kill()

			renew := exec.CommandContext(t.Context(), buildRelay(t), "renew", "--store", store)
			renew.Env = append(os.Environ(), environment...)
			out, err := renew.Output()
			must(t, err)

			log, ok := strings.CutPrefix(strings.TrimSpace(string(out)), "the log's id is now ")
			checkVerified(t, "log "+log+" is sound: 5 events, 1 to 5; 5 match their signatures\n", false, store, environment...)
			p = startRelay(t, buildRelay(t), store, "", environment...)
			if id := follow(t, p.address, client.Oldest, 1)[0].ID; !ok || id.Log != log || before.Log == log {
				t.Errorf("renew printed %q, the relay's events are of the log %s, and were of %s", out, id.Log, before.Log)
			}
			checkReset(t, p, before, event.Reset{Log: log, Reason: "unknown log"})
		})
	}
}

// checkReset checks what a subscriber with a cursor is told before its first event.
func checkReset(t *testing.T, p *process, cursor event.Cursor, want event.Reset) {
	t.Helper()
	var told *event.Reset
	c := &client.Client{URL: "http://" + p.address}
	err := c.Follow(t.Context(), cursor.String(), func(_ context.Context, m event.Message) error {
		if m.Event != nil {
			return errSeen
		}
		if m.Reset != nil {
			told = m.Reset
		}
		return nil
	})
	if !errors.Is(err, errSeen) || told == nil || *told != want {
		t.Errorf("a subscriber from before is told %+v, %v", told, err)
	}
}
