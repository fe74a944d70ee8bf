package gitcmd

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"sync"
)

// recent holds the paths of git binaries that Check found to be recent enough.
var recent sync.Map

// Check verifies that git exists and is recent enough, once per process for each binary. Its error says what
// to install.
func Check(ctx context.Context, bin string) error {
	if _, ok := recent.Load(bin); ok {
		return nil
	}
	cmd := exec.CommandContext(ctx, bin, "version")
	cmd.Env = inherited()
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("git cannot be run: install git 2.38 or newer and put it on PATH: %w", err)
	}
	var major, minor int
	if _, err := fmt.Sscanf(string(out), "git version %d.%d", &major, &minor); err != nil {
		return fmt.Errorf("git's version is %q, which cannot be read: install git 2.38 or newer", strings.TrimSpace(string(out)))
	}
	if major < 2 || major == 2 && minor < 38 {
		return fmt.Errorf("git is %d.%d: install 2.38 or newer", major, minor)
	}
	recent.Store(bin, true)
	return nil
}
