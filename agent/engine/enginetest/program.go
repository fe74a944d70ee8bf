package enginetest

import (
	"os"
	"syscall"
	"testing"
)

// Program writes a program that stands in for another. No process is begun meanwhile: one that
// is has all files of this one open for a moment, and what is open for writing cannot be run,
// "text file busy" (https://go.dev/issue/22315).
func Program(t testing.TB, path, content string) {
	t.Helper()
	syscall.ForkLock.RLock()
	err := os.WriteFile(path, []byte(content), 0o700)
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
}
