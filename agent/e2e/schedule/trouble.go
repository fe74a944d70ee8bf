package schedule

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"

	"touchstone/agent/e2e/arena"
	"touchstone/agent/githubsim"
)

// What goes wrong with a machine, and with an account.

// writes reports whether a request changes something on GitHub that agents go by, which their statuses
// are not.
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

// noRoom is a git that can write no file, as on a disk that is full.
func (s *Stage) noRoom() (path string, err error) {
	path = filepath.Join(s.dir, "git-without-room")
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	script := "#!/bin/sh\ntrap '' XFSZ\nulimit -f 0\nexec git \"$@\"\n"
	return path, os.WriteFile(path, []byte(script), 0o700)
}

// fill has the disk of a machine take no more of what its git writes, until the returned function
// makes room.
func (w *world) fill(m *machine) (room func() error) {
	git := m.agent.Worktrees.Git
	path, err := w.noRoom()
	if err == nil && runtime.GOOS != "windows" { // which runs no shell script
		m.agent.Worktrees.Git = path
	}
	return func() error {
		m.agent.Worktrees.Git = git
		return err
	}
}

// fillJournal returns what has the disk of a machine take no more of its journal, and what starts
// its agent again, with room, if that happened.
func (w *world) fillJournal(m *machine) (fill func(context.Context) error, room func() error) {
	var full atomic.Bool
	fill = func(context.Context) error {
		full.Store(true)
		return m.agent.Journal.Close() // what is closed takes nothing more
	}
	return fill, func() error {
		if !full.Load() {
			return nil
		}
		m.agent.Journal = nil
		return w.start(m)
	}
}

// renamed is the login that the person's account takes when it gives its own up, stranger whose
// token signs in as who takes that over.
const (
	renamed  = arena.Person + "-renamed"
	stranger = "stranger"
)

// freeLogin has the person's account take another login, and a stranger the one that it had.
func (w *world) freeLogin(context.Context) error {
	if w.freed {
		return nil
	}
	if err := w.Sim.Rename(arena.Person, renamed); err != nil {
		return err
	}
	w.freed = true
	return w.Sim.AddUser(githubsim.User{Login: arena.Person, Token: arena.Token(stranger)})
}

// takeBack gives the person's account its login again, for the schedules to come.
func (w *world) takeBack() {
	if w.freed {
		_ = w.Sim.Delete(arena.Person) // it is there
		_ = w.Sim.Rename(renamed, arena.Person)
	}
}

// strangers are what the stranger does under the login that was given up, none of which counts.
func (w *world) strangers() []choice {
	if !w.freed {
		return []choice{{1, "a person renames the account, and a stranger takes the login", w.freeLogin}}
	}
	says := func(text string) func(context.Context) error {
		return func(ctx context.Context) error {
			return w.Call(ctx, stranger, http.MethodPost, w.ref.Repo, w.path("issues", "comments"), map[string]any{"body": "/touchstone " + text},
				nil)
		}
	}
	reviews := func(event string) func(context.Context) error {
		return func(ctx context.Context) error { return w.reviewAs(ctx, stranger, event) }
	}
	return []choice{
		{2, "the stranger approves", reviews("APPROVE")},
		{1, "the stranger objects", reviews("REQUEST_CHANGES")},
		{2, "the stranger breaks the glass", says("break-glass it burns")},
		{1, "the stranger stops the agents", says("stop")},
		{1, "the stranger lets them go on", says("resume")},
	}
}
