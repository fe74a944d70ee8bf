package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"

	"touchstone/worktree"
	"touchstone/worktree/diff"
)

// clone reads a local clone, bare or not.
type clone struct {
	dir     string
	batch   *exec.Cmd
	ask     io.WriteCloser
	answers *bufio.Reader
}

func openClone(ctx context.Context, dir string) (*clone, error) {
	c := &clone{dir: dir}
	c.batch = c.command(ctx, "cat-file", "--batch")
	var err error
	if c.ask, err = c.batch.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := c.batch.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.answers = bufio.NewReader(out)
	return c, c.batch.Start()
}

func (c *clone) Close() error { return errors.Join(c.ask.Close(), c.batch.Wait()) }

func (c *clone) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", c.dir, "-c", "core.quotePath=false", "-c", "diff.renameLimit=5000"},
		args...)...)
	cmd.Env = append(cmd.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_ATTR_NOSYSTEM=1", "GIT_NO_LAZY_FETCH=1")
	return cmd
}

func (c *clone) output(ctx context.Context, args ...string) ([]byte, error) {
	out, err := c.command(ctx, args...).Output()
	if err != nil {
		if failed, ok := errors.AsType[*exec.ExitError](err); ok {
			err = fmt.Errorf("git %s: %s", args[0], bytes.TrimSpace(failed.Stderr))
		}
		return nil, err
	}
	return out, nil
}

// commit is one first-parent commit. Its change is the difference from its parent.
type commit struct {
	sha, parent, author, title, body string
}

// botName matches the authors of commits that programs make.
var botName = regexp.MustCompile(`(?i)[\[(]bot[\])]|dependabot|renovate|github-actions`)

func (c commit) bot() bool {
	return botName.MatchString(c.author)
}

// commits lists the last n first-parent commits up to tip, the newest first.
func (c *clone) commits(ctx context.Context, tip string, n int) ([]commit, error) {
	out, err := c.output(ctx, "log", "-z", "--first-parent", fmt.Sprintf("-%d", n), "--format=%H%x01%P%x01%an <%ae>%x01%s%x01%b", tip)
	if err != nil {
		return nil, err
	}
	var all []commit
	for entry := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		f := strings.SplitN(entry, "\x01", 5)
		if len(f) != 5 || f[1] == "" {
			continue
		}
		parent, _, _ := strings.Cut(f[1], " ")
		all = append(all, commit{sha: f[0], parent: parent, author: f[2], title: f[3], body: strings.TrimSpace(f[4])})
	}
	return all, nil
}

// named adds the commits with these names that are not in the list yet.
func (c *clone) named(ctx context.Context, all []commit, names []string) ([]commit, error) {
	for _, name := range names {
		if slices.ContainsFunc(all, func(c commit) bool { return strings.HasPrefix(c.sha, name) }) {
			continue
		}
		one, err := c.commits(ctx, name, 1)
		if err != nil {
			return nil, err
		}
		all = append(all, one...)
	}
	return all, nil
}

// blob reads an object. If the object is larger than max, it returns only the size.
func (c *clone) blob(name string, max int64) (data []byte, size int64, err error) {
	if _, err := fmt.Fprintln(c.ask, name); err != nil {
		return nil, 0, err
	}
	header, err := c.answers.ReadString('\n')
	if err != nil {
		return nil, 0, err
	}
	var object, kind string
	if n, _ := fmt.Sscanf(header, "%s %s %d", &object, &kind, &size); n != 3 {
		return nil, 0, fs.ErrNotExist
	}
	if size > max {
		_, err := io.CopyN(io.Discard, c.answers, size+1)
		return nil, size, err
	}
	data = make([]byte, size+1)
	if _, err := io.ReadFull(c.answers, data); err != nil {
		return nil, 0, err
	}
	if kind == "tree" {
		return nil, 0, fs.ErrNotExist
	}
	return data[:size], size, nil
}

// maxAround bounds an unchanged file that is read with a change, in bytes.
const maxAround = 32 << 20

func (c *clone) ReadFile(_ context.Context, rev, name string) ([]byte, error) {
	data, size, err := c.blob(rev+":"+name, maxAround)
	if err == nil && size > maxAround {
		err = fmt.Errorf("%s is too large", name)
	}
	return data, err
}

func (c *clone) ReadDir(ctx context.Context, rev, dir string) ([]string, error) {
	at := rev + ":" + strings.TrimPrefix(path.Clean("/"+dir), "/")
	out, err := c.output(ctx, "ls-tree", "-z", at)
	if err != nil {
		return nil, fs.ErrNotExist
	}
	var names []string
	for line := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		meta, name, ok := strings.Cut(line, "\t")
		if !ok {
			continue
		}
		if strings.HasPrefix(meta, "040000") || strings.HasPrefix(meta, "160000") {
			name += "/"
		}
		names = append(names, name)
	}
	return names, nil
}

const none = "000000"

// diff returns what a commit changes, with the patches of its files. A snapshot may lack its largest files, which are
// left out.
func (c *clone) diff(ctx context.Context, of commit) (diff.Diff, error) {
	raw, err := c.output(ctx, "diff-tree", "-r", "-z", "--no-renames", "--raw", "--no-abbrev", of.parent, of.sha)
	if err != nil {
		return diff.Diff{}, err
	}
	args := []string{"diff-tree", "-r", "-z", "-M", "--raw", "--no-abbrev", "-p", "--no-ext-diff", "--no-textconv", "--no-color",
		of.parent, of.sha, "--", "."}
	for entry := range slices.Chunk(strings.Split(strings.TrimSuffix(string(raw), "\x00"), "\x00"), 2) {
		meta := strings.Fields(strings.TrimPrefix(entry[0], ":")) // modes and blobs before and after
		if len(meta) == 5 && (!c.has(meta[0], meta[2]) || !c.has(meta[1], meta[3])) {
			args = append(args, ":(exclude,literal)"+entry[1])
		}
	}
	out, err := c.output(ctx, args...)
	if err != nil {
		return diff.Diff{}, err
	}
	d, err := diff.Parse(bytes.NewReader(out))
	d.Base, d.Head = of.parent, of.sha
	return d, err
}

// has reports whether the clone has a file's content.
func (c *clone) has(mode, blob string) bool {
	_, _, err := c.blob(blob, 0)
	return mode == none || mode == "160000" || !errors.Is(err, fs.ErrNotExist)
}

// Sides reads both sides of the wanted files.
func (c *clone) Sides(_ context.Context, d diff.Diff, wanted func(string) bool, max int64) ([]worktree.Sides, error) {
	var all []worktree.Sides
	for _, f := range d.Files {
		s := worktree.Sides{Path: f.Path, OldPath: f.OldPath}
		if f.OldMode == none {
			s.OldPath = ""
		}
		if f.NewMode == none {
			s.Path = ""
		}
		if f.Submodule || !wanted(s.Path) && !wanted(s.OldPath) {
			continue
		}
		for _, side := range []struct {
			there string
			blob  string
			into  *[]byte
		}{{s.OldPath, f.OldBlob, &s.Before}, {s.Path, f.NewBlob, &s.After}} {
			if side.there == "" {
				continue
			}
			data, size, err := c.blob(side.blob, max)
			if err != nil {
				return nil, err
			}
			*side.into = data
			s.Unread = s.Unread || size > max
		}
		all = append(all, s)
	}
	return all, nil
}
