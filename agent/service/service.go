// Package service owns an agent that the operating system runs: in its user's own session, started
// with it and again when it fails. It is a systemd user unit on Linux, a launchd agent on macOS and
// a scheduled task on Windows, and stores the file that describes it where the platform keeps them.
package service

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/template"
	"time"
)

// Service is one agent under the system's care. There is at most one of each mode.
type Service struct {
	// Mode is reviewer or author.
	Mode string
	// Program is the absolute path of this program.
	Program string
	// Config is the absolute path of its configuration.
	Config string
	// Path is the PATH on which it finds git and the model CLI. Services start with a bare one.
	Path string
	// Version is this program's, noted in the description: one that an older program wrote is taken up
	// again, and the agent with it.
	Version string
}

// Here is the service of this very program, of a version, with this user's PATH.
func Here(mode, config, version string) (Service, error) {
	program, err := os.Executable()
	if err == nil {
		// What a package manager links to stays when it upgrades; a build's temporary file does not.
		program, err = filepath.Abs(program)
	}
	if err != nil {
		return Service{}, fmt.Errorf("find this program: %w", err)
	}
	return Service{Mode: mode, Program: program, Config: config, Path: os.Getenv("PATH"), Version: version}, nil
}

// name is what the service is called: touchstone-author or touchstone-reviewer.
func (s Service) name() string { return "touchstone-" + s.Mode }

// commandTimeout bounds one command of the system's service manager.
const commandTimeout = 30 * time.Second

// manage runs a command of the system's service manager and returns what it printed.
func manage(ctx context.Context, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	var printed, failed bytes.Buffer
	cmd.Stdout, cmd.Stderr = &printed, &failed
	err := cmd.Run()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return "", fmt.Errorf("there is no %s on this machine, so it cannot run services this way; start `touchstone run` from what starts "+
			"programs here", name)
	case err != nil:
		return printed.String(), fmt.Errorf("%s %s: %w: %.500s", name, strings.Join(args, " "), err, bytes.TrimSpace(failed.Bytes()))
	}
	return printed.String(), nil
}

// render writes the file that describes the service, if it says anything else than what is there.
func (s Service) render(path, text string, values any, functions template.FuncMap) (changed bool, err error) {
	var out bytes.Buffer
	if err := template.Must(template.New(s.name()).Funcs(functions).Parse(text)).Execute(&out, values); err != nil {
		return false, fmt.Errorf("write the service's description: %w", err)
	}
	if before, err := os.ReadFile(path); err == nil && bytes.Equal(before, out.Bytes()) {
		return false, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return false, fmt.Errorf("make the directory of services: %w", err)
	}
	return true, os.WriteFile(path, out.Bytes(), 0o644)
}

// Installed reports whether the service's description is where the platform has them.
func (s Service) Installed() (bool, error) {
	path, err := s.file()
	if err == nil {
		_, err = os.Stat(path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// Outdated reports whether the service is installed with this configuration and another version of this
// program described it, so that installing it again takes up this one.
func (s Service) Outdated() (bool, error) {
	path, err := s.file()
	if err != nil {
		return false, err
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return bytes.Contains(text, []byte(s.configured())) && !bytes.Contains(text, []byte("version "+s.Version+",")), err
}

// remove deletes the file that describes the service; that it is gone already is no error.
func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove the service's description: %w", err)
	}
	return nil
}

// check refuses what no service's description can carry.
func (s Service) check() error {
	for what, value := range map[string]string{"program's path": s.Program, "configuration's path": s.Config, "PATH": s.Path} {
		if strings.ContainsAny(value, "\n\r\x00") {
			return fmt.Errorf("the %s has a line break in it, which no service can be given", what)
		}
	}
	return nil
}
