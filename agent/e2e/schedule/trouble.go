package schedule

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"

	"touchstone/agent/e2e/arena"
	"touchstone/agent/githubsim"
	"touchstone/worktree/steps"
)

// Faults of a machine, and of an account.

// writes reports whether a request changes something on GitHub that influences agents. Their statuses do not.
func writes(r *http.Request) bool {
	switch {
	case strings.Contains(r.URL.Path, "/statuses/"):
		return false
	case r.Method == http.MethodGet || r.Method == http.MethodHead || strings.HasSuffix(r.URL.Path, "/git-upload-pack"):
		return false
	case !strings.HasSuffix(r.URL.Path, "/graphql"):
		return true
	}
	body, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	return err == nil && bytes.Contains(body, []byte("mutation"))
}

// noRoom returns a git that cannot write any file, as on a full disk.
func (s *Stage) noRoom() (path string) {
	path = filepath.Join(s.dir, "git-without-room")
	if _, err := os.Stat(path); err != nil {
		steps.Must(os.WriteFile(path, []byte("#!/bin/sh\ntrap '' XFSZ\nulimit -f 0\nexec git \"$@\"\n"), 0o700))
	}
	return path
}

// fill makes the disk of a machine refuse further writes of its git, until the returned function makes room.
func (w *world) fill(m *machine) (room func()) {
	git := m.agent.Worktrees.Git
	if runtime.GOOS != "windows" { // Windows cannot run the shell script
		m.agent.Worktrees.Git = w.noRoom()
	}
	return func() { m.agent.Worktrees.Git = git }
}

// fillJournal returns a function that makes the disk of a machine refuse further writes of its journal, and a
// function that then restarts the agent with room, if the first was called.
func (w *world) fillJournal(m *machine) (fill func(), room func()) {
	var full atomic.Bool
	fill = func() {
		full.Store(true)
		steps.Must(m.agent.Journal.Close()) // a closed journal accepts no more writes
	}
	return fill, func() {
		if full.Load() {
			m.agent.Journal = nil
			w.start(m)
		}
	}
}

// renamed is the new login of the person's account after it gave up its own. stranger selects the token of the
// account that takes over the old login.
const (
	renamed  = arena.Person + "-renamed"
	stranger = "stranger"
)

// freeLogin renames the person's account, and gives its old login to a stranger.
func (w *world) freeLogin() {
	if w.freed {
		return
	}
	steps.Must(w.Sim.Rename(arena.Person, renamed))
	w.freed = true
	steps.Must(w.Sim.AddUser(githubsim.User{Login: arena.Person, Token: arena.Token(stranger)}))
}

// takeBack returns the login to the person's account, for later schedules.
func (w *world) takeBack() {
	if w.freed {
		_ = w.Sim.Delete(arena.Person) // it exists
		_ = w.Sim.Rename(renamed, arena.Person)
	}
}

// strangers are the stranger's steps under the login that was given up, none of which may count.
func (w *world) strangers() []choice {
	if !w.freed {
		return []choice{{1, "a person renames the account, and a stranger takes the login", w.freeLogin}}
	}
	says := func(text string) func() {
		return func() { w.Comment(stranger, "/touchstone "+text) }
	}
	reviews := func(event string) func() {
		return func() { w.reviewAs(stranger, event) }
	}
	return []choice{
		{2, "the stranger approves", reviews("APPROVE")},
		{1, "the stranger objects", reviews("REQUEST_CHANGES")},
		{2, "the stranger breaks the glass", says("break-glass it burns")},
		{1, "the stranger stops the agents", says("stop")},
		{1, "the stranger lets them go on", says("resume")},
	}
}
