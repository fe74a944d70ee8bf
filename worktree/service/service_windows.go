package service

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/template"

	"golang.org/x/sys/windows"
)

// description holds the values for the template.
type description struct {
	Service
	User, Line, log string
}

func (s Service) describe() (d description, path string, err error) {
	dir, err := os.UserCacheDir() // %LocalAppData%
	if err != nil {
		return description{}, "", fmt.Errorf("find the directory of services: %w", err)
	}
	dir = filepath.Join(dir, "touchstone")
	d = description{Service: s, User: os.Getenv("USERDOMAIN") + `\` + os.Getenv("USERNAME"), log: filepath.Join(dir, s.Name+".log")}
	d.Line = line(windows.ComposeCommandLine(append([]string{s.Program}, s.Arguments...)), d.log)
	return d, filepath.Join(dir, s.Name+".xml"), nil
}

// arguments formats the program's arguments as in the task's description.
func (s Service) arguments() string {
	words, _ := escape(windows.ComposeCommandLine(append([]string{s.Program}, s.Arguments...))[len(windows.EscapeArg(s.Program)):])
	return words // writing to memory does not fail
}

// file returns the path of the task's description.
func (s Service) file() (string, error) {
	_, path, err := s.describe()
	return path, err
}

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
	changed, err := s.render(path, task, d, template.FuncMap{"escape": escape})
	if err != nil {
		return "", err
	}
	if _, err := manage(ctx, "schtasks", "/Create", "/F", "/TN", s.Name, "/XML", path); err != nil {
		return "", err
	}
	if changed {
		_, _ = manage(ctx, "schtasks", "/End", "/TN", s.Name) // the task may not be running
	}
	_, err = manage(ctx, "schtasks", "/Run", "/TN", s.Name)
	return path, err
}

// Uninstall stops the program and removes the service. A missing service is no error.
func (s Service) Uninstall(ctx context.Context) error {
	_, path, err := s.describe()
	if err != nil {
		return err
	}
	if status, err := s.Status(ctx); err != nil || status == "not installed" {
		return err
	}
	_, _ = manage(ctx, "schtasks", "/End", "/TN", s.Name) // the task may not be running
	if _, err := manage(ctx, "schtasks", "/Delete", "/F", "/TN", s.Name); err != nil {
		return err
	}
	return remove(path)
}

// inherits reports whether the user's tasks get a variable.
func (s Service) inherits(ctx context.Context, name string) bool {
	_, err := manage(ctx, "reg", "query", `HKCU\Environment`, "/v", name)
	return err == nil
}

// Status returns the service's state in a word: active, inactive or not installed.
func (s Service) Status(ctx context.Context) (string, error) {
	said, err := manage(ctx, "schtasks", "/Query", "/TN", s.Name, "/FO", "CSV", "/NH")
	switch {
	case err != nil:
		return "not installed", nil
	case strings.Contains(said, "Running"):
		return "active", nil
	}
	return "inactive", nil
}

// logs returns the command that shows what the program has logged and, with follow, what it logs from now on.
func (s Service) logs(ctx context.Context, follow bool) *exec.Cmd {
	d, _, _ := s.describe() // without a directory, Get-Content reports the error
	show := "Get-Content -Tail 200 -LiteralPath '" + strings.ReplaceAll(d.log, "'", "''") + "'"
	if follow {
		show += " -Wait"
	}
	return exec.CommandContext(ctx, "powershell", "-NoProfile", "-Command", show)
}
