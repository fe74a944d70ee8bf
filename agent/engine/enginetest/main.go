package enginetest

import (
	"os"
	"testing"

	"touchstone/agent/engine/process"
)

// Bootstrap must be the first call of TestMain in a package whose tests run sessions or commands: the test
// program is started again as their reaper, to confine them, and as one of the commands.
func Bootstrap() {
	process.Bootstrap()
	searchIfAsked()
}

// Main is the complete TestMain of such a package.
func Main(m *testing.M) {
	Bootstrap()
	os.Exit(m.Run())
}
