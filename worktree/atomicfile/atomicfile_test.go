package atomicfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"touchstone/worktree/atomicfile"
)

func TestAFileIsReplacedWholeAndForItsOwnerAlone(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	if err := os.WriteFile(path, []byte("a longer text that was there"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Write(path, []byte("new")); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil || string(got) != "new" {
		t.Errorf("the file holds %q, %v", got, err)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the file's mode is %v, %v; other users may read it", info.Mode(), err)
	}
	err = atomicfile.WriteReadable(path, []byte("for all"))
	if info, _ := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o644 {
		t.Errorf("a file for everyone has the mode %v, %v", info.Mode(), err)
	}
}

func TestAFileThatCannotBeReplacedLeavesNothingBehind(t *testing.T) {
	dir := t.TempDir()
	occupied := filepath.Join(dir, "taken")
	if err := os.MkdirAll(filepath.Join(occupied, "below"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Write(occupied, nil); err == nil {
		t.Error("a file took the place of a directory with files")
	}
	if err := atomicfile.Write(filepath.Join(dir, "missing", "file"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing directory gave %v", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}
