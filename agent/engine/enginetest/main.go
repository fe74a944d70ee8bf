package enginetest

import (
	"os"
	"testing"

	"touchstone/agent/engine/process"
)

// Bootstrap begins TestMain in a package whose tests run sessions or commands: its program is
// started again as the reaper over them, to confine them, and as what they run.
func Bootstrap() {
	process.Bootstrap()
	playThief()
}

// Main is the whole TestMain of such a package.
func Main(m *testing.M) {
	Bootstrap()
	os.Exit(m.Run())
}
