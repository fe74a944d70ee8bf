package main

import (
	"os/exec"
	"strings"
	"testing"
)

func TestARelayContinuesARestoredLogUnderANewID(t *testing.T) {
	t.Parallel()
	store := newStore(t)
	fill(t, store)

	out, err := exec.CommandContext(t.Context(), buildRelay(t), "renew", "--store", store).Output()
	if err != nil {
		t.Fatal(err)
	}

	log, ok := strings.CutPrefix(strings.TrimSpace(string(out)), "the log's id is now ")
	checkVerified(t, "log "+log+" is sound: 5 events, 1 to 5; 5 match their signatures\n", false, store)
	if p := startRelay(t, buildRelay(t), store, ""); !ok || follow(t, p.address, "oldest", 1)[0].ID.Log != log {
		t.Errorf("renew printed %q, and the relay's events have another log id", out)
	}
}
