// Package session holds what the sessions of all model CLIs have in common: the
// program and how it is probed, the home and environment that a session gets, the
// time it has left, and the transcript of a turn. It stores the homes, each until
// its session is closed.
package session

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"touchstone/agent/engine"
	"touchstone/agent/engine/process"
	"touchstone/worktree/lazyregexp"
)

// Program is a CLI on this machine. Its zero value runs the CLI from PATH with
// what this process's environment knows of a login.
type Program struct {
	// Command is the program and its leading arguments; empty is the CLI's name.
	Command []string
	// Environ is where the variables that a session may have are taken from,
	// as "name=value"; nil is this process's environment.
	Environ []string
	// TempDir is where the sessions' homes are made; empty is the system's choice.
	TempDir string
	// Direct has sessions ask their provider themselves, with its key, and not through
	// a gateway.
	Direct bool
	// Confine has sessions run in a sandbox, where the platform has one and the CLI has
	// none of its own.
	Confine bool
	// Bounds are what a session and all that it starts may use.
	Bounds process.Bounds
	// Closed has an author's sessions connect to their gateway alone. Where that cannot be held,
	// there are none.
	Closed bool
	// Private are files and directories that such a session cannot read, beside those
	// in which programs keep logins, but for its own among them.
	Private []string
	// Variables are those that reach a session besides, for a CLI whose own are not known.
	Variables []string
	// Prices are what the models cost; where they name none, those of the Kind count.
	Prices engine.Prices
}

// Kind is what has to be known of a CLI to run it.
type Kind struct {
	// Name is the engine's, and the program's.
	Name string
	// Package is its package on npm; empty if it is not there.
	Package string
	// Least is the first version that can be used: that which the tests were first run with.
	Least string
	// Refuses are words that the CLI says when it does not know a flag or a setting, before it
	// does anything.
	Refuses []string
	// Login says how the CLI is given a login.
	Login string
	// Variables are those that reach a session besides the common ones; names
	// ending in * are prefixes.
	Variables []string
	// Confines says that the CLI runs commands in a sandbox of its own, for which there
	// is no room in another one.
	Confines bool
	// Shell is the variable that names the shell by which the CLI starts commands; empty if
	// it has none. They are then confined once more, and see less than the CLI itself.
	Shell string
	// Withheld are the variables that its commands do not get then.
	Withheld []string
	// Shared are the directories of the home, beside its tmp, that commands share with the CLI then.
	Shared []string
	// Prices are what its models cost where the configuration does not say, looked up on the
	// day Priced; nil if that is not known.
	Prices engine.Prices
	Priced string
}

// prices are those of the program, and of the kind those that they do not cover.
func (p Program) prices(kind Kind) engine.Prices {
	all := maps.Clone(kind.Prices)
	maps.DeleteFunc(all, func(name string, _ engine.Price) bool { return p.Prices.Know(name) })
	if all == nil {
		return p.Prices
	}
	maps.Copy(all, p.Prices)
	return all
}

// Args is the command line of the CLI with these arguments.
func (p Program) Args(kind Kind, args ...string) []string {
	command := p.Command
	if len(command) == 0 {
		command = []string{kind.Name}
	}
	return append(slices.Clone(command), args...)
}

// Lookup gives the last value of a variable, as the system does.
func (p Program) Lookup(name string) string { return value(p.source(), name) }

// value is the last that a variable has among "name=value".
func value(source []string, name string) string {
	for _, entry := range slices.Backward(source) {
		if key, value, ok := strings.Cut(entry, "="); ok && matches(key, name) {
			return value
		}
	}
	return ""
}

// UserHome is the home of this user; empty if nothing says where that is.
func (p Program) UserHome() string {
	if runtime.GOOS == "windows" {
		return p.Lookup("USERPROFILE")
	}
	return p.Lookup("HOME")
}

func (p Program) source() []string {
	if p.Environ == nil {
		return os.Environ()
	}
	return p.Environ
}

const probeTimeout = 30 * time.Second

var versionNumber = lazyregexp.New(`\b\d+\.\d+\.\d+[0-9A-Za-z.+-]*`)

// Probe asks the CLI for its version. The error, an *engine.Error, says what to
// install.
func (p Program) Probe(ctx context.Context, kind Kind) (engine.Version, error) {
	args := p.Args(kind, "--version")
	path, err := process.LookPath(args[0])
	if err != nil {
		return engine.Version{}, kind.missing(err)
	}
	home, err := NewHome(p.TempDir)
	if err != nil {
		return engine.Version{}, Unstarted(err)
	}
	// What the version is, is known all the same.
	defer func() { _ = home.Remove() }()
	var printed []byte
	report, err := process.Command{
		Args: args, Dir: home.Dir, Env: p.Environment(kind, home, home.temp()),
		Timeout: probeTimeout, IdleTimeout: probeTimeout,
		Line: func(line []byte) error {
			if printed == nil {
				printed = slices.Clone(line)
			}
			return nil
		},
	}.Run(ctx)
	if err != nil {
		return engine.Version{}, kind.silent(path, kind.missing(err))
	}
	number := versionNumber.Find(printed)
	if number == nil {
		return engine.Version{}, engine.Errorf(engine.Missing,
			"%s does not say its version (%s): it is not the %s CLI, or its installation is broken; %s",
			path, report.Exit, kind.Name, kind.hint())
	}
	version := engine.Version{Engine: kind.Name, Path: path, Number: string(number), Priced: kind.Priced}
	if older(version.Number, kind.Least) {
		return version, engine.Errorf(engine.Missing, "%s %s is too old, %s is needed; update it with \"npm install -g %s@latest\"", kind.Name,
			version.Number, kind.Least, kind.Package)
	}
	if p.Direct {
		version.Direct = "engine.gateway is off, so that the key is in every session"
	}
	return version, nil
}

// older compares the three numbers of versions.
func older(version, least string) bool {
	var have, need [3]int
	// What a version has beyond them does not count; without a need, none is too old.
	_, _ = fmt.Sscanf(version, "%d.%d.%d", &have[0], &have[1], &have[2])
	_, _ = fmt.Sscanf(least, "%d.%d.%d", &need[0], &need[1], &need[2])
	return slices.Compare(have[:], need[:]) < 0
}

func (k Kind) hint() string {
	if k.Package == "" {
		return "install it, or name its path in the configuration"
	}
	return fmt.Sprintf(`install it with "npm install -g %s", or name its path in the configuration`, k.Package)
}

// missing adds the remedy to a CLI that is not there.
func (k Kind) missing(err error) error {
	var failure *engine.Error
	if errors.As(err, &failure) && failure.Class == engine.Missing {
		return &engine.Error{
			Class: engine.Missing, Err: failure.Err,
			Message: strings.TrimSuffix(failure.Message, ".") + "; " + k.hint(),
		}
	}
	return err
}

// silent adds the remedy to a program that does not end by itself when it is asked for its
// version.
func (k Kind) silent(path string, err error) error {
	var failure *engine.Error
	if errors.As(err, &failure) && (failure.Class == engine.Idle || failure.Class == engine.Timeout) {
		return engine.Errorf(engine.Missing, "%s does not say its version within %s: it is not the %s CLI, its installation is broken, or "+
			"this machine is very busy; %s",
			path, probeTimeout, k.Name, k.hint())
	}
	return err
}

// Unstarted gives a class to what kept a turn from beginning.
func Unstarted(err error) error {
	var failure *engine.Error
	if errors.As(err, &failure) {
		return err
	}
	return &engine.Error{Class: engine.Invalid, Message: err.Error(), Err: err}
}

// Home is a directory that a session takes for its user's home.
type Home struct{ Dir string }

// NewHome makes a home below a directory; empty is the system's for such things.
func NewHome(parent string) (Home, error) {
	dir, err := os.MkdirTemp(parent, "touchstone-")
	if err != nil {
		return Home{}, fmt.Errorf("make a home for the session: %w", err)
	}
	h := Home{Dir: dir}
	if err := os.Mkdir(h.temp(), 0o700); err != nil {
		return Home{}, errors.Join(fmt.Errorf("make a home for the session: %w", err), h.Remove())
	}
	return h, nil
}

// Path is a place in the home.
func (h Home) Path(parts ...string) string {
	return filepath.Join(append([]string{h.Dir}, parts...)...)
}

func (h Home) temp() string { return h.Path("tmp") }

// Write puts a file into the home, at a slash-separated path.
func (h Home) Write(name string, content []byte) error {
	path := h.Path(filepath.FromSlash(name))
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(path, content, 0o600)
	}
	if err != nil {
		return fmt.Errorf("write the session's configuration: %w", err)
	}
	return nil
}

// Remove removes the home and all in it.
func (h Home) Remove() error {
	if err := os.RemoveAll(h.Dir); err != nil {
		return fmt.Errorf("remove the session's home: %w", err)
	}
	return nil
}
