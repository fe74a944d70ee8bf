package e2e

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-github/v66/github"
	"golang.org/x/sys/unix"

	"touchstone/agent/status"
	"touchstone/verdict/decide"
)

// terminal is a pseudo-terminal of 120 by 40, and what was written to it.
type terminal struct {
	*os.File
	mu  sync.Mutex
	all strings.Builder
}

func newTerminal(t *testing.T) *terminal {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("SKIPPED: no pseudo-terminal: %v", err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 120})
	}
	if err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	term, done := &terminal{File: slave}, make(chan struct{})
	go func() {
		defer close(done)
		for buffer := make([]byte, 4096); ; {
			n, err := master.Read(buffer)
			if err != nil {
				return
			}
			term.mu.Lock()
			term.all.Write(buffer[:n])
			term.mu.Unlock()
		}
	}()
	t.Cleanup(func() { _ = slave.Close(); <-done; _ = master.Close() })
	return term
}

func (t *terminal) whole() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.all.String()
}

// screen is what stands on it: what was drawn whole last.
func (t *terminal) screen() string {
	drawn := strings.Split(t.whole(), "\x1b[H")
	return strings.ReplaceAll(drawn[max(0, len(drawn)-2)], "\x1b[K", "")
}

// What status --watch draws on a terminal follows what the agent here does and what the relay knows.
func TestTheScreenFollowsTheLoop(t *testing.T) {
	t.Parallel()
	w := newWorld(t, with(twoDefects(), decide.Reviewer, "hang"))
	w.showPage()
	m := w.agents[decide.Reviewer]
	m.start()
	term := newTerminal(t)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- status.Watch(ctx, term, m.cfg, nil) }()
	shows := func(texts ...string) {
		t.Helper()
		for _, text := range texts {
			w.until("the screen shows "+text, func() bool { return strings.Contains(term.screen(), text) })
		}
	}
	shows("reviewer here: idle", "Open pull requests (0)")
	ref := w.openBad(false)
	shows("reviewer here: review of "+ref.String(), "Open pull requests (1)", "reviewing, round 1", "reviewer judge: review of "+ref.String())
	t.Log(term.screen())
	_, _, err := w.As(author).PullRequests.Edit(w.Ctx, owner, repo.Name, ref.Number, &github.PullRequest{State: github.String("closed")})
	w.must(err)
	shows("reviewer here: idle", "Open pull requests (0)")
	stop()
	w.must(<-done)
	w.until("the terminal is given back", func() bool { return strings.HasSuffix(term.whole(), "\x1b[?25h\x1b[?1049l") })
}
