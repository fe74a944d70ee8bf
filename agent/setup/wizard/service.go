package wizard

import (
	"context"
	"errors"
	"fmt"
	"io"

	"touchstone/agent/service"
	"touchstone/agent/version"
	"touchstone/verdict/decide"
)

// InstallService installs the agent of a role as a service and says where.
func InstallService(ctx context.Context, out io.Writer, config string, role decide.Role) error {
	if config == "" {
		return errors.New("this user has no place for a configuration; name one with --config")
	}
	found, err := service.Here(string(role), config, version.String())
	if err != nil {
		return err
	}
	path, err := found.Install(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "the %s's agent runs as a service, described in %s; see `touchstone service logs --mode %s -f`\n", role, path, role)
	return nil
}
