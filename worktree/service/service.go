// Package service owns a program that the operating system runs: started with its user's session, or
// with the machine, and again when it fails. It is a systemd unit on Linux, a launchd agent on macOS and
// a scheduled task on Windows, and stores the file that describes it where the platform keeps them.
//
// A program that ends with MistakeCode is not started again: no other try mends a mistake in the settings.
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
)

// MistakeCode is the exit code of a program whose command line or configuration is wrong.
const MistakeCode = 2

// Service is one program under the system's care.
type Service struct {
	// Name is what the service is called, such as touchstone-author. There is at most one of each name.
	Name string
	// Program is the absolute path of this program.
	Program string
	// Arguments are what it is started with.
	Arguments []string
	// Path is the PATH on which it finds other programs. Services start with a bare one.
	Path string
	// Version is this program's, noted in the description: one that an older program wrote is taken up
	// again, and what it runs with it.
	Version string
	// Directory has systemd run the program with the machine, as root, and write in this directory
	// alone; empty is in this user's session.
	Directory string
}

// Here is the service of this very program, of a version, with this user's PATH.
func Here(name, version string, arguments ...string) (Service, error) {
	program, err := os.Executable()
	if err == nil {
		// What a package manager links to stays when it upgrades; a build's temporary file does not.
		program, err = filepath.Abs(program)
	}
	if err != nil {
		return Service{}, fmt.Errorf("find this program: %w", err)
	}
	return Service{Name: name, Program: program, Arguments: arguments, Path: os.Getenv("PATH"), Version: version}, nil
}

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
		return "", fmt.Errorf("there is no %s on this machine, so it cannot run services this way; start the program from what starts "+
			"others here", name)
	case err != nil:
		return printed.String(), fmt.Errorf("%s %s: %w: %.500s", name, strings.Join(args, " "), err, bytes.TrimSpace(failed.Bytes()))
	}
	return printed.String(), nil
}

// render writes the file that describes the service, if it says anything else than what is there.
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

// Outdated reports whether the service is installed with these arguments and another version of this
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
	return bytes.Contains(text, []byte(s.arguments())) && !bytes.Contains(text, []byte("version "+s.Version+",")), err
}

// Lacking are those of these variables of the environment that are set here and that the service does not get, in
// the user's session.
func (s Service) Lacking(ctx context.Context, names ...string) []string {
	return slices.DeleteFunc(names, func(name string) bool { return os.Getenv(name) == "" || s.inherits(ctx, name) })
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
	values := map[string]string{"program's path": s.Program, "command line": strings.Join(s.Arguments, " "), "PATH": s.Path}
	for what, value := range values {
		if strings.ContainsAny(value, "\n\r\x00") {
			return fmt.Errorf("the %s has a line break in it, which no service can be given", what)
		}
	}
	return nil
}

// Show writes what the program has logged, and with follow what it goes on to log, until ctx ends.
func (s Service) Show(ctx context.Context, follow bool, out io.Writer) error {
	show := s.logs(ctx, follow)
	show.Stdout, show.Stderr = out, os.Stderr
	err := show.Run()
	if ctx.Err() != nil {
		return nil // it was told to stop
	}
	return err
}
