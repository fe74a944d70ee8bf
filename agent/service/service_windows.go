package service

import (
	"context"
	"encoding/xml"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/template"

	"golang.org/x/sys/windows"
)

// task is a scheduled task that begins when the user logs on, in that session
// (https://learn.microsoft.com/windows/win32/taskschd/task-scheduler-schema).
const task = `<?xml version="1.0"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo><Description>touchstone, version {{.Version}}, {{.Mode}}</Description></RegistrationInfo>
  <Triggers><LogonTrigger><Enabled>true</Enabled><UserId>{{escape .User}}</UserId></LogonTrigger></Triggers>
  <Principals><Principal id="Author"><UserId>{{escape .User}}</UserId><LogonType>InteractiveToken</LogonType><RunLevel>LeastPrivilege</RunLevel></Principal></Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <RestartOnFailure><Interval>PT1M</Interval><Count>255</Count></RestartOnFailure>
    <Hidden>true</Hidden>
  </Settings>
  <Actions Context="Author"><Exec><Command>cmd.exe</Command><Arguments>{{escape .Line}}</Arguments></Exec></Actions>
</Task>
`

// description is what the template is filled with.
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
	d = description{Service: s, User: os.Getenv("USERDOMAIN") + `\` + os.Getenv("USERNAME"), log: filepath.Join(dir, s.name()+".log")}
	run := windows.ComposeCommandLine([]string{s.Program, "run", "--mode", s.Mode, "--config", s.Config, "--log-format", "json"})
	// Tasks have no standard error of their own; a shell gives them one.
	d.Line = fmt.Sprintf(`/d /s /c "%s 2>> "%s""`, run, d.log)
	return d, filepath.Join(dir, s.name()+".xml"), nil
}

// configured is the configuration as the task's description names it.
func (s Service) configured() string {
	config, _ := escape(windows.EscapeArg(s.Config)) // writing to memory does not fail
	return "--config " + config + " "
}

// file is where the task's description is kept.
func (s Service) file() (string, error) {
	_, path, err := s.describe()
	return path, err
}

func escape(value string) (string, error) {
	var out strings.Builder
	err := xml.EscapeText(&out, []byte(value))
	return out.String(), err
}

// Install has the system start the agent now and with each session of this user. Done again it takes
// up a new program or configuration. It returns the file that describes the service.
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
	if _, err := manage(ctx, "schtasks", "/Create", "/F", "/TN", s.name(), "/XML", path); err != nil {
		return "", err
	}
	if changed {
		_, _ = manage(ctx, "schtasks", "/End", "/TN", s.name()) // it may not run
	}
	_, err = manage(ctx, "schtasks", "/Run", "/TN", s.name())
	return path, err
}

// Uninstall stops the agent and removes the service; that there is none is no error.
func (s Service) Uninstall(ctx context.Context) error {
	_, path, err := s.describe()
	if err != nil {
		return err
	}
	if status, err := s.Status(ctx); err != nil || status == "not installed" {
		return err
	}
	_, _ = manage(ctx, "schtasks", "/End", "/TN", s.name()) // it may not run
	if _, err := manage(ctx, "schtasks", "/Delete", "/F", "/TN", s.name()); err != nil {
		return err
	}
	return remove(path)
}

// Status tells in a word whether it runs: active, inactive or not installed.
func (s Service) Status(ctx context.Context) (string, error) {
	said, err := manage(ctx, "schtasks", "/Query", "/TN", s.name(), "/FO", "CSV", "/NH")
	switch {
	case err != nil:
		return "not installed", nil
	case strings.Contains(said, "Running"):
		return "active", nil
	}
	return "inactive", nil
}

// Logs is the command that shows what the agent has logged, and with follow what it goes on to log.
func (s Service) Logs(ctx context.Context, follow bool) *exec.Cmd {
	d, _, _ := s.describe() // without a directory Get-Content says so
	show := "Get-Content -Tail 200 -LiteralPath '" + strings.ReplaceAll(d.log, "'", "''") + "'"
	if follow {
		show += " -Wait"
	}
	return exec.CommandContext(ctx, "powershell", "-NoProfile", "-Command", show)
}
