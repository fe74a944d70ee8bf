package acp

import (
	"io"
	"os"
	"path/filepath"
	"testing"
)

// TestALinkPutInTheWayIsNotFollowed: a program of the session can put one there after the path
// was looked at and before the file is opened.
func TestALinkPutInTheWayIsNotFollowed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, err := range []error{
		os.WriteFile(filepath.Join(dir, "kept"), []byte("KEPT"), 0o600),
		os.MkdirAll(filepath.Join(dir, ".git", "info"), 0o700),
		os.WriteFile(filepath.Join(dir, ".git", "info", "kept"), []byte("KEPT"), 0o600),
		os.Symlink("kept", filepath.Join(dir, "file")),
		os.Symlink(filepath.Join(".git", "info"), filepath.Join(dir, "folder")),
		os.Symlink(".git", filepath.Join(dir, "git")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	// The last one stands for a name that only the file system takes for that of git's directory.
	for _, path := range []string{"file", "folder/kept", "git/info/kept", ".git/info/kept"} {
		for _, flags := range []int{os.O_RDONLY, os.O_WRONLY | os.O_CREATE | os.O_TRUNC} {
			if file, err := open(dir, path, flags); err == nil {
				file.Close()
				t.Errorf("%s was opened", path)
			}
		}
	}
	for _, path := range []string{"kept", ".git/info/kept"} {
		if content, err := os.ReadFile(filepath.Join(dir, path)); err != nil || string(content) != "KEPT" {
			t.Errorf("%s is %q, %v", path, content, err)
		}
	}
	file, err := open(dir, "new/below/it", os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		t.Fatal(err)
	}
	file.Close()
}

// zeros counts what is read of it, and ends after a gigabyte.
type zeros struct{ read int }

func (z *zeros) Read(p []byte) (int, error) {
	if z.read >= 1<<30 {
		return 0, io.EOF
	}
	z.read += len(p)
	return len(p), nil
}

// TestAFileIsNotReadToItsEnd: a test of the change can make a file of many terabytes that takes no room. While its
// first line is skipped, nothing could stop the session, not even the end of its time.
func TestAFileIsNotReadToItsEnd(t *testing.T) {
	t.Parallel()
	var from zeros
	if _, err := lines(&from, 2, 1); err == nil || from.read > 2*maxFile {
		t.Errorf("%d bytes were read, %v", from.read, err)
	}
}
