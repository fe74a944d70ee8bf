package process

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// leaving names, for this test's own process in the role of a reaper, the group of its tree.
const leaving = "TOUCHSTONE_TEST_GROUP"

// TestWhatLeftItsGroupIsKilled starts a process that goes into another control group, as those do that a
// session's commands have started by a service manager or as a container: killing the group does not reach it.
func TestWhatLeftItsGroupIsKilled(t *testing.T) {
	if dir := os.Getenv(leaving); dir != "" {
		reapLeaving(dir)
	}
	root := t.TempDir()
	if err := unix.Mount("cgroup2", root, "cgroup2", 0, ""); err != nil {
		t.Skip("SKIPPED, so that nothing is known of control groups: this user mounts none: ", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(root, unix.MNT_DETACH) })
	top, err := os.MkdirTemp(root, "touchstone-test-")
	if err != nil {
		t.Skip("SKIPPED, so that nothing is known of control groups: ", err)
	}
	t.Cleanup(func() { _ = os.Remove(top) })
	for _, name := range []string{"group", "other"} {
		if err := os.Mkdir(filepath.Join(top, name), 0o755); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = (&cgroup{filepath.Join(top, name)}).kill()
			_ = os.Remove(filepath.Join(top, name))
		})
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), leaving+"="+top)
	if err := cmd.Run(); err != nil {
		t.Errorf("the tree has not ended: %v", err)
	}
}

// reapLeaving runs a tree in a group, one of whose processes leaves it, and exits when all have ended.
func reapLeaving(top string) {
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	g := reaper{
		fd: 3, group: &cgroup{filepath.Join(top, "group")}, say: func(any) {}, stop: make(chan struct{}), gone: make(chan struct{}),
	}
	const script = `sh -c 'echo $$ >"$1" && exec sleep 60' sh "$1" & until grep -q . "$1"; do :; done`
	if err := g.startChild("/bin/sh", []string{"sh", "-c", script, "sh", filepath.Join(top, "other", "cgroup.procs")}); err != nil {
		os.Exit(1)
	}
	g.reap()
	os.Exit(0)
}
