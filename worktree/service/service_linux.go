package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"text/template"

	"touchstone/worktree/atomicfile"
)

// unit is a systemd unit
// (https://www.freedesktop.org/software/systemd/man/latest/systemd.service.html).
const unit = `# Written by service install, version {{.Version}}, which overwrites it.
[Unit]
Description={{.Name}}
StartLimitIntervalSec=0
{{- if .Directory}}
After=network-online.target
Wants=network-online.target
{{- end}}

[Service]
ExecStart={{quote .Program}}{{.Words}}
Environment={{quote (print "PATH=" .Path)}}
Restart=always
RestartSec=5
# The log is found by this name. Of the last lines before an exit, the journal may no longer know the unit.
SyslogIdentifier={{.Name}}
# Exit code {{.Mistake}} is a mistake in the settings. A restart does not repair it.
RestartPreventExitStatus={{.Mistake}}
TimeoutStopSec=60
KillMode=mixed
{{- if .Directory}}
# The service runs as root, so that it owns the files that administrators create with the program's commands.
# This setting removes root's rights.
CapabilityBoundingSet=CAP_NET_BIND_SERVICE
NoNewPrivileges=yes
ProtectSystem=strict
ReadWritePaths={{quote .Directory}}
ProtectHome=read-only
PrivateTmp=yes
PrivateDevices=yes
ProtectKernelTunables=yes
ProtectControlGroups=yes
RestrictSUIDSGID=yes
LimitNOFILE=65536
UMask=0077

[Install]
WantedBy=multi-user.target
{{- else}}
# The agent may create control groups below its own for the processes that it starts.
Delegate=memory pids

[Install]
WantedBy=default.target
{{- end}}
`

// description holds the values for the template.
type description struct {
	Service
	Words   string
	Mistake int
}

// quote writes a value in systemd's syntax: in quotes, with its specifiers escaped
// (https://www.freedesktop.org/software/systemd/man/latest/systemd.syntax.html).
func quote(value string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `%`, `%%`).Replace(value) + `"`
}

// argument writes a command's argument and escapes the variables in it.
func argument(value string) string { return strings.ReplaceAll(quote(value), "$", "$$") }

// arguments formats the program's arguments as in the unit.
func (s Service) arguments() string {
	var out strings.Builder
	for _, value := range s.Arguments {
		out.WriteString(" " + argument(value))
	}
	return out.String()
}

// systemctl runs a systemctl command for units such as this one.
func (s Service) systemctl(ctx context.Context, args ...string) (string, error) {
	if s.Directory == "" {
		args = append([]string{"--user"}, args...)
	}
	said, err := manage(ctx, "systemctl", args...)
	return said, unreachable(err)
}

// file returns the path of the unit.
func (s Service) file() (string, error) {
	if s.Directory != "" {
		// https://www.freedesktop.org/software/systemd/man/latest/systemd.unit.html#Unit%20File%20Load%20Path
		return filepath.Join(cmp.Or(os.Getenv("SYSTEMD_UNIT_PATH"), "/etc/systemd/system"), s.Name+".service"), nil
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("find the directory of services: %w", err)
	}
	return filepath.Join(dir, "systemd", "user", s.Name+".service"), nil
}

// Install makes the system start the program now and with each session of this user, or with the machine.
// Installing again switches to a new program or configuration. It returns the path of the file that describes
// the service.
func (s Service) Install(ctx context.Context) (string, error) {
	path, err := s.file()
	if err == nil {
		err = s.check()
	}
	if err != nil {
		return "", err
	}
	before, err := os.ReadFile(path)
	there := err == nil
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("read the service's description: %w", err)
	}
	changed, err := s.render(path, unit, description{s, s.arguments(), mistakeCode}, template.FuncMap{"quote": quote, "argument": argument})
	if err != nil {
		return "", err
	}
	start := "start"
	if changed {
		start = "restart"
	}
	for _, step := range [][]string{{"daemon-reload"}, {"enable", s.Name}, {start, s.Name}} {
		if _, err := s.systemctl(ctx, step...); err != nil {
			if !there { // a unit that nothing runs is not left behind
				return "", errors.Join(err, remove(path))
			}
			// What runs is what the old unit describes: with the new one, the next attempt would not restart it.
			return "", errors.Join(err, atomicfile.WriteReadable(path, before))
		}
	}
	return path, nil
}

// unreachable adds advice to an error if no systemd runs, or none for this user.
func unreachable(err error) error {
	switch {
	case err == nil:
		return nil
	case strings.Contains(err.Error(), "not been booted with systemd"):
		return fmt.Errorf("%w; start the program from what starts others here", err)
	case strings.Contains(err.Error(), "Failed to connect to bus"):
		return fmt.Errorf("%w; systemd runs no session of this user here: log in as the user itself, run loginctl enable-linger, or start "+
			"the program from what starts others here", err)
	}
	return err
}

// Uninstall stops the program and removes the service. A missing service is no error.
func (s Service) Uninstall(ctx context.Context) error {
	path, err := s.file()
	if err != nil {
		return err
	}
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if _, err := s.systemctl(ctx, "disable", "--now", s.Name); err != nil {
		return err
	}
	if err := remove(path); err != nil {
		return err
	}
	_, err = s.systemctl(ctx, "daemon-reload")
	return err
}

// inherits reports whether the user's services get a variable.
func (s Service) inherits(ctx context.Context, name string) bool {
	said, err := s.systemctl(ctx, "show-environment")
	return err != nil || strings.Contains("\n"+said, "\n"+name+"=")
}

// Status returns the service's state in a word: active, inactive, failed or not installed.
func (s Service) Status(ctx context.Context) (string, error) {
	path, err := s.file()
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return "not installed", nil
	}
	said, err := s.systemctl(ctx, "is-active", s.Name)
	if word := strings.TrimSpace(said); word != "" {
		return word, nil // systemctl exits with an error for a unit that is not active
	}
	return "", err
}

// logs returns the command that shows what the program has logged and, with follow, what it logs from now on.
func (s Service) logs(ctx context.Context, follow bool) *exec.Cmd {
	args, unit := []string{"--output", "cat", "--lines", "200"}, s.Name+".service"
	of := "UNIT=" // matches systemd's own messages about the unit
	if s.Directory == "" {
		args, of = append(args, "--user"), "USER_UNIT="
	}
	if follow {
		args = append(args, "--follow")
	}
	args = append(args, of+unit, "+", "_SYSTEMD_"+of+unit, "+", "SYSLOG_IDENTIFIER="+s.Name, "_UID="+strconv.Itoa(os.Geteuid()))
	return exec.CommandContext(ctx, "journalctl", args...)
}
