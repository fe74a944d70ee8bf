package clone

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"touchstone/verdict/guard"
)

// maxPaths bounds how many changed paths are read from a clone.
const maxPaths = 100_000

// Change reads what merging the clone into base would change. It reads the working tree or, with
// onlyCommitted, HEAD.
func (c *Clone) Change(ctx context.Context, base string, onlyCommitted bool) (guard.Change, error) {
	of := Working
	if onlyCommitted {
		of = Committed
	}
	dir, err := os.MkdirTemp("", "touchstone-guard-")
	if err != nil {
		return guard.Change{}, fmt.Errorf("make a directory for the merge: %w", err)
	}
	defer os.RemoveAll(dir)
	l, err := c.lend(ctx, dir, base, of)
	if err != nil {
		return guard.Change{}, err
	}
	merge, err := l.store.Squash(ctx, l.request)
	if err != nil {
		return guard.Change{}, unmergeable(err, of, base)
	}
	return c.change(ctx, merge.Base, merge.Tree)
}

// change reads both sides of every file that the guard examines.
func (c *Clone) change(ctx context.Context, from, to string) (guard.Change, error) {
	out, err := c.output(ctx, "diff-tree", "-r", "-z", "-M", "--raw", "--no-abbrev", "--end-of-options", from, to)
	if err != nil {
		return guard.Change{}, fmt.Errorf("compare with the base: %w", err)
	}
	fields := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	var change guard.Change
	var blobs []string // two for each file
	for len(fields) > 1 {
		meta := strings.Fields(fields[0])
		if len(meta) != 5 || len(change.Files) == maxPaths {
			return guard.Change{}, fmt.Errorf("compare with the base: more than %d files, or an unknown format", maxPaths)
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
				return guard.Change{}, errors.New("compare with the base: git's output is incomplete")
			}
			f.Path, fields = fields[0], fields[1:]
		}
		if strings.TrimPrefix(meta[0], ":") == "160000" || meta[1] == "160000" || !guard.Examines(f.Path) && !guard.Examines(f.OldPath) {
			continue
		}
		change.Files = append(change.Files, f)
		blobs = append(blobs, meta[2], meta[3])
	}
	if err := c.contents(ctx, change.Files, blobs); err != nil {
		return guard.Change{}, err
	}
	return change, guard.Surround(ctx, &change, from, c)
}

// ReadFile reads a file of a commit, which the guard needs around a change.
func (c *Clone) ReadFile(ctx context.Context, rev, name string) ([]byte, error) {
	return c.output(ctx, "cat-file", "blob", rev+":"+name)
}

// contents reads the blobs, up to the guard's bound for one file.
func (c *Clone) contents(ctx context.Context, files []guard.File, blobs []string) error {
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
		_ = cmd.Cancel() // the first error is the one to report
	}
	return errors.Join(err, cmd.Wait())
}

// readBlob reads "<name> blob <size>", the content and a newline; or "<name> missing", which is the answer
// for the null name of an absent side.
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
