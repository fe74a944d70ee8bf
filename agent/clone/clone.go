// Package clone reads the user's clone, for the commands that look at its content. It neither runs what the
// clone's configuration or files ask for nor writes to the clone. Its own data are in a temporary directory,
// which its caller deletes.
package clone

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
)

// Clone is a clone of the user.
type Clone struct {
	Top      string   // its root
	settings []string // -c options
	env      []string // in addition to the inherited variables
}

// overrides take precedence over the clone's own configuration.
var overrides = []string{
	"core.hooksPath=" + os.DevNull, "core.fsmonitor=false", "core.sshCommand=false", "credential.helper=",
	"core.attributesFile=" + os.DevNull, "core.untrackedCache=false", "submodule.recurse=false",
	"core.safecrlf=false", "core.quotePath=true", "gc.auto=0", "maintenance.auto=false",
	"core.splitIndex=false", // part of an index would be written beside the clone's own
}

// inherited are the variables that git may inherit. HOME is missing on purpose, and so is every GIT_ variable
// that a hook would set.
var inherited = []string{"PATH", "TMPDIR", "TEMP", "TMP", "SystemRoot", "SystemDrive", "windir", "ComSpec", "PATHEXT"}

// Open opens the clone around the current directory.
func Open(ctx context.Context) (*Clone, error) {
	var c Clone
	for _, s := range overrides {
		c.settings = append(c.settings, "-c", s)
	}
	c.trust(ctx)
	var err error
	if c.Top, err = c.line(ctx, "rev-parse", "--show-toplevel"); err != nil {
		return nil, fmt.Errorf("the current directory is not in a git clone that can be read; run this inside one: %w", err)
	}
	// What this user ignores everywhere may be secret, and line ends may follow the user's settings. The git
	// commands below read no user configuration, so both settings are passed to them.
	if file := c.setting(ctx, "--type=path", "--get", "core.excludesFile"); file != "" {
		c.settings = append(c.settings, "-c", "core.excludesFile="+file)
	} else if home, err := os.UserHomeDir(); err == nil { // https://git-scm.com/docs/gitignore
		c.settings = append(c.settings, "-c", "core.excludesFile="+
			filepath.Join(cmp.Or(os.Getenv("XDG_CONFIG_HOME"), filepath.Join(home, ".config")), "git", "ignore"))
	}
	if ends := c.setting(ctx, "--get", "core.autocrlf"); ends != "" {
		c.settings = append(c.settings, "-c", "core.autocrlf="+ends)
	}
	return &c, c.disarm(ctx)
}

// trust passes on which clones of other users this user trusts, such as those of a job in a container: git
// refuses all others. It takes this from nowhere but the settings of the user, of the system and of the
// environment (https://git-scm.com/docs/git-config#Documentation/git-config.txt-safedirectory).
func (c *Clone) trust(ctx context.Context) {
	// Without any, git exits with 1. If it fails otherwise, so do the commands below.
	out, _ := exec.CommandContext(ctx, "git", "config", "-z", "--type=path", "--get-all", "safe.directory").Output()
	for dir := range strings.SplitAfterSeq(string(out), "\x00") {
		if dir, whole := strings.CutSuffix(dir, "\x00"); whole {
			c.settings = append(c.settings, "-c", "safe.directory="+dir)
		}
	}
}

// setting returns what git config answers from the user's own configuration, empty if nothing is set. Reading a setting
// runs nothing.
func (c *Clone) setting(ctx context.Context, query ...string) string {
	cmd := exec.CommandContext(ctx, "git", append([]string{"config"}, query...)...)
	cmd.Dir = c.Top
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return strings.TrimRight(string(out), "\r\n")
}

// commit resolves base to a commit, which must share history with HEAD.
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

// Merged returns the base of a pull request that HEAD has, if HEAD is the commit by which GitHub tests the pull request:
// the merge of head into what the branch of base is now
// (https://docs.github.com/en/actions/reference/workflows-and-actions/events-that-trigger-workflows#pull_request).
// An event keeps the base of its time, and what others merged since is no part of the change. If HEAD is another
// commit, it returns base.
func (c *Clone) Merged(ctx context.Context, base, head string) string {
	parents, err := c.line(ctx, "show", "--no-show-signature", "--no-patch", "--format=%P", "HEAD")
	now, second, _ := strings.Cut(parents, " ")
	if err != nil || head == "" || second != head {
		return base
	}
	if _, err := c.line(ctx, "merge-base", "--is-ancestor", "--end-of-options", base, now); err != nil {
		return base
	}
	return now
}

// disarm disables the clone's filters: they are commands that run when git reads a file of the working tree.
func (c *Clone) disarm(ctx context.Context) error {
	out, err := c.output(ctx, "config", "-z", "--name-only", "--get-regexp", `^filter\.`)
	if failed, ok := errors.AsType[*exec.ExitError](err); ok && failed.ExitCode() == 1 {
		return nil // there are none
	}
	if err != nil {
		return fmt.Errorf("read the clone's filters: %w", err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if strings.Contains(name, "=") {
			return fmt.Errorf("the clone configures a filter that cannot be turned off: %q; rename it", name)
		}
		value := ""
		if strings.HasSuffix(name, ".required") {
			value = "false"
		}
		c.settings = append(c.settings, "-c", name+"="+value)
	}
	return nil
}

// snapshot writes the working tree, or its staged files, as a git tree to the mirror, with its own index in
// dir, and returns the tree's SHA.
func (c *Clone) snapshot(ctx context.Context, dir string, staged bool) (string, error) {
	index, err := c.line(ctx, "rev-parse", "--path-format=absolute", "--git-path", "index")
	if err != nil {
		return "", err
	}
	// In a hook of `git commit -a` the staged files are in another index (https://git-scm.com/docs/githooks).
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
		before, err := c.staged(ctx)
		if err != nil {
			return "", err
		}
		if err := c.add(ctx, before); err != nil {
			return "", err
		}
		after, err := c.staged(ctx)
		if err == nil {
			err = c.keepFiltered(ctx, before, after)
		}
		if err != nil {
			return "", err
		}
	}
	return c.line(ctx, "write-tree")
}

// add records the working tree in the index. Of a submodule it records the commit that is checked out. Git add would also
// run git status in it, and with that the filters and the file system monitor that the submodule's own configuration names.
func (c *Clone) add(ctx context.Context, before map[string]string) error {
	var submodules strings.Builder
	everything := bytes.NewBufferString(".\x00")
	for path, entry := range before {
		if !strings.HasPrefix(entry, "160000 ") {
			continue
		}
		if _, err := os.Lstat(filepath.Join(c.Top, filepath.FromSlash(path), ".git")); err == nil { // git status runs in no other
			submodules.WriteString(path + "\x00")
			everything.WriteString(":(exclude,literal)" + path + "\x00")
		}
	}
	// Git reads the option from the left: it cancels the setting of the environment.
	_, err := c.outputOf(ctx, everything, "--no-literal-pathspecs", "add", "--all", "--pathspec-from-file=-", "--pathspec-file-nul")
	if err != nil {
		return err
	}
	_, err = c.outputOf(ctx, strings.NewReader(submodules.String()), "update-index", "-z", "--stdin")
	return err
}

// copyIndex copies an index with its modification time: git treats files that changed after it as changed
// even if their size and time say otherwise (https://git-scm.com/docs/racy-git).
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
	return c.outputOf(ctx, nil, args...)
}

func (c *Clone) outputOf(ctx context.Context, in io.Reader, args ...string) ([]byte, error) {
	cmd := c.command(ctx, args...)
	cmd.Stdin = in
	out, err := cmd.Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		first, _, _ := bytes.Cut(bytes.TrimSpace(failed.Stderr), []byte("\n"))
		command := slices.IndexFunc(args, func(arg string) bool { return !strings.HasPrefix(arg, "-") })
		return nil, fmt.Errorf("git %s: %s: %w", args[command], first, err)
	}
	return out, err
}

// line runs a git command that prints a single line.
func (c *Clone) line(ctx context.Context, args ...string) (string, error) {
	out, err := c.output(ctx, args...)
	return strings.TrimRight(string(out), "\r\n"), err
}
