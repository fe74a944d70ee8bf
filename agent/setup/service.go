package setup

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"touchstone/agent/config"
	"touchstone/agent/engine/engines"
	"touchstone/agent/version"
	"touchstone/verdict/decide"
	"touchstone/worktree/service"
)

// Service is the system service that runs the agent of a role.
type Service struct {
	service.Service
	// Role is the agent's role.
	Role decide.Role
	cfg  config.Config
}

// ServiceOf returns the service of a role with a configuration.
func ServiceOf(role decide.Role, cfg config.Config) (Service, error) {
	if cfg.Path() == "" {
		return Service{}, errors.New("this user has no place for a configuration; name one with --config")
	}
	found, err := service.Here("touchstone-"+string(role), version.String(),
		"run", "--mode", string(role), "--config", cfg.Path(), "--log-format", "json")
	return Service{found, role, cfg}, err
}

// KeepKeys writes the keys of models' providers that are set in this shell, but that the service would not
// get, to [config.ModelKeysFile], which only this user may read. It returns the path of that file and the
// names of the variables.
func (s Service) KeepKeys(ctx context.Context) (path string, names []string, err error) {
	path = filepath.Join(filepath.Dir(s.cfg.Path()), config.ModelKeysFile)
	if names = s.Lacking(ctx, engines.Logins(s.cfg.Engine)...); len(names) == 0 {
		return path, nil, nil
	}
	before, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return path, nil, err
	}
	var text strings.Builder
	for line := range strings.Lines(string(before)) {
		if name, _, _ := strings.Cut(line, "="); !slices.Contains(names, name) {
			text.WriteString(strings.TrimRight(line, "\n") + "\n") // the last line may have been written by hand
		}
	}
	for _, name := range names {
		text.WriteString(name + "=" + os.Getenv(name) + "\n")
	}
	return path, names, Save(path, []byte(text.String()))
}
