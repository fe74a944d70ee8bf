package status

import (
	"path/filepath"
	"testing"

	"touchstone/agent/config"
	"touchstone/agent/journal"
	"touchstone/relay/event"
)

// TestWaitsThatAreOverAreNotListed: a wait is over once anything else is noted about its pull request, and with its agent.
func TestWaitsThatAreOverAreNotListed(t *testing.T) {
	t.Parallel()
	cfg := config.Config{StateDir: t.TempDir()}
	j, err := journal.Open(filepath.Join(cfg.StateDir, "journal", "author"))
	if err != nil {
		t.Fatal(err)
	}
	act := func(ref string) {
		id, err := j.Begin(journal.Entry{Ref: ref, SHA: "aaa", Act: "fix"})
		if err == nil {
			err = j.End(id, journal.Outcome{OK: true})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	wait := func(ref string) {
		if err := j.Note(ref, "aaa", "somebody pushed"); err != nil {
			t.Fatal(err)
		}
	}
	wait("acme/app#1")
	act("acme/app#1")
	act("acme/app#2")
	wait("acme/app#2")
	wait("acme/app#2")
	wait("acme/app#3")
	if err := j.Over("acme/app#3", "aaa", "the pull request is closed"); err != nil {
		t.Fatal(err)
	}
	if err := j.SetActivity(event.Beacon{Role: "author"}); err != nil {
		t.Fatal(err)
	}
	listed := func(last int) (list []string) {
		machine, err := Read(cfg, last)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range machine.Agents[1].Last {
			list = append(list, e.Act+" "+e.Ref)
		}
		return list
	}
	if got := listed(9); len(got) != 3 || got[0] != "fix acme/app#1" || got[2] != "wait acme/app#2" {
		t.Errorf("while it runs: %q", got)
	}
	if got := listed(2); len(got) != 2 || got[0] != "fix acme/app#2" {
		t.Errorf("the last two: %q", got)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if got := listed(9); len(got) != 2 || got[1] != "fix acme/app#2" {
		t.Errorf("when it has ended: %q", got)
	}
	// What happened in between, no entry says.
	if j, err = journal.Open(filepath.Join(cfg.StateDir, "journal", "author")); err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if err := j.SetActivity(event.Beacon{Role: "author"}); err != nil {
		t.Fatal(err)
	}
	if got := listed(9); len(got) != 2 || got[1] != "fix acme/app#2" {
		t.Errorf("when another one runs: %q", got)
	}
}
