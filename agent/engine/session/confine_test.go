package session_test

import (
	"os"
	"path/filepath"
	"testing"

	"touchstone/agent/engine"
	"touchstone/agent/engine/enginetest"
	"touchstone/agent/engine/process"
	"touchstone/agent/engine/session"
)

// TestSessionsAreConfined has a CLI of either role try what it may not: the checkout may bring it to anything, and
// it is kept from this user's files.
func TestSessionsAreConfined(t *testing.T) {
	t.Parallel()
	enginetest.Confined(t)
	for role, writes := range map[engine.Role]string{engine.Reviewer: "no", engine.Author: "yes"} {
		t.Run(string(role), func(t *testing.T) {
			t.Parallel()
			user, dir, extra := t.TempDir(), t.TempDir(), t.TempDir()
			for path, content := range map[string]string{
				filepath.Join(user, ".ssh"): "SECRET", filepath.Join(dir, "code"): "plain", filepath.Join(extra, "notes"): "plain",
			} {
				if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			script := "cat ~+/code '" + extra + "/notes' >\"$HOME/read\" && echo reads; cat '" + user + "/.ssh' && echo steals; " +
				"echo x >new && mkdir d && ln new d/new && echo yes || echo no; " +
				"echo x >'" + extra + "/notes' && echo changes; echo x >'" + user + "/.bashrc' && echo escapes; echo done"
			req := engine.Request{Role: role, Dir: dir, ReadDirs: []string{extra}}
			b, err := session.OpenGated(t.Context(), session.Program{
				Command: []string{"bash", "-c", script}, TempDir: t.TempDir(), Confine: true, Private: []string{extra, dir},
				Environ: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + user},
			}, kind, req, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			var said []string
			err = b.Run(t.Context(), process.Command{Line: func(line []byte) error {
				said = append(said, string(line))
				return nil
			}}, nil).Stopped
			want := []string{"reads", writes, "done"}
			if err != nil || len(said) != len(want) || said[0] != want[0] || said[len(said)-2] != writes {
				t.Errorf("it said %q, %v; want %q", said, err, want)
			}
		})
	}
}
