package service

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/template"
)

// unit is a systemd user unit
// (https://www.freedesktop.org/software/systemd/man/latest/systemd.service.html).
const unit = `# Written by touchstone service install, version {{.Version}}, which overwrites it.
[Unit]
Description=touchstone, {{.Mode}}

[Service]
ExecStart={{quote .Program}} run --mode {{.Mode}} --config {{argument .Config}} --log-format json
Environment={{quote (print "PATH=" .Path)}}
Restart=always
RestartSec=5
# It gives up its work in order; what a session started ends with it.
TimeoutStopSec=60
# What sessions may use is held in control groups that the agent makes within its own.
Delegate=memory pids
KillMode=mixed

[Install]
WantedBy=default.target
`

// quote writes a value as systemd reads it: in quotes, with its specifiers escaped
// (https://www.freedesktop.org/software/systemd/man/latest/systemd.syntax.html).
func quote(value string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `%`, `%%`).Replace(value) + `"`
}

// argument writes an argument of a command, in which variables would be replaced.
func argument(value string) string { return strings.ReplaceAll(quote(value), "$", "$$") }

// configured is the configuration as the unit names it.
func (s Service) configured() string { return "--config " + argument(s.Config) + " " }

// file is where the user's units are.
func (s Service) file() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("find the directory of services: %w", err)
	}
	return filepath.Join(dir, "systemd", "user", s.name()+".service"), nil
}

// Install has the system start the agent now and with each session of this user. Done again it takes
// up a new program or configuration. It returns the file that describes the service.
func (s Service) Install(ctx context.Context) (string, error) {
	path, err := s.file()
	if err == nil {
		err = s.check()
	}
	if err != nil {
		return "", err
	}
	there, err := s.Installed()
	if err != nil {
		return "", err
	}
	changed, err := s.render(path, unit, s, template.FuncMap{"quote": quote, "argument": argument})
	if err != nil {
		return "", err
	}
	steps := [][]string{{"daemon-reload"}, {"enable", "--now", s.name()}}
	if changed {
		steps = append(steps, []string{"restart", s.name()})
	}
	for _, step := range steps {
		if _, err := manage(ctx, "systemctl", append([]string{"--user"}, step...)...); err != nil {
			if !there { // what nothing runs is not left behind
				err = errors.Join(err, remove(path))
			}
			return "", unreachable(err)
		}
	}
	return path, nil
}

// unreachable adds what to do where systemd keeps no session of this user.
func unreachable(err error) error {
	if strings.Contains(err.Error(), "Failed to connect to bus") {
		return fmt.Errorf("%w; systemd runs no session of this user here: log in as the user itself, run loginctl enable-linger, or start "+
			"`touchstone run` from what starts programs here", err)
	}
	return err
}

// Uninstall stops the agent and removes the service; that there is none is no error.
func (s Service) Uninstall(ctx context.Context) error {
	path, err := s.file()
	if err != nil {
		return err
	}
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if _, err := manage(ctx, "systemctl", "--user", "disable", "--now", s.name()); err != nil {
		return unreachable(err)
	}
	if err := remove(path); err != nil {
		return err
	}
	_, err = manage(ctx, "systemctl", "--user", "daemon-reload")
	return err
}

// Status tells in a word whether it runs: active, inactive, failed or not installed.
func (s Service) Status(ctx context.Context) (string, error) {
	path, err := s.file()
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return "not installed", nil
	}
	said, err := manage(ctx, "systemctl", "--user", "is-active", s.name())
	if word := strings.TrimSpace(said); word != "" {
		return word, nil // one that is not active exits with an error
	}
	return "", unreachable(err)
}

// Logs is the command that shows what the agent has logged, and with follow what it goes on to log.
func (s Service) Logs(ctx context.Context, follow bool) *exec.Cmd {
	args := []string{"--user", "--unit", s.name(), "--output", "cat", "--lines", "200"}
	if follow {
		args = append(args, "--follow")
	}
	return exec.CommandContext(ctx, "journalctl", args...)
}
