package service

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"text/template"
)

// description holds the values for the template.
type description struct {
	Service
	Label, Log, Words, Waiting string
}

func (s Service) describe() (d description, path string, err error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return description{}, "", fmt.Errorf("find the directory of services: %w", err)
	}
	label := "dev." + strings.ReplaceAll(s.Name, "-", ".")
	d = description{s, label, filepath.Join(home, "Library", "Logs", s.Name+".log"), s.arguments(), waiting}
	return d, filepath.Join(home, "Library", "LaunchAgents", label+".plist"), nil
}

// arguments formats the program's arguments as in the description.
func (s Service) arguments() string { return plistStrings(s.Arguments) }

// file returns the path of the agent's description.
func (s Service) file() (string, error) {
	_, path, err := s.describe()
	return path, err
}

// domain is the user's session, in which an agent may use the keychain.
func domain() string { return "gui/" + strconv.Itoa(os.Getuid()) }

// Install makes the system start the program now and with each session of this user. Installing again
// switches to a new program or configuration. It returns the path of the file that describes the service.
func (s Service) Install(ctx context.Context) (string, error) {
	d, path, err := s.describe()
	if err == nil {
		err = s.check()
	}
	if err != nil {
		return "", err
	}
	if _, err := s.render(path, agent, d, template.FuncMap{"escape": escape}); err != nil {
		return "", err
	}
	// A loaded agent keeps its old description, so it is unloaded. If none is loaded, the error does not
	// matter.
	_, _ = manage(ctx, "launchctl", "bootout", domain()+"/"+d.Label)
	if _, err := manage(ctx, "launchctl", "bootstrap", domain(), path); err != nil {
		return "", err
	}
	return path, nil
}

// Uninstall stops the program and removes the service. A missing service is no error.
func (s Service) Uninstall(ctx context.Context) error {
	d, path, err := s.describe()
	if err != nil {
		return err
	}
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	_, _ = manage(ctx, "launchctl", "bootout", domain()+"/"+d.Label) // it may not be loaded
	return remove(path)
}

// inherits reports whether the user's agents get a variable.
func (s Service) inherits(ctx context.Context, name string) bool {
	said, err := manage(ctx, "launchctl", "getenv", name)
	return err != nil || strings.TrimSpace(said) != ""
}

// Status returns the service's state in a word: active, inactive or not installed.
func (s Service) Status(ctx context.Context) (string, error) {
	d, path, err := s.describe()
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return "not installed", nil
	}
	if said, err := manage(ctx, "launchctl", "print", domain()+"/"+d.Label); err == nil && strings.Contains(said, "state = running") {
		return "active", nil
	}
	return "inactive", nil
}

// logs returns the command that shows what the program has logged and, with follow, what it logs from now on.
func (s Service) logs(ctx context.Context, follow bool) *exec.Cmd {
	d, _, _ := s.describe() // without a home directory, tail reports the error
	args := []string{"-n", "200", d.Log}
	if follow {
		args = append([]string{"-F"}, args...)
	}
	return exec.CommandContext(ctx, "tail", args...)
}
