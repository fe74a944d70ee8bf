package session_test

import (
	"testing"

	"golang.org/x/sys/unix"

	"touchstone/agent/engine"
	"touchstone/agent/engine/process"
	"touchstone/agent/engine/session"
	"touchstone/worktree"
)

// A CLI that fails while the disk of its home is full fails for that, which says nothing of the change; one
// that fails with room there has failed itself.
func TestAFullHomeIsTheDisksFault(t *testing.T) {
	t.Parallel()
	disk := t.TempDir()
	if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=4m"); err != nil {
		t.Skip("SKIPPED, so that nothing is known of a full disk: this user mounts no file system: ", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(disk, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	for script, full := range map[string]bool{
		`exit 1`: false,
		`dd if=/dev/zero of="$HOME/state" bs=64k >"$HOME/said" 2>&1; exit 1`: true,
		`dd if=/dev/zero of="$HOME/state" bs=64k >"$HOME/said" 2>&1; exit 0`: false,
	} {
		b, err := session.OpenGated(t.Context(), session.Program{Command: []string{"sh", "-c", script}, TempDir: disk}, kind,
			engine.Request{Role: engine.Reviewer, Dir: t.TempDir()}, nil)
		if err != nil {
			t.Fatal(err)
		}
		err = b.Run(t.Context(), process.Command{Line: func([]byte) error { return nil }}, nil).Stopped
		if worktree.DiskFault(err) != full || (err != nil) != full {
			t.Errorf("%s ended with %v", script, err)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}
