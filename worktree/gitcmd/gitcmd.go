// Package gitcmd runs git. It uses its own settings and environment, so that git executes nothing that a
// checkout, a pull request or the user has configured. It bounds git's output, and ends git and everything
// that git started when its context ends. Git's messages become errors that name the remedy. The package owns
// the configuration of the mirrors in which it runs, and lock files that its children keep open.
package gitcmd

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	// maxOutput bounds what one git command may print into memory, in bytes.
	maxOutput = 64 << 20
	// maxStderr bounds how much of a command's stderr is kept, in bytes: half of it from each end.
	maxStderr = 16 << 10
	// killGrace is how long a cancelled git may take to remove its lock files.
	killGrace = 2 * time.Second
)

// settings apply to every git command. They are passed as -c options because those take precedence over every
// configuration file and, unlike GIT_CONFIG_COUNT, are inherited by the git that git itself starts inside a
// submodule.
var settings = []string{
	// Nothing from the checkout is executed.
	"core.hooksPath=" + os.DevNull, "core.fsmonitor=false", "core.sshCommand=false", "credential.helper=",
	"core.attributesFile=" + os.DevNull, "core.excludesFile=" + os.DevNull, "core.untrackedCache=false",
	"commit.gpgSign=false", "push.gpgSign=false", "merge.verifySignatures=false",
	"submodule.recurse=false", "fetch.recurseSubmodules=false", "push.recurseSubmodules=no",
	// A redirect could send the Authorization header to another host.
	"http.followRedirects=false", "http.lowSpeedLimit=1000", "http.lowSpeedTime=60",
	// Files are checked out as they were committed, by as many workers as there are cores.
	"core.autocrlf=false", "core.safecrlf=false", "core.symlinks=" + keepSymlinks, "checkout.workers=0",
	// A fetched pack appears whole or not at all, so a commit that is present is complete.
	"fetch.unpackLimit=1", "gc.auto=0", "maintenance.auto=false",
	"core.fsync=committed", "core.fsyncMethod=batch", "core.logAllRefUpdates=false",
	// Larger files are treated as binary: git holds two versions of a file in memory to compare them.
	"core.bigFileThreshold=32m", "core.quotePath=true",
	"merge.conflictStyle=diff3", "rerere.enabled=false",
	// A commit-graph file could claim other parents for the commits.
	"core.commitGraph=false",
}

// environment lists the variables that a git child may inherit. All others are dropped, HOME included, so
// that git reads neither .netrc nor a user's configuration.
var environment = []string{
	"PATH", "TMPDIR", "TEMP", "TMP", "TZ",
	"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH",
	"SystemRoot", "SystemDrive", "windir", "ComSpec", "PATHEXT",
}

// noFile is a path at which no file ever exists. Git treats an empty file as an empty list, which is not the
// same as no list.
const noFile = os.DevNull + "/none"

// isolation is in the environment of every git child: English messages, and no configuration of a user or
// system.
var isolation = []string{
	"LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_SYSTEM=" + os.DevNull, "GIT_CONFIG_GLOBAL=" + os.DevNull,
	"GIT_ATTR_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "GIT_EDITOR=:", "GIT_PAGER=cat",
	"GIT_LITERAL_PATHSPECS=1",
	// Every commit has the parents and the tree that it names.
	"GIT_NO_REPLACE_OBJECTS=1", "GIT_GRAFT_FILE=" + noFile,
}

// Repo is one git directory and how git is run in it.
type Repo struct {
	Git    string // the binary
	Mirror string // GIT_COMMON_DIR; this package owns its configuration
	Dir    string // GIT_DIR: the mirror, or a linked worktree's administrative directory
	Tree   string // GIT_WORK_TREE; "" in the mirror
	Lock   *Lock  // inherited by the children
	// Shallow is the file that lists the commits without parents; "" for none.
	Shallow string
	// Remote is where a partial mirror fetches missing content; nil if nothing is fetched.
	Remote *Remote
}

// Command is one git command. Only Args is required.
type Command struct {
	Args     []string
	Settings []string // -c options, in addition to those of every command
	Env      []string // in addition to what every command gets
	Remote   *Remote  // the remote that the command talks to, none by default
	Stdin    io.Reader
	Stdout   io.Writer
	// Said, if set, receives the first and the last 8 KiB of git's stderr, also on success.
	Said *[]byte
}

// Output runs a git command and returns its output; ErrTooLarge beyond 64 MiB.
func (r Repo) Output(ctx context.Context, args ...string) ([]byte, error) {
	return r.OutputOf(ctx, Command{Args: args})
}

// OutputOf is Output for a command that needs more than arguments.
func (r Repo) OutputOf(ctx context.Context, c Command) ([]byte, error) {
	out := &capped{max: maxOutput}
	c.Stdout = out
	err := r.Run(ctx, c)
	if out.over {
		return nil, fmt.Errorf("git %s printed more than %d MiB: %w", c.Args[0], maxOutput>>20, ErrTooLarge)
	}
	return out.buf.Bytes(), err
}

// Line runs a git command that prints a single line, such as a commit's SHA.
func (r Repo) Line(ctx context.Context, args ...string) (string, error) {
	out, err := r.Output(ctx, args...)
	return strings.TrimSpace(string(out)), err
}

// Run runs a git command to its end. If ctx ends first, Run asks the whole process group to stop, then kills
// it, and returns the context's error.
func (r Repo) Run(ctx context.Context, c Command) error {
	if err := r.restoreConfig(); err != nil {
		return err
	}
	settings := settings
	if r.Partial() {
		settings = append(slices.Clip(settings), r.promise()...)
		c.Remote = cmp.Or(c.Remote, r.Remote)
	}
	settings = slices.Concat(settings, c.Settings)
	var args []string
	for _, s := range settings {
		args = append(args, "-c", s)
	}
	cmd := exec.CommandContext(ctx, r.Git, append(args, c.Args...)...)
	cmd.Dir = r.Mirror
	if r.Tree != "" {
		cmd.Dir = r.Tree
	}
	cmd.Env = r.environ(c)
	cmd.Stdin, cmd.Stdout = c.Stdin, c.Stdout
	stderr := &ends{}
	cmd.Stderr = stderr
	cmd.WaitDelay = killGrace
	superviseGroup(cmd)
	if r.Lock != nil {
		inherit(cmd, r.Lock.file)
	}
	err := cmd.Run()
	if c.Said != nil {
		*c.Said = stderr.bytes()
	}
	if ctx.Err() != nil {
		killGroup(cmd)
		return fmt.Errorf("git %s: %w", c.Args[0], ctx.Err())
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		failed := newFailure(c, exit.ExitCode(), stderr.bytes())
		failed.full = NoRoom(r.Mirror, scarce)
		return failed
	}
	if _, gone := os.Lstat(cmd.Dir); err != nil && gone != nil {
		return fmt.Errorf("run git %s: the directory %s is gone; it is created again at the next attempt", c.Args[0], cmd.Dir)
	}
	if err != nil {
		return fmt.Errorf("run git %s: %w", c.Args[0], err)
	}
	return nil
}

func (r Repo) environ(c Command) []string {
	env := slices.Concat(isolation, inherited(), []string{
		"GIT_DIR=" + r.Dir, "GIT_COMMON_DIR=" + r.Mirror, "GIT_SHALLOW_FILE=" + cmp.Or(r.Shallow, noFile),
	})
	if r.Tree != "" {
		env = append(env, "GIT_WORK_TREE="+r.Tree)
	}
	if c.Remote == nil {
		return append(append(env, "GIT_ALLOW_PROTOCOL=none"), c.Env...)
	}
	scheme, _, _ := strings.Cut(c.Remote.URL, ":")
	env = append(env, "GIT_ALLOW_PROTOCOL="+scheme)
	if c.Remote.Authorization != "" {
		env = append(env, "GIT_CONFIG_COUNT=1",
			"GIT_CONFIG_KEY_0=http."+c.Remote.URL+".extraHeader",
			"GIT_CONFIG_VALUE_0=Authorization: "+c.Remote.Authorization)
	}
	return append(env, c.Env...)
}

// Elsewhere runs a read-only git command in a clone that does not belong to this product.
func Elsewhere(ctx context.Context, bin, clone string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, bin, args...)
	cmd.Dir = clone
	cmd.Env = append(inherited(), isolation...)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil, newFailure(Command{Args: args}, exit.ExitCode(), exit.Stderr)
	}
	return out, err
}

// inherited returns the part of our own environment that a git child may see.
func inherited() []string {
	env := []string{}
	for _, name := range environment {
		v, ok := os.LookupEnv(name)
		if name == "PATH" {
			v = anywhere(v)
			ok = v != "" // an empty PATH would mean the working directory
		}
		if ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// anywhere keeps only the absolute directories of a PATH: a relative one would find programs of the checkout.
func anywhere(path string) string {
	dirs := slices.DeleteFunc(filepath.SplitList(path), func(dir string) bool { return !filepath.IsAbs(dir) })
	return strings.Join(dirs, string(filepath.ListSeparator))
}

// capped stores the first max bytes and remembers whether there were more.
type capped struct {
	buf  bytes.Buffer
	max  int
	over bool
}

func (c *capped) Write(p []byte) (int, error) {
	keep := min(len(p), c.max-c.buf.Len())
	c.buf.Write(p[:keep])
	c.over = c.over || keep < len(p)
	return len(p), nil
}

// ends stores the beginning and the end of what is written. Git says last why it failed, after any number of
// warnings about the files of a change.
type ends struct {
	head, tail []byte
	cut        bool
}

func (e *ends) Write(p []byte) (int, error) {
	keep := min(len(p), maxStderr/2-len(e.head))
	e.head, e.tail = append(e.head, p[:keep]...), append(e.tail, p[keep:]...)
	if extra := len(e.tail) - maxStderr/2; extra > 0 {
		e.tail, e.cut = append([]byte(nil), e.tail[extra:]...), true
	}
	return len(p), nil
}

func (e *ends) bytes() []byte {
	if e.cut {
		return slices.Concat(e.head, []byte("\n"), e.tail)
	}
	return slices.Concat(e.head, e.tail)
}
