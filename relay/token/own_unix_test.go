//go:build unix

package token

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"touchstone/relay/event"
)

// TestRootsTokensStayTheRelays checks that the user that the relay runs as still reads and changes the tokens after root has
// added one without changing to that user.
func TestRootsTokensStayTheRelays(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: only root can act as root")
	}
	const relay = 4711
	dir := t.TempDir()
	if err := os.Chown(dir, relay, relay); err != nil {
		t.Skipf("SKIPPED: this machine has no other users: %v", err)
	}
	file := File{Path: filepath.Join(dir, "relay.db.tokens")}
	made, _, err := New("laptop-1", Subscriber, event.Filter{})
	if err == nil {
		err = Add(t.Context(), file, made)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file.Path, file.Path + ".lock"} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if of := info.Sys().(*syscall.Stat_t); of.Uid != relay || of.Gid != relay || info.Mode().Perm() != 0o600 {
			t.Errorf("%s is of the user %d and the group %d, with the mode %v", path, of.Uid, of.Gid, info.Mode())
		}
	}
}

// TestRootGivesNothingElseAway checks that the relay's user, who can put a link where root writes, gets no file of root's
// by it.
func TestRootGivesNothingElseAway(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: only root can act as root")
	}
	const relay = 4711
	for name, link := range map[string]func(string, string) error{"symbolic link": os.Symlink, "hard link": os.Link} {
		dir, secret := t.TempDir(), filepath.Join(t.TempDir(), "shadow")
		if err := os.WriteFile(secret, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(dir, relay, relay); err != nil {
			t.Skipf("SKIPPED: this machine has no other users: %v", err)
		}
		file := File{Path: filepath.Join(dir, "relay.db.tokens")}
		if err := link(secret, file.Path+".lock"); err != nil {
			t.Fatal(err)
		}
		made, _, err := New("laptop-1", Subscriber, event.Filter{})
		if err != nil {
			t.Fatal(err)
		}
		_ = Add(t.Context(), file, made) // it may also fail
		info, err := os.Stat(secret)
		if err != nil {
			t.Fatal(err)
		}
		if of := info.Sys().(*syscall.Stat_t); of.Uid == relay {
			t.Errorf("by a %s, the relay's user owns another file of root's now", name)
		}
	}
}
