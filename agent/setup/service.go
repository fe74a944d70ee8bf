package setup

import (
	"errors"

	"touchstone/agent/version"
	"touchstone/verdict/decide"
	"touchstone/worktree/service"
)

// Service is the system's service that runs the agent of a role.
type Service struct {
	service.Service
	// Role is what that agent does.
	Role decide.Role
}

// ServiceOf is the service of a role, with the configuration at that path.
func ServiceOf(role decide.Role, config string) (Service, error) {
	if config == "" {
		return Service{}, errors.New("this user has no place for a configuration; name one with --config")
	}
	found, err := service.Here("touchstone-"+string(role), version.String(),
		"run", "--mode", string(role), "--config", config, "--log-format", "json")
	return Service{found, role}, err
}
