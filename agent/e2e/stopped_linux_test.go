package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"touchstone/agent/config"
	"touchstone/verdict/decide"
)

// TestAnOrderToReviewStopsARunningFix: the session's process ends, nothing of its work is pushed, and
// the review comes before another fix.
func TestAnOrderToReviewStopsARunningFix(t *testing.T) {
	t.Parallel()
	w := newWorld(t, with(twoDefects(), decide.Author, "hang"))
	w.agents[decide.Author].cfg.Engine.IdleTimeout = config.Duration(time.Hour) // by which it would end as well
	w.startBoth()
	ref := w.openBad(false)
	w.until("the fix's session is at work", func() bool { return w.sessions(decide.Author) == 1 })
	fixing := w.running(decide.Author)
	if len(fixing) == 0 {
		t.Fatal("no process of it is found")
	}
	head := w.pull(ref).GetHead().GetSHA()
	w.say(person, ref, "/touchstone review")
	w.until("its processes have ended", func() bool {
		return !slices.ContainsFunc(fixing, func(process string) bool { _, err := os.Stat(process); return err == nil })
	})
	w.until("merged", func() bool { return w.merged(ref) })
	var reviewed []string
	for _, r := range w.records(ref) {
		reviewed = append(reviewed, r.Head)
	}
	if len(reviewed) != 3 || reviewed[0] != head || reviewed[1] != head || reviewed[2] == head {
		t.Errorf("reviewed are %q, want %s twice first", reviewed, head)
	}
	if n := w.sessions(decide.Author); n != 2 {
		t.Errorf("there were %d fixes, want the one that was stopped and one of the second review", n)
	}
}

// running are the live processes of a role's sessions, as their directories in /proc.
func (w *world) running(role decide.Role) (found []string) {
	w.t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*")
	w.must(err)
	for _, process := range all {
		// One that ends meanwhile is none.
		args, _ := os.ReadFile(filepath.Join(process, "cmdline"))
		dir, _ := os.Readlink(filepath.Join(process, "cwd"))
		if bytes.Contains(args, []byte(w.script)) && strings.HasSuffix(dir, "-"+string(role)) {
			found = append(found, process)
		}
	}
	return found
}
