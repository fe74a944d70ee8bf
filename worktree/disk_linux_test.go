package worktree

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// fullDisk is a store on a file system of its own, which full fills up and whose result makes room again.
func fullDisk(t *testing.T) (s *Store, full func() (room func())) {
	t.Helper()
	root := t.TempDir()
	if err := unix.Mount("tmpfs", root, "tmpfs", 0, "size=16m"); err != nil {
		t.Skip("SKIPPED, so that nothing is known of a full disk: this user mounts no file system: ", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(root, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return &Store{Root: root}, func() func() {
		ballast := filepath.Join(root, "ballast")
		if err := os.WriteFile(ballast, make([]byte, 16<<20), 0o600); err == nil {
			t.Fatal("the disk is not full")
		}
		return func() {
			must(t, os.Remove(ballast))
		}
	}
}

// TestAFullDiskLosesNoWork checks that work which cannot be set aside, for want of space, is set aside later.
func TestAFullDiskLosesNoWork(t *testing.T) {
	for name, meet := range map[string]func(*Store, Request) error{
		"acquired": func(s *Store, req Request) error {
			_, err := s.Acquire(t.Context(), req)
			return err
		},
		"removed": func(s *Store, req Request) error { return s.Remove(t.Context(), req.Repo, req.Number, req.Role) },
		"collected": func(s *Store, _ Request) error {
			_, err := s.Collect(t.Context(), Limits{Unused: -time.Hour})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, full := fullDisk(t)
			req := newRemote(t).pull()
			tree := acquire(t, s, req)
			writeTest(t, filepath.Join(tree.Dir(), "new.txt"), "new\n")
			commit := commit(t, tree, "never pushed")
			writeTest(t, filepath.Join(tree.Dir(), "topic.txt"), "edited\n")
			release(t, tree)
			room := full()
			if err := meet(s, req); !DiskFault(err) {
				t.Errorf("on a full disk: %v", err)
			}
			room()
			release(t, acquire(t, s, req))
			refs := leftovers(t, s)
			if left := trees(t, s); !slices.Equal(left, []string{"12-author"}) || len(refs) != 2 {
				t.Fatalf("left are %q, set aside is %q", left, refs)
			}
			if got := run(t, tree.home.Mirror(), "git", "rev-parse", refs[0]); got != commit {
				t.Errorf("set aside is %s, want the unpushed commit %s", got, commit)
			}
		})
	}
}

// TestCollectMakesRoomOnAFullDisk checks that trees without work are deleted when nothing can be written.
func TestCollectMakesRoomOnAFullDisk(t *testing.T) {
	s, full := fullDisk(t)
	req := newRemote(t).pull()
	tree := acquire(t, s, req)
	run(t, tree.home.Mirror(), "git", "pack-refs", "--all")
	release(t, tree)
	full()
	done, err := s.Collect(t.Context(), Limits{Unused: -time.Hour})
	if err != nil || len(done.Trees) != 1 || len(trees(t, s)) > 0 {
		t.Errorf("%+v, %v, left are %q", done, err, trees(t, s))
	}
}
