// Package service manages a program that the operating system runs: started with the user's session, or with
// the machine, and restarted when it fails. The program is a systemd unit on Linux, a launchd agent on macOS
// and a scheduled task on Windows. The package stores the file that describes the service where the platform
// keeps such files.
//
// A program that ends with the exit code 2 is not restarted: another try does not fix a mistake in the settings.
package service

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
	"time"

	"touchstone/worktree/atomicfile"
)

// mistakeCode is the exit code of a program whose command line or configuration is wrong.
const mistakeCode = 2

// Service is one program that the operating system runs.
type Service struct {
	// Name is the name of the service, such as touchstone-author. It is unique.
	Name string
	// Program is the absolute path of this program.
	Program string
	// Arguments are the program's arguments.
	Arguments []string
	// Path is the PATH on which the program finds other programs. Services start with a minimal PATH.
	Path string
	// Version is the version of this program, recorded in the description. A description by an older program
	// is replaced, and the service then runs this program.
	Version string
	// Directory makes systemd start the program with the machine, as root, and allow it to write only to this
	// directory. If it is empty, the program runs in this user's session.
	Directory string
}

// Here returns a service that runs the current program, with this user's PATH.
func Here(name, version string, arguments ...string) (Service, error) {
	program, err := os.Executable()
	if err == nil {
		// A package manager's link survives an upgrade; the temporary file of a build does not.
		program, err = filepath.Abs(program)
	}
	if err != nil {
		return Service{}, fmt.Errorf("find this program: %w", err)
	}
	return Service{Name: name, Program: program, Arguments: arguments, Path: os.Getenv("PATH"), Version: version}, nil
}

// commandTimeout bounds one command of the system's service manager.
const commandTimeout = 30 * time.Second

// manage runs a command of the system's service manager and returns its output.
func manage(ctx context.Context, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	var printed, failed bytes.Buffer
	cmd.Stdout, cmd.Stderr = &printed, &failed
	err := cmd.Run()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return "", fmt.Errorf("there is no %s on this machine, so it cannot run services this way; start the program from what starts "+
			"others here", name)
	case err != nil:
		return printed.String(), fmt.Errorf("%s %s: %w: %.500s", name, strings.Join(args, " "), err, bytes.TrimSpace(failed.Bytes()))
	}
	return printed.String(), nil
}

// render writes the file that describes the service, if its content changes.
func (s Service) render(path, text string, values any, functions template.FuncMap) (changed bool, err error) {
	var out bytes.Buffer
	if err := template.Must(template.New(s.Name).Funcs(functions).Parse(text)).Execute(&out, values); err != nil {
		return false, fmt.Errorf("write the service's description: %w", err)
	}
	if before, err := os.ReadFile(path); err == nil && bytes.Equal(before, out.Bytes()) {
		return false, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return false, fmt.Errorf("make the directory of services: %w", err)
	}
	return true, atomicfile.WriteReadable(path, out.Bytes())
}

// Installed reports whether the service's description exists where the platform keeps it.
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

// Outdated reports whether the service is installed with these arguments and was described by another version
// of this program, so that installing it again switches it to this version.
func (s Service) Outdated() (bool, error) {
	path, err := s.file()
	if err != nil {
		return false, err
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return bytes.Contains(text, []byte(s.arguments())) && !bytes.Contains(text, []byte("version "+s.Version+",")), err
}

// Lacking returns those of the named environment variables that are set here but that the service does not
// get, in the user's session.
func (s Service) Lacking(ctx context.Context, names ...string) []string {
	return slices.DeleteFunc(names, func(name string) bool { return os.Getenv(name) == "" || s.inherits(ctx, name) })
}

// remove deletes the file that describes the service. A missing file is no error.
func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove the service's description: %w", err)
	}
	return nil
}

// check refuses values that no service description can contain.
func (s Service) check() error {
	values := map[string]string{"program's path": s.Program, "command line": strings.Join(s.Arguments, " "), "PATH": s.Path}
	for what, value := range values {
		if strings.ContainsAny(value, "\n\r\x00") {
			return fmt.Errorf("the %s contains a line break, which no service's settings can contain", what)
		}
	}
	return nil
}

// Show writes what the program has logged and, with follow, what it logs until ctx ends.
func (s Service) Show(ctx context.Context, follow bool, out io.Writer) error {
	show := s.logs(ctx, follow)
	show.Stdout, show.Stderr = out, os.Stderr
	err := show.Run()
	if ctx.Err() != nil {
		return nil // Show was told to stop
	}
	return err
}
