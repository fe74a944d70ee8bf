//go:build unix

package worktree

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// nobody is a user to whom permissions mean something.
const nobody = 65534

// asNobody runs the test in a process of a user who is not root, if this one is root. It
// reports whether the test is to go on here.
func asNobody(t *testing.T) bool {
	t.Helper()
	if os.Getuid() != 0 {
		return true
	}
	dir := t.TempDir()
	for _, d := range []string{dir, filepath.Dir(dir)} {
		must(t, os.Chmod(d, 0o777))
	}
	binary := filepath.Join(dir, "test")
	must(t, copyFile(binary, os.Args[0]))
	must(t, os.Chmod(binary, 0o755))
	cmd := exec.Command(binary, "-test.v", "-test.run=^"+t.Name()+"$")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "TMPDIR="+dir, "HOME="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return false
}

// lockIn makes a directory below another in which nothing may be written.
func lockIn(t *testing.T, dir, name string) {
	t.Helper()
	writeTest(t, filepath.Join(dir, name, "deep", "file"), "kept\n")
	for _, d := range []string{filepath.Join(dir, name, "deep"), filepath.Join(dir, name)} {
		must(t, os.Chmod(d, 0o500))
	}
}

// TestLockedDirectories checks that directories without write permission neither block the tree nor stay on
// the disk.
func TestLockedDirectories(t *testing.T) {
	if !asNobody(t) {
		return
	}
	r := newRemote(t)
	r.write(".gitignore", "cache/\n")
	req := r.pull()
	s := &Store{Root: t.TempDir()}
	tree := acquire(t, s, req)
	lockIn(t, tree.Dir(), "new")
	if err := tree.Discard(t.Context(), req.Head); err != nil || exists(filepath.Join(tree.Dir(), "new")) {
		t.Errorf("what a command left is still there: %v", err)
	}
	lockIn(t, tree.Dir(), "cache")
	release(t, tree)
	tree = acquire(t, s, req)
	if got := strings.Join(trees(t, s), " "); got != "12-author" || exists(filepath.Join(tree.Dir(), "cache")) {
		t.Errorf("the next one finds %q", got)
	}
	release(t, tree)
	old := "broken-9-author-20200102-030405-000000000"
	lockIn(t, filepath.Join(s.Root, "acme", "app", old), "cache")
	if _, err := s.Collect(t.Context(), Limits{Unused: time.Hour}); err != nil || exists(filepath.Join(s.Root, "acme", "app", old)) {
		t.Errorf("what was broken years ago is still there: %v", err)
	}
}

// TestAFileThatCannotBeRead checks that the error names the file and says what to do.
func TestAFileThatCannotBeRead(t *testing.T) {
	if !asNobody(t) {
		return
	}
	tree := acquire(t, &Store{Root: t.TempDir()}, newRemote(t).pull())
	writeTest(t, filepath.Join(tree.Dir(), "secret.txt"), "x\n")
	must(t, os.Chmod(filepath.Join(tree.Dir(), "secret.txt"), 0))
	_, err := tree.Commit(t.Context(), "Mine", me)
	if err == nil || !strings.Contains(err.Error(), `"secret.txt"`) || !strings.Contains(err.Error(), "allow it with chmod") {
		t.Errorf("it says %v", err)
	}
}
