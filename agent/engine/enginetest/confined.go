package enginetest

import (
	"os"
	"testing"

	"touchstone/agent/engine/sandbox"
)

// Confined skips a test on a machine that cannot confine sessions. In CI the test fails instead.
func Confined(t testing.TB) {
	t.Helper()
	if _, err := sandbox.Level(); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("SKIPPED, so that nothing is known of confined sessions: ", err)
	}
}
