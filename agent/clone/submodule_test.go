package clone

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// TestNothingThatASubmoduleConfiguresRuns has one whose own configuration names a filter and a file system monitor.
// Git would run both to see whether files of the submodule changed.
func TestNothingThatASubmoduleConfiguresRuns(t *testing.T) {
	dir, git := repository(t)
	ran := filepath.Join(t.TempDir(), "ran")
	sub := func(name string, args ...string) {
		t.Helper()
		git(append([]string{"-C", name}, args...)...)
	}
	write := func(text string, path ...string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(append([]string{dir}, path...)...), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"edited", "moved", "removed", "absent"} {
		git("init", "-q", name)
		write("* filter=run\n", name, ".gitattributes")
		write("one\n", name, "a.txt")
		sub(name, "add", ".")
		sub(name, "commit", "-qm", "sub")
		git("add", name)
	}
	git("commit", "-qm", "base")
	write("two\n", "edited", "a.txt")
	write("two\n", "moved", "a.txt")
	sub("moved", "commit", "-qam", "two")
	for _, name := range []string{"edited", "moved"} {
		sub(name, "config", "filter.run.clean", "touch "+ran+"; cat")
		sub(name, "config", "core.fsmonitor", "touch "+ran+"; false")
		write("six\n", name, "a.txt")
	}
	if err := os.RemoveAll(filepath.Join(dir, "removed")); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(dir, "absent", ".git")); err != nil {
		t.Fatal(err)
	}
	write("text\n", "a.txt")
	diff := working(t, dir)
	var names []string
	for _, f := range diff.Files {
		names = append(names, f.Path+" "+f.Status)
	}
	if want := []string{"a.txt added", "moved modified", "removed deleted"}; !slices.Equal(names, want) {
		t.Errorf("%q differ, want %q", names, want)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("a program that a submodule configures ran")
	}
	if out, err := exec.Command("git", "-C", dir, "add", "--all").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if _, err := os.Stat(ran); err != nil {
		t.Errorf("git itself does not run them, so this test shows nothing: %v", err)
	}
}
