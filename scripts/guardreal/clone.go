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

// diff returns what a commit changes, with the patches of its files.
func (c *clone) diff(ctx context.Context, of commit) (diff.Diff, error) {
	d := diff.Diff{Base: of.parent, Head: of.sha}
	renames := "-M"
	out, err := c.output(ctx, "diff-tree", "-r", "-z", renames, "--raw", "--no-abbrev", of.parent, of.sha)
	if err != nil { // finding renames needs contents, which the clone may lack
		renames = "--no-renames"
		out, err = c.output(ctx, "diff-tree", "-r", "-z", renames, "--raw", "--no-abbrev", of.parent, of.sha)
	}
	if err != nil {
		return d, err
	}
	var lacking []string
	fields := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	for len(fields) > 1 {
		meta := strings.Fields(strings.TrimPrefix(fields[0], ":"))
		f := diff.File{Path: fields[1], OldPath: fields[1], Status: "modified", OldMode: meta[0], NewMode: meta[1], OldBlob: meta[2],
			NewBlob: meta[3]}
		fields = fields[2:]
		switch meta[4][0] {
		case 'A':
			f.Status = "added"
		case 'D':
			f.Status = "deleted"
		case 'R', 'C':
			f.Status, f.Path, fields = "renamed", fields[0], fields[1:]
		}
		f.Submodule = meta[0] == "160000" || meta[1] == "160000"
		if !f.Submodule && (!c.has(f.OldMode, f.OldBlob) || !c.has(f.NewMode, f.NewBlob)) {
			lacking = append(lacking, ":(exclude,literal)"+f.Path, ":(exclude,literal)"+f.OldPath)
			continue
		}
		d.Files = append(d.Files, f)
	}
	if len(lacking) > 0 {
		lacking = append([]string{"--", "."}, lacking...)
	}
	return d, c.patches(ctx, &d, renames, lacking)
}

// has reports whether the clone has a file's content. A snapshot may lack its largest files, which are left
// out.
func (c *clone) has(mode, blob string) bool {
	_, _, err := c.blob(blob, 0)
	return mode == none || !errors.Is(err, fs.ErrNotExist)
}

// patches reads the unified diffs of all files, in the order of the raw diff.
func (c *clone) patches(ctx context.Context, d *diff.Diff, renames string, paths []string) error {
	args := []string{"diff-tree", "-r", renames, "-p", "--no-ext-diff", "--no-textconv", "--no-color", d.Base, d.Head}
	out, err := c.output(ctx, append(args, paths...)...)
	if err != nil {
		return err
	}
	i, further := -1, false
	for line := range bytes.Lines(out) {
		switch {
		case !bytes.HasPrefix(line, []byte("diff --git ")):
		case further: // a file whose type changed is deleted, and added again
			further = false
		default:
			if i++; i >= len(d.Files) {
				return fmt.Errorf("more patches than files between %s and %s", d.Base, d.Head)
			}
			was, is := d.Files[i].OldMode, d.Files[i].NewMode
			further = was != none && is != none && was[:3] != is[:3]
		}
		if i < 0 {
			continue
		}
		f := &d.Files[i]
		f.Patch = append(f.Patch, line...)
		f.Binary = f.Binary || bytes.HasPrefix(line, []byte("Binary files "))
	}
	return nil
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
