package enginetest

import (
	"os"
	"syscall"
	"testing"
)

// Program writes an executable file that stands in for another program. It does not overlap with the start of
// a process: a new process briefly holds all files of this one open, and a file that is open for writing
// cannot be executed, "text file busy" (https://go.dev/issue/22315).
func Program(t testing.TB, path, content string) {
	t.Helper()
	syscall.ForkLock.RLock()
	err := os.WriteFile(path, []byte(content), 0o700)
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
}
