package enginetest

import (
	"os"
	"testing"
)

// Bootstrap begins TestMain in a package whose tests run sessions: its program is started again as
// what they run.
func Bootstrap() { playThief() }

// Main is the whole TestMain of such a package.
func Main(m *testing.M) {
	Bootstrap()
	os.Exit(m.Run())
}
