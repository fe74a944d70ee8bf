package wizard

import (
	"context"
	"fmt"
	"io"

	"touchstone/agent/engine/engines"
	"touchstone/agent/setup"
)

// InstallService installs the service of an agent and says where.
func InstallService(ctx context.Context, out io.Writer, found setup.Service) error {
	path, err := found.Install(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "the %s's agent runs as a service, described in %s; see `touchstone service logs --mode %s -f`\n", found.Role, path,
		found.Role)
	for _, lacking := range found.Lacking(ctx, engines.Logins()...) {
		fmt.Fprintln(out, lacking)
	}
	return nil
}
