package wizard

import (
	"context"
	"fmt"
	"io"

	"touchstone/agent/setup"
)

// InstallService installs the service of an agent and reports where.
func InstallService(ctx context.Context, out io.Writer, found setup.Service) error {
	keys, kept, err := found.KeepKeys(ctx)
	if err != nil {
		return fmt.Errorf("keep the model's key for the service: %w", err)
	}
	for _, name := range kept {
		fmt.Fprintf(out, "%s is set in this shell alone, and is kept for the service in %s, which only you can read\n", name, keys)
	}
	path, err := found.Install(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "the %s's agent runs as a service, described in %s; see `touchstone service logs --mode %s -f`\n", found.Role, path,
		found.Role)
	return nil
}
