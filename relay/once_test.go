package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"touchstone/relay/internal/examples"
	"touchstone/relay/storetest/emulator"
)

// relayBinary builds the relay when the first test needs it. It builds as the Makefile does, so that both
// share the build cache.
var relayBinary = sync.OnceValues(func() (string, error) {
	folder, err := os.MkdirTemp("", "relay-test-")
	if err != nil {
		return "", err
	}
	atEnd(func() error { return os.RemoveAll(folder) })
	binary := filepath.Join(folder, "relay")
	if runtime.GOOS == "windows" {
		binary += ".exe"
	}
	build := exec.Command("go", "build", "-trimpath", "-o", binary, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the relay: %w\n%s", err, out)
	}
	return binary, nil
})

var (
	unpacking sync.Once
	unpacked  []examples.Example
)

// allExamples unpacks the examples when the first test needs them: with the race detector that takes half a
// second.
func allExamples(t *testing.T) []examples.Example {
	t.Helper()
	unpacking.Do(func() { unpacked = examples.All(t) })
	return unpacked
}

// database returns the address of a new store in Firestore, and that of Firestore.
func database(t *testing.T) (store, host string) {
	t.Helper()
	e, project := emulator.ForTest(t)
	return "firestore:" + project, e.Address
}

var (
	endings   []func() error
	endingsMu sync.Mutex
)

// atEnd registers a function to call when all tests are over; the last one is called first.
func atEnd(do func() error) {
	endingsMu.Lock()
	defer endingsMu.Unlock()
	endings = append(endings, do)
}

// tidy is a run of all tests that removes what they made once.
type tidy struct{ testscript.TestingM }

// Run implements testscript.TestingM.
func (t tidy) Run() int {
	code := t.TestingM.Run()
	var errs []error
	for _, end := range slices.Backward(endings) {
		errs = append(errs, end())
	}
	if err := errors.Join(errs...); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return max(code, 1)
	}
	return code
}
