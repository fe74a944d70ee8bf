package worktree

import (
	"bytes"
	"cmp"
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
	"time"

	"touchstone/worktree/atomicfile"
)

const (
	// maxOutput bounds what one git command may print into memory, in bytes.
	maxOutput = 64 << 20
	// maxStderr bounds how much of a command's stderr is kept, in bytes.
	maxStderr = 16 << 10
	// killGrace is how long a cancelled git may take to remove its lock files.
	killGrace = 2 * time.Second
)

// settings are what every git command runs under. They are passed as -c options
// because those outrank every configuration file and, unlike GIT_CONFIG_COUNT,
// are inherited by the git that git itself starts inside a submodule.
var settings = []string{
	// Nothing that the checkout brings along is executed.
	"core.hooksPath=" + os.DevNull, "core.fsmonitor=false", "core.sshCommand=false", "credential.helper=",
	"core.attributesFile=" + os.DevNull, "core.excludesFile=" + os.DevNull, "core.untrackedCache=false",
	"commit.gpgSign=false", "push.gpgSign=false", "merge.verifySignatures=false",
	"submodule.recurse=false", "fetch.recurseSubmodules=false", "push.recurseSubmodules=no",
	// A redirect could carry the Authorization header to another host.
	"http.followRedirects=false", "http.lowSpeedLimit=1000", "http.lowSpeedTime=60",
	// Files are checked out as they are committed, by as many workers as there are cores.
	"core.autocrlf=false", "core.safecrlf=false", "core.symlinks=" + keepSymlinks, "checkout.workers=0",
	// A fetched pack appears whole or not at all, so a commit that is present is complete.
	"fetch.unpackLimit=1", "gc.auto=0", "maintenance.auto=false",
	"core.fsync=committed", "core.fsyncMethod=batch", "core.logAllRefUpdates=false",
	// Larger files are treated as binary: git holds two versions of a file in memory to compare them.
	"core.bigFileThreshold=32m", "core.quotePath=true",
	"merge.conflictStyle=diff3", "rerere.enabled=false",
	// A file beside the commits could claim other parents of them.
	"core.commitGraph=false",
}

// environment lists what a git child may inherit; all else is dropped, HOME
// included, so that neither .netrc nor a user's configuration is read.
var environment = []string{
	"PATH", "TMPDIR", "TEMP", "TMP", "TZ",
	"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH",
	"SystemRoot", "SystemDrive", "windir", "ComSpec", "PATHEXT",
}

// noFile is a path at which there never is a file; git takes an empty one for a list of nothing,
// which is something else than no list.
const noFile = os.DevNull + "/none"

// isolation is what every git child's environment holds: English, and no configuration of a user or
// system.
var isolation = []string{
	"LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_SYSTEM=" + os.DevNull, "GIT_CONFIG_GLOBAL=" + os.DevNull,
	"GIT_ATTR_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "GIT_EDITOR=:", "GIT_PAGER=cat",
	"GIT_LITERAL_PATHSPECS=1",
	// Every commit has the parents and the tree that it names.
	"GIT_NO_REPLACE_OBJECTS=1", "GIT_GRAFT_FILE=" + noFile,
}

// repo is one git directory and the way this package runs git in it.
type repo struct {
	bin    string
	mirror string
	dir    string // GIT_DIR: the mirror, or a linked worktree's administrative directory
	tree   string // GIT_WORK_TREE; "" in the mirror
	lock   *lock  // inherited by the children
	// shallow is the file of the commits that lack their parents.
	shallow string
	// remote is where a partial mirror finds what it lacks; nil where nothing is fetched.
	remote *Remote
}

// call is one git command. Only args is required.
type call struct {
	args   []string
	env    []string
	remote *Remote
	stdin  io.Reader
	stdout io.Writer
	// stderr, if set, is given what git says, also when it succeeds.
	stderr *capped
}

func (s *Store) repo(h home, l *lock, remote *Remote) repo {
	return repo{bin: s.binary(), mirror: h.mirror(), dir: h.mirror(), lock: l, remote: remote, shallow: s.Shallow}
}

// linked is the same mirror seen through a worktree. Naming its directories
// outright means that the .git file inside the tree is never believed.
func (r repo) linked(tree, admin string) repo {
	r.tree, r.dir = tree, admin
	return r
}

// output runs a git command and returns what it printed, at most maxOutput bytes.
func (r repo) output(ctx context.Context, args ...string) ([]byte, error) {
	return r.outputOf(ctx, call{args: args})
}

func (r repo) outputOf(ctx context.Context, c call) ([]byte, error) {
	out := &capped{max: maxOutput}
	c.stdout = out
	err := r.run(ctx, c)
	if out.over {
		return nil, fmt.Errorf("git %s printed more than %d MiB: %w", c.args[0], maxOutput>>20, ErrTooLarge)
	}
	return out.buf.Bytes(), err
}

// line runs a git command that prints a single line, such as a commit's SHA.
func (r repo) line(ctx context.Context, args ...string) (string, error) {
	out, err := r.output(ctx, args...)
	return strings.TrimSpace(string(out)), err
}

// run runs a git command to its end. When ctx ends first, the whole process
// group is asked to stop, then killed, and the context's error is returned.
func (r repo) run(ctx context.Context, c call) error {
	if err := r.restoreConfig(); err != nil {
		return err
	}
	settings := settings
	if r.partial() {
		settings = append(slices.Clip(settings), r.promise()...)
		c.remote = cmp.Or(c.remote, r.remote)
	}
	var args []string
	for _, s := range settings {
		args = append(args, "-c", s)
	}
	cmd := exec.CommandContext(ctx, r.bin, append(args, c.args...)...)
	cmd.Dir = r.mirror
	if r.tree != "" {
		cmd.Dir = r.tree
	}
	cmd.Env = r.environ(c)
	cmd.Stdin, cmd.Stdout = c.stdin, c.stdout
	stderr := cmp.Or(c.stderr, &capped{max: maxStderr})
	cmd.Stderr = stderr
	cmd.WaitDelay = killGrace
	superviseGroup(cmd)
	if r.lock != nil {
		inherit(cmd, r.lock.file)
	}
	err := cmd.Run()
	if ctx.Err() != nil {
		killGroup(cmd)
		return fmt.Errorf("git %s: %w", c.args[0], ctx.Err())
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return newGitError(c, exit.ExitCode(), stderr.buf.Bytes())
	}
	if err != nil && !exists(cmd.Dir) {
		return fmt.Errorf("run git %s: the directory %s is gone; what needs it is made anew at the next attempt", c.args[0], cmd.Dir)
	}
	if err != nil {
		return fmt.Errorf("run git %s: %w", c.args[0], err)
	}
	return nil
}

func (r repo) environ(c call) []string {
	env := slices.Concat(isolation, inherited(), []string{
		"GIT_DIR=" + r.dir, "GIT_COMMON_DIR=" + r.mirror, "GIT_SHALLOW_FILE=" + cmp.Or(r.shallow, noFile),
	})
	if r.tree != "" {
		env = append(env, "GIT_WORK_TREE="+r.tree)
	}
	if c.remote == nil {
		return append(append(env, "GIT_ALLOW_PROTOCOL=none"), c.env...)
	}
	scheme, _, _ := strings.Cut(c.remote.URL, ":")
	env = append(env, "GIT_ALLOW_PROTOCOL="+scheme)
	if c.remote.Authorization != "" {
		env = append(env, "GIT_CONFIG_COUNT=1",
			"GIT_CONFIG_KEY_0=http."+c.remote.URL+".extraHeader",
			"GIT_CONFIG_VALUE_0=Authorization: "+c.remote.Authorization)
	}
	return append(env, c.env...)
}

// inherited is what of our own environment a git child gets to see.
func inherited() []string {
	env := []string{}
	for _, name := range environment {
		v, ok := os.LookupEnv(name)
		if name == "PATH" {
			v = anywhere(v)
			ok = v != "" // which would be the working directory
		}
		if ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// anywhere leaves the absolute directories of a PATH: a relative one would find programs of the
// checkout.
func anywhere(path string) string {
	dirs := slices.DeleteFunc(filepath.SplitList(path), func(dir string) bool { return !filepath.IsAbs(dir) })
	return strings.Join(dirs, string(filepath.ListSeparator))
}

// restoreConfig puts the mirror's own configuration back if it was changed: a command that runs
// inside a worktree can write there, and git would use what it wrote.
func (r repo) restoreConfig() error {
	for name, want := range map[string]string{"config": mirrorConfig, "info/attributes": mirrorAttributes} {
		path := filepath.Join(r.mirror, filepath.FromSlash(name))
		if have, err := os.ReadFile(path); err == nil && string(have) == want {
			continue
		}
		if err := writeFile(path, want); err != nil {
			return fmt.Errorf("restore the mirror's configuration: %w", err)
		}
	}
	// Files that are to be hidden from git, and another history.
	for _, name := range []string{"info/exclude", "info/grafts"} {
		if err := os.Remove(filepath.Join(r.mirror, filepath.FromSlash(name))); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("restore the mirror's configuration: %w", err)
		}
	}
	return nil
}

// writeFile replaces a file whole and makes its directory, so that a git running beside it never reads half of it.
func writeFile(path, content string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return atomicfile.Write(path, []byte(content))
}

// capped keeps the first max bytes and remembers that there were more.
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
