// Package clone reads a clone of the user's, for the commands that look at what is in it: without running
// what its configuration or its files ask for, and without writing to it. What it needs of its own lies in
// a temporary directory that its caller gives back.
package clone

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Clone is a clone of the user's.
type Clone struct {
	Top      string   // its root
	settings []string // -c options
	env      []string // on top of the allow-list
}

// overrides outrank the clone's own configuration.
var overrides = []string{
	"core.hooksPath=" + os.DevNull, "core.fsmonitor=false", "core.sshCommand=false", "credential.helper=",
	"core.attributesFile=" + os.DevNull, "core.untrackedCache=false", "submodule.recurse=false",
	"core.safecrlf=false", "core.quotePath=true", "gc.auto=0", "maintenance.auto=false",
}

// inherited is what git may inherit. HOME is missing on purpose, and so is
// every GIT_ variable that a hook would set.
var inherited = []string{"PATH", "TMPDIR", "TEMP", "TMP", "SystemRoot", "SystemDrive", "windir", "ComSpec", "PATHEXT"}

// Open opens the clone around the current directory.
func Open(ctx context.Context) (*Clone, error) {
	var c Clone
	for _, s := range overrides {
		c.settings = append(c.settings, "-c", s)
	}
	var err error
	if c.Top, err = c.line(ctx, "rev-parse", "--show-toplevel"); err != nil {
		return nil, fmt.Errorf("the current directory is in no clone that can be read; run this inside one: %w", err)
	}
	// What this user ignores everywhere may be secret, and line ends may be written in the
	// user's way; neither is told to git below, which reads no configuration of the user's.
	if file := c.setting(ctx, "--type=path", "core.excludesFile"); file != "" {
		c.settings = append(c.settings, "-c", "core.excludesFile="+file)
	} else if home, err := os.UserHomeDir(); err == nil { // https://git-scm.com/docs/gitignore
		c.settings = append(c.settings, "-c", "core.excludesFile="+
			filepath.Join(cmp.Or(os.Getenv("XDG_CONFIG_HOME"), filepath.Join(home, ".config")), "git", "ignore"))
	}
	if ends := c.setting(ctx, "core.autocrlf"); ends != "" {
		c.settings = append(c.settings, "-c", "core.autocrlf="+ends)
	}
	return &c, c.disarm(ctx)
}

// setting is a setting as the user's own git has it, empty where nothing is set. Asking for one
// runs nothing.
func (c *Clone) setting(ctx context.Context, query ...string) string {
	cmd := exec.CommandContext(ctx, "git", append([]string{"config", "--get"}, query...)...)
	cmd.Dir = c.Top
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return strings.TrimRight(string(out), "\r\n")
}

// commit finds the commit that base names, which has to have history in common with HEAD.
func (c *Clone) commit(ctx context.Context, base string) (string, error) {
	commit, err := c.line(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", base+"^{commit}")
	if err != nil {
		return "", fmt.Errorf("this clone has no commit %q; fetch it, or name another with --base", base)
	}
	if _, err := c.line(ctx, "merge-base", commit, "HEAD"); err != nil {
		return "", fmt.Errorf("HEAD and %q have no common history here; if the clone is shallow, fetch more with `git fetch --unshallow`: %w",
			base, err)
	}
	return commit, nil
}

// disarm switches the clone's filters off: they are commands, which reading a
// file of the working tree would run.
func (c *Clone) disarm(ctx context.Context) error {
	out, err := c.output(ctx, "config", "-z", "--name-only", "--get-regexp", `^filter\.`)
	var failed *exec.ExitError
	if errors.As(err, &failed) && failed.ExitCode() == 1 {
		return nil // there are none
	}
	if err != nil {
		return fmt.Errorf("read the clone's filters: %w", err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if strings.Contains(name, "=") {
			return fmt.Errorf("the clone configures a filter that cannot be switched off: %q; rename it", name)
		}
		value := ""
		if strings.HasSuffix(name, ".required") {
			value = "false"
		}
		c.settings = append(c.settings, "-c", name+"="+value)
	}
	return nil
}

// snapshot writes the working tree as a tree, or what is staged of it, to the mirror, with an
// index of its own in dir, and returns its name.
func (c *Clone) snapshot(ctx context.Context, dir string, staged bool) (string, error) {
	index, err := c.line(ctx, "rev-parse", "--path-format=absolute", "--git-path", "index")
	if err != nil {
		return "", err
	}
	// In a hook of `git commit -a` what is staged is in another index
	// (https://git-scm.com/docs/githooks).
	if other := os.Getenv("GIT_INDEX_FILE"); staged && other != "" {
		if index = other; !filepath.IsAbs(other) {
			index = filepath.Join(c.Top, other)
		}
	}
	own := filepath.Join(dir, "index")
	if err := copyIndex(index, own); err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	c.env = append(c.env, "GIT_INDEX_FILE="+own)
	if !staged {
		if _, err := c.output(ctx, "add", "--all", "--", "."); err != nil {
			return "", err
		}
	}
	return c.line(ctx, "write-tree")
}

// copyIndex copies an index with its time: git takes files that changed after it for
// changed even where their size and time say otherwise
// (https://git-scm.com/docs/racy-git).
func copyIndex(from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.WriteFile(to, content, 0o600); err != nil {
		return err
	}
	return os.Chtimes(to, info.ModTime(), info.ModTime())
}

func (c *Clone) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", append(c.settings[:len(c.settings):len(c.settings)], args...)...)
	cmd.Dir = c.Top
	cmd.Env = append([]string{
		"LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_ATTR_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
		"GIT_NO_REPLACE_OBJECTS=1", "GIT_ALLOW_PROTOCOL=none", "GIT_OPTIONAL_LOCKS=0", "GIT_LITERAL_PATHSPECS=1",
	}, c.env...)
	for _, name := range inherited {
		if v, ok := os.LookupEnv(name); ok {
			cmd.Env = append(cmd.Env, name+"="+v)
		}
	}
	return cmd
}

func (c *Clone) output(ctx context.Context, args ...string) ([]byte, error) {
	cmd := c.command(ctx, args...)
	out, err := cmd.Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		first, _, _ := bytes.Cut(bytes.TrimSpace(failed.Stderr), []byte("\n"))
		return nil, fmt.Errorf("git %s: %s: %w", args[0], first, err)
	}
	return out, err
}

// line runs a git command that prints a single line.
func (c *Clone) line(ctx context.Context, args ...string) (string, error) {
	out, err := c.output(ctx, args...)
	return strings.TrimRight(string(out), "\r\n"), err
}
