// Package session has what the sessions of all model CLIs have in common: the program and its probe, the home
// and environment of a session, its remaining time, and the transcript of a turn. It stores the homes, each
// until its session is closed.
package session

import (
	"cmp"
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
	"touchstone/worktree/erase"
	"touchstone/worktree/lazyregexp"
)

// Program is a CLI on this machine. Its zero value runs the CLI from PATH, with the login in this process's
// environment.
type Program struct {
	// Command is the program and its leading arguments; empty means the CLI's name.
	Command []string
	// Environ is the source of a session's environment variables, as "name=value"; nil means this process's
	// environment.
	Environ []string
	// TempDir is the parent directory of the sessions' homes; empty means the system's choice.
	TempDir string
	// Direct makes sessions send requests to their provider directly, with its key, and not through a
	// gateway.
	Direct bool
	// Confine runs sessions in a sandbox, if the platform has one and the CLI has none of its own.
	Confine bool
	// Bounds are the limits for a session and its descendants.
	Bounds process.Bounds
	// Closed makes an author's sessions connect to their gateway only. If that cannot be enforced, there are
	// no sessions.
	Closed bool
	// Private are files and directories that a confined session cannot read, in addition to those in which
	// programs keep logins, except for its own directories inside them.
	Private []string
	// Variables are additional variables that a session gets, for a CLI whose own variables are not known.
	Variables []string
	// Prices are the prices of models. For models without a price here, the Kind's prices count.
	Prices engine.Prices
}

// Kind is what one must know about a CLI to run it.
type Kind struct {
	// Name is the name of the engine and of the program.
	Name string
	// Package is its package on npm; empty if it has none.
	Package string
	// Least is the first version that can be used: the one that the tests were first run with.
	Least string
	// Setting is the setting that names the program; empty means engine.command, which is only for the engine that
	// engine.name chooses.
	Setting string
	// Refuses are phrases that the CLI prints when it does not know a flag or a setting, before it does
	// anything.
	Refuses []string
	// TellsRetries says that the CLI reports each wait before it repeats a refused request.
	TellsRetries bool
	// MaxPrompt is the longest prompt that the CLI accepts, in characters; zero if it is not known.
	MaxPrompt int
	// Login says how the CLI is given a login.
	Login string
	// Variables are those that a session gets in addition to the common ones. Names ending in * are prefixes.
	Variables []string
	// Confines says that the CLI runs commands in a sandbox of its own, which does not work inside another
	// one.
	Confines bool
	// Shell is the variable that names the shell with which the CLI starts commands; empty if there is none.
	// Such commands are confined once more, and see less than the CLI itself.
	Shell string
	// Withheld are the variables that such commands do not get.
	Withheld []string
	// Shared are the directories of the home, besides its tmp, that such commands share with the CLI.
	Shared []string
	// Prices are the prices of its models if the configuration has none, looked up on the day Priced; nil if
	// not known.
	Prices engine.Prices
	Priced string
}

// prices are the prices of the program, and the kind's for all models that those do not cover.
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

// Lookup returns the last value of a variable, as the system does.
func (p Program) Lookup(name string) string { return value(p.source(), name) }

// value is the last value of a variable among "name=value" entries.
func value(source []string, name string) string {
	for _, entry := range slices.Backward(source) {
		if key, value, ok := strings.Cut(entry, "="); ok && matches(key, name) {
			return value
		}
	}
	return ""
}

// UserHome is the home directory of this user; empty if it is not known.
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

// Probe asks the CLI for its version. The error, an *engine.Error, says what to install.
func (p Program) Probe(ctx context.Context, kind Kind) (engine.Version, error) {
	args := p.Args(kind, "--version")
	path, err := process.LookPath(args[0])
	if err != nil {
		return engine.Version{}, kind.missing(err)
	}
	home, err := NewHome(p.TempDir)
	if err != nil {
		return engine.Version{}, engine.Classified(err)
	}
	// An error here does not change what is known about the version.
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
		if failure, ok := errors.AsType[*engine.Error](err); ok && failure.Late() {
			return engine.Version{}, engine.Errorf(engine.Missing, "%s does not print its version within %s: it is not the %s CLI, its "+
				"installation is broken, or this machine is very busy; %s", path, probeTimeout, kind.Name, kind.hint())
		}
		return engine.Version{}, kind.missing(err)
	}
	number := versionNumber.Find(printed)
	if number == nil {
		return engine.Version{}, engine.Errorf(engine.Missing,
			"%s does not print its version (%s): it is not the %s CLI, or its installation is broken; %s",
			path, report.Exit, kind.Name, kind.hint())
	}
	version := engine.Version{Engine: kind.Name, Path: path, Number: string(number), Priced: kind.Priced}
	if older(version.Number, kind.Least) {
		return version, engine.Errorf(engine.Missing, "%s %s is too old, %s is needed; update it with \"npm install -g %s@latest\"", kind.Name,
			version.Number, kind.Least, kind.Package)
	}
	if p.Direct {
		version.Direct = "engine.gateway is off, so every session has the key"
	}
	return version, nil
}

// older compares the three numbers of versions.
func older(version, least string) bool {
	var have, need [3]int
	// Anything after the three numbers is ignored. Without a least version, none is too old.
	_, _ = fmt.Sscanf(version, "%d.%d.%d", &have[0], &have[1], &have[2])
	_, _ = fmt.Sscanf(least, "%d.%d.%d", &need[0], &need[1], &need[2])
	return slices.Compare(have[:], need[:]) < 0
}

func (k Kind) hint() string {
	path := cmp.Or(k.Setting, "engine.command, which is for the engine in engine.name")
	if k.Package == "" {
		return "install it, or set its path in " + path
	}
	return fmt.Sprintf(`install it with "npm install -g %s", or set its path in %s`, k.Package, path)
}

// missing adds the remedy to the error about a missing CLI.
func (k Kind) missing(err error) error {
	if failure, ok := errors.AsType[*engine.Error](err); ok && failure.Class == engine.Missing {
		return &engine.Error{
			Class: engine.Missing, Err: failure.Err,
			Message: strings.TrimSuffix(failure.Message, ".") + "; " + k.hint(),
		}
	}
	return err
}

// Home is the directory that a session uses as its home directory.
type Home struct{ Dir string }

// NewHome makes a home below a directory; empty means the system's temporary directory.
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

// Path is a path in the home.
func (h Home) Path(parts ...string) string {
	return filepath.Join(append([]string{h.Dir}, parts...)...)
}

func (h Home) temp() string { return h.Path("tmp") }

// Write writes a file in the home, at a slash-separated path.
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

// Remove removes the home and everything in it.
func (h Home) Remove() error {
	if err := erase.All(h.Dir); err != nil {
		return fmt.Errorf("remove the session's home: %w", err)
	}
	return nil
}
