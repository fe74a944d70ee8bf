package author

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"touchstone/agent/config"
	"touchstone/agent/engine"
	"touchstone/agent/engine/process"
	"touchstone/agent/engine/sandbox"
	"touchstone/agent/engine/session"
	"touchstone/worktree"
	"touchstone/worktree/erase"
	"touchstone/worktree/lazyregexp"
)

// maxCommandOutput bounds how much of the end of a command's output is kept, in bytes.
const maxCommandOutput = 16 << 10

// failure is a failed command of the repository.
type failure struct {
	kind   error // what the failure means for the fix
	what   string
	output string // the end of the output, at most 20 KiB
	// onBase is how the command fails on the base of the pull request, if that is known.
	onBase *failure
}

// Error says what failed, with the last line of its output.
func (f *failure) Error() string {
	last := f.output[strings.LastIndexByte(f.output, '\n')+1:]
	text := fmt.Sprintf("%v: %s (%.200s)", f.kind, f.what, last)
	if f.onBase != nil {
		text += "; " + ErrFailsOnBase.Error()
	}
	return text
}

// Unwrap is what the failure means for the fix.
func (f *failure) Unwrap() []error {
	if f.onBase != nil {
		return []error{f.kind, ErrFailsOnBase}
	}
	return []error{f.kind}
}

// inherited reports whether an error is a command that fails on the base with the same output, so that the
// work on the branch did not cause it. Numbers may differ, for instance in times and line numbers.
func inherited(err error) bool {
	f := (*failure)(nil)
	if !errors.As(err, &f) || f.onBase == nil || f.output == "" {
		return false
	}
	same := func(a, b string) bool { return number.ReplaceAllString(a, "0") == number.ReplaceAllString(b, "0") }
	return same(f.what, f.onBase.what) && same(f.output, f.onBase.output)
}

var number = lazyregexp.New(`\d+`)

// errNoProgram says that the program of a command is not installed.
var errNoProgram = errors.New("there is no such program")

// execute runs one command in the worktree, with an empty home directory of its own, until the command and
// all its descendants have ended. If the platform has a sandbox and the settings do not disable it, the
// command can only write to the directory, its home and the given caches. A command that fails returns a
// *failure of the given kind. Other errors, such as one that wraps errNoProgram, say nothing about the code.
func (a *Author) execute(ctx context.Context, kind error, dir, caches string, args []string, timeout time.Duration) error {
	home, err := os.MkdirTemp(a.TempDir, "command-")
	if err != nil {
		return fmt.Errorf("make a home for %s: %w", args[0], err)
	}
	defer erase.All(home) // if this fails, the leftovers do no harm
	env := append(session.Commands(os.Environ(), caches, home, home), "CI=true")
	confine, err := a.confined(dir, home, env)
	if err != nil {
		return fmt.Errorf("run %s: %w", args[0], err)
	}
	settings := a.Settings.Present()
	bounds := process.Bounds{Memory: settings.MaxMemory(), Processes: settings.MaxProcesses}
	var output tail
	report, err := process.Command{
		Args: args, Dir: dir, Env: env, Confine: confine, Bounds: bounds, Timeout: timeout, IdleTimeout: timeout,
		Line: func(line []byte) error { output.add(line); return nil },
	}.Run(ctx)
	f := &failure{kind: kind, output: strings.TrimSpace(output.text() + "\n" + report.Stderr)}
	command := strings.Join(args, " ")
	var stopped *engine.Error
	switch {
	case errors.As(err, &stopped) && (stopped.Class == engine.Timeout || stopped.Class == engine.Idle):
		f.what = fmt.Sprintf("%s did not finish within %s and was stopped", command, timeout)
		return f
	case ctx.Err() != nil:
		return fmt.Errorf("run %s: %w", command, err)
	// The class Missing of a session means a missing engine; for a command it means a missing program.
	case stopped != nil && stopped.Class == engine.Missing:
		return fmt.Errorf("run %s: %w: %s", command, errNoProgram, stopped.Message)
	case worktree.DiskFault(err):
		return fmt.Errorf("run %s: %w", command, err)
	case err != nil:
		return fmt.Errorf("run %s: %s", command, err)
	case report.Exit != "exit status 0":
		if err := noRoom(dir, f.output); err != nil {
			return fmt.Errorf("run %s: %w", command, err)
		}
		f.what = command + ": " + report.Exit
		return f
	}
	return nil
}

// noRoom is an error if a failed command had no room on the disk of a directory, which says nothing about the
// code. A command whose output says that the disk was full may have freed space since by deleting its files,
// so for it the bound is higher (1 GiB instead of 1 MiB). If there is that much room, the output is not
// believed.
func noRoom(dir, output string) error {
	if fullDisk.MatchString(output) {
		return worktree.NoRoom(dir, 1<<30)
	}
	return worktree.NoRoom(dir, 1<<20)
}

var fullDisk = lazyregexp.New(`(?i)no space left on device|disk quota exceeded`)

// confined are the sandbox rules for a command; nil means no sandbox. It is an error if the settings require
// a sandbox and there is none.
func (a *Author) confined(dir, home string, env []string) (*sandbox.Rules, error) {
	settings := a.Settings.Present()
	if settings.Sandbox == config.Off {
		return nil, nil
	}
	_, none := sandbox.Level()
	if err := settings.CheckSandbox(none); err != nil {
		return nil, engine.Errorf(engine.Invalid, "%v", err)
	}
	// Without a home directory there is nothing in it to hide.
	user, _ := os.UserHomeDir()
	rules := sandbox.Author([]string{dir}, home, env, user, a.Private)
	if rules.Alone = a.Alone; a.Alone {
		if err := sandbox.Network(); err != nil {
			return nil, engine.Errorf(engine.Invalid,
				"author.network is gateway, which cannot be enforced here: %v; set it to full, or run the agent on Linux 6.7 or newer", err)
		}
	}
	return &rules, nil
}

// tail keeps the end of the output.
type tail struct{ lines bytes.Buffer }

func (t *tail) add(line []byte) {
	t.lines.Write(line)
	t.lines.WriteByte('\n')
	t.lines.Next(max(0, t.lines.Len()-maxCommandOutput))
}

func (t *tail) text() string { return strings.ToValidUTF8(t.lines.String(), "\uFFFD") }
