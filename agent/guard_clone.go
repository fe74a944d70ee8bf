package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"touchstone/verdict/guard"
)

// maxClonePaths bounds how many changed paths are read from a clone.
const maxClonePaths = 100_000

// clone is a clone that belongs to somebody else: git reads it here without
// running what its configuration or its files ask for, and without writing to it.
type clone struct {
	top      string   // its root
	settings []string // -c options
	env      []string // on top of the allow-list
}

// cloneSettings outrank the clone's own configuration.
var cloneSettings = []string{
	"core.hooksPath=" + os.DevNull, "core.fsmonitor=false", "core.sshCommand=false", "credential.helper=",
	"core.attributesFile=" + os.DevNull, "core.untrackedCache=false", "submodule.recurse=false",
	"core.safecrlf=false", "core.quotePath=true", "gc.auto=0", "maintenance.auto=false",
}

// cloneEnvironment is what git may inherit. HOME is missing on purpose, and so is
// every GIT_ variable that a hook would set.
var cloneEnvironment = []string{"PATH", "TMPDIR", "TEMP", "TMP", "SystemRoot", "SystemDrive", "windir", "ComSpec", "PATHEXT"}

// readClone reads what the clone in the current directory changed since it left
// base: in its working tree or, when committed, up to HEAD.
func readClone(ctx context.Context, base string, committed bool) (guard.Change, error) {
	var c clone
	for _, s := range cloneSettings {
		c.settings = append(c.settings, "-c", s)
	}
	var err error
	if c.top, err = c.line(ctx, "rev-parse", "--show-toplevel"); err != nil {
		return guard.Change{}, fmt.Errorf("the current directory is in no clone that can be read; run this inside one: %w", err)
	}
	if err := c.disarm(ctx); err != nil {
		return guard.Change{}, err
	}
	if _, err := c.line(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", base+"^{commit}"); err != nil {
		return guard.Change{}, fmt.Errorf("this clone has no commit %q; fetch it, or name another with --base", base)
	}
	from, err := c.line(ctx, "merge-base", "--end-of-options", base, "HEAD")
	if err != nil {
		return guard.Change{}, fmt.Errorf("HEAD and %q have no common history here; if the clone is shallow, fetch more with `git fetch --unshallow`: %w", base, err)
	}
	head := "HEAD"
	if !committed {
		dir, err := os.MkdirTemp("", "touchstone-guard-")
		if err != nil {
			return guard.Change{}, fmt.Errorf("make a directory for the working tree's objects: %w", err)
		}
		defer os.RemoveAll(dir)
		if head, err = c.snapshot(ctx, dir); err != nil {
			return guard.Change{}, fmt.Errorf("read the working tree: %w", err)
		}
	}
	return c.change(ctx, from, head)
}

// disarm switches the clone's filters off: they are commands, which reading a
// file of the working tree would run.
func (c *clone) disarm(ctx context.Context) error {
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

// snapshot writes the working tree as a tree, with an index and an object store
// of its own in dir, and returns its name.
func (c *clone) snapshot(ctx context.Context, dir string) (string, error) {
	index, err := c.line(ctx, "rev-parse", "--path-format=absolute", "--git-path", "index")
	if err != nil {
		return "", err
	}
	objects, err := c.line(ctx, "rev-parse", "--path-format=absolute", "--git-path", "objects")
	if err != nil {
		return "", err
	}
	own := filepath.Join(dir, "index")
	switch content, err := os.ReadFile(index); {
	case err == nil:
		if err := os.WriteFile(own, content, 0o600); err != nil {
			return "", err
		}
	case !errors.Is(err, os.ErrNotExist):
		return "", err
	}
	c.env = append(c.env, "GIT_INDEX_FILE="+own, "GIT_OBJECT_DIRECTORY="+dir, "GIT_ALTERNATE_OBJECT_DIRECTORIES="+objects)
	if _, err := c.output(ctx, "add", "--all", "--", "."); err != nil {
		return "", err
	}
	return c.line(ctx, "write-tree")
}

// change reads both sides of every file that the guard examines.
func (c *clone) change(ctx context.Context, from, to string) (guard.Change, error) {
	out, err := c.output(ctx, "diff-tree", "-r", "-z", "-M", "--raw", "--no-abbrev", "--end-of-options", from, to)
	if err != nil {
		return guard.Change{}, fmt.Errorf("compare with the merge base: %w", err)
	}
	fields := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	var change guard.Change
	var blobs []string // two for each file
	for len(fields) > 1 {
		meta := strings.Fields(fields[0])
		if len(meta) != 5 || len(change.Files) == maxClonePaths {
			return guard.Change{}, fmt.Errorf("compare with the merge base: more than %d files, or an unknown format", maxClonePaths)
		}
		f := guard.File{Path: fields[1], OldPath: fields[1]}
		fields = fields[2:]
		switch meta[4][0] {
		case 'A':
			f.OldPath = ""
		case 'D':
			f.Path = ""
		case 'R', 'C':
			if len(fields) == 0 {
				return guard.Change{}, errors.New("compare with the merge base: git's answer is cut off")
			}
			f.Path, fields = fields[0], fields[1:]
		}
		if strings.TrimPrefix(meta[0], ":") == "160000" || meta[1] == "160000" || !guard.Examines(f.Path) && !guard.Examines(f.OldPath) {
			continue
		}
		change.Files = append(change.Files, f)
		blobs = append(blobs, meta[2], meta[3])
	}
	return change, c.contents(ctx, change.Files, blobs)
}

// contents reads the blobs, up to the guard's bound for one file.
func (c *clone) contents(ctx context.Context, files []guard.File, blobs []string) error {
	if len(files) == 0 {
		return nil
	}
	cmd := c.command(ctx, "cat-file", "--batch")
	cmd.Stdin = strings.NewReader(strings.Join(blobs, "\n") + "\n")
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("run git: %w", err)
	}
	in := bufio.NewReader(pipe)
	for i := 0; i < len(blobs) && err == nil; i++ {
		var content []byte
		var large bool
		content, large, err = readBlob(in)
		f := &files[i/2]
		f.Unread = f.Unread || large
		if i%2 == 0 {
			f.Before = content
		} else {
			f.After = content
		}
	}
	if err != nil {
		_ = cmd.Cancel() // the first error is the one to tell
	}
	return errors.Join(err, cmd.Wait())
}

// readBlob reads "<name> blob <size>", the content and a newline; or
// "<name> missing", which is what the null name of an absent side gives.
func readBlob(in *bufio.Reader) (content []byte, large bool, err error) {
	header, err := in.ReadString('\n')
	if err != nil {
		return nil, false, fmt.Errorf("read a file's content: %w", err)
	}
	if name, ok := strings.CutSuffix(header, " missing\n"); ok {
		if strings.Trim(name, "0") != "" {
			return nil, false, fmt.Errorf("the clone does not have the object %s; fetch it", name)
		}
		return nil, false, nil
	}
	var name string
	var size int64
	if _, err := fmt.Sscanf(header, "%s blob %d", &name, &size); err != nil {
		return nil, false, fmt.Errorf("read a file's content: git answered %q", header)
	}
	if size > guard.MaxFile {
		_, err := io.CopyN(io.Discard, in, size+1)
		return nil, true, err
	}
	content = make([]byte, size+1)
	_, err = io.ReadFull(in, content)
	return content[:size], false, err
}

func (c *clone) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", append(c.settings[:len(c.settings):len(c.settings)], args...)...)
	cmd.Dir = c.top
	cmd.Env = append([]string{
		"LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_ATTR_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
		"GIT_NO_REPLACE_OBJECTS=1", "GIT_ALLOW_PROTOCOL=none", "GIT_OPTIONAL_LOCKS=0", "GIT_LITERAL_PATHSPECS=1",
	}, c.env...)
	for _, name := range cloneEnvironment {
		if v, ok := os.LookupEnv(name); ok {
			cmd.Env = append(cmd.Env, name+"="+v)
		}
	}
	return cmd
}

func (c *clone) output(ctx context.Context, args ...string) ([]byte, error) {
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
func (c *clone) line(ctx context.Context, args ...string) (string, error) {
	out, err := c.output(ctx, args...)
	return strings.TrimRight(string(out), "\r\n"), err
}
