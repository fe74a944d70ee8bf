package e2e

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-github/v66/github"

	"touchstone/agent/status"
	"touchstone/agent/terminal/terminaltest"
	"touchstone/verdict/decide"
)

// terminal is the screen of a terminal.
type terminal struct{ *terminaltest.Terminal }

// screen returns the last complete drawing on the terminal.
func (t terminal) screen() string {
	drawn := strings.Split(t.Whole(), "\x1b[H")
	return strings.ReplaceAll(drawn[max(0, len(drawn)-2)], "\x1b[K", "")
}

// The output of status --watch on a terminal follows the local agent's work and what the relay knows.
func TestTheScreenFollowsTheLoop(t *testing.T) {
	t.Parallel()
	w := newWorld(t, with(twoDefects(), decide.Reviewer, "hang"))
	w.showPage()
	m := w.agents[decide.Reviewer]
	m.start()
	term := terminal{terminaltest.New(t, 120, 40)}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- status.Watch(ctx, term.File, m.cfg, nil) }()
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
	w.until("the terminal is given back", func() bool { return strings.HasSuffix(term.Whole(), "\x1b[?25h\x1b[?1049l") })
}
