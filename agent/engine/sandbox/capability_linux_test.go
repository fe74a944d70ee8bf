package sandbox_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"touchstone/agent/engine/sandbox"
)

// TestRootKeepsOnlyCapabilitiesOverItsOwn shows something only where root runs the tests.
func TestRootKeepsOnlyCapabilitiesOverItsOwn(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("SKIPPED: this user has no capabilities to give up")
	}
	may := uint64(1<<unix.CAP_CHOWN | 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_FOWNER | 1<<unix.CAP_FSETID | 1<<unix.CAP_KILL |
		1<<unix.CAP_SETGID | 1<<unix.CAP_SETUID | 1<<unix.CAP_NET_BIND_SERVICE)
	out, err := confined(t, sandbox.Rules{}, `grep ^Cap /proc/self/status`)
	if err != nil {
		t.Fatal(err, out)
	}
	sets := 0
	for line := range strings.Lines(out) {
		var name string
		var set uint64
		if _, err := fmt.Sscanf(line, "%s %x", &name, &set); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if sets++; set&^may != 0 {
			t.Errorf("%s also has %x", name, set&^may)
		}
	}
	if sets != 5 {
		t.Errorf("there are %d sets of capabilities, want 5: %s", sets, out)
	}
}
