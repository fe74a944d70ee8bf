package worktree

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"touchstone/worktree/diff"
	"touchstone/worktree/gitcmd"
)

// maxSides bounds the contents that Sides returns together, in bytes.
const maxSides = 64 << 20

// Sides are the whole contents of one changed file.
type Sides struct {
	Path    string // "" when the file is gone
	OldPath string // "" when the file is new
	// Before and After are nil on the side where there is no file.
	Before, After []byte
	// Unread says that a side is missing here because it was too large.
	Unread bool
}

// Sides reads both sides of the files of a diff whose path, or old path, is wanted.
// A side of more than max bytes is left unread, and so is what exceeds 64 MiB in all.
// The contents of submodules are not here and are passed over.
func (t *Tree) Sides(ctx context.Context, d diff.Diff, wanted func(path string) bool, max int64) ([]Sides, error) {
	var sides []Sides
	var names strings.Builder
	for _, f := range d.Files {
		if f.Submodule || !wanted(f.Path) && !wanted(f.OldPath) {
			continue
		}
		s := Sides{Path: f.Path, OldPath: f.OldPath}
		switch f.Status {
		case "added":
			s.OldPath = ""
		case "deleted":
			s.Path = ""
		}
		sides = append(sides, s)
		fmt.Fprintf(&names, "%s\n%s\n", f.OldBlob, f.NewBlob)
	}
	if len(sides) == 0 {
		return nil, nil
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	r, w := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := t.mirror.Run(ctx, gitcmd.Command{Stdin: strings.NewReader(names.String()), Stdout: w, Args: []string{"cat-file", "--batch"}})
		w.CloseWithError(err)
		done <- err
	}()
	err := readSides(bufio.NewReaderSize(r, 64<<10), sides, max)
	if err != nil {
		stop()
		r.CloseWithError(err)
	}
	if gitErr := <-done; gitErr != nil && err == nil {
		err = gitErr
	}
	if err != nil {
		return nil, fmt.Errorf("read the changed files: %w", err)
	}
	return sides, nil
}

func readSides(in *bufio.Reader, sides []Sides, max int64) error {
	left := int64(maxSides)
	for i := range sides {
		s := &sides[i]
		for _, side := range []*[]byte{&s.Before, &s.After} {
			content, unread, err := readBlob(in, min(max, left))
			if err != nil {
				return err
			}
			*side, s.Unread = content, s.Unread || unread
			left -= int64(len(content))
		}
	}
	return nil
}

// readBlob reads one answer of "git cat-file --batch": "<name> blob <size>", that many
// bytes and a line feed; or "<name> missing", as for the side where there is no file.
// See https://git-scm.com/docs/git-cat-file.
func readBlob(in *bufio.Reader, max int64) (content []byte, unread bool, err error) {
	header, err := in.ReadString('\n')
	if err != nil {
		return nil, false, err
	}
	f := strings.Fields(header)
	if len(f) == 2 && f[1] == "missing" && strings.Trim(f[0], "0") == "" {
		return nil, false, nil
	}
	if len(f) != 3 || f[1] != "blob" {
		return nil, false, fmt.Errorf("git cat-file printed %q", strings.TrimSpace(header))
	}
	size, err := strconv.ParseInt(f[2], 10, 64)
	if err != nil || size < 0 {
		return nil, false, fmt.Errorf("git cat-file printed %q", strings.TrimSpace(header))
	}
	if size > max {
		_, err = io.CopyN(io.Discard, in, size+1)
		return nil, true, err
	}
	content = make([]byte, size+1)
	if _, err := io.ReadFull(in, content); err != nil {
		return nil, false, err
	}
	content, feed := content[:size], content[size:]
	if !bytes.Equal(feed, []byte("\n")) {
		return nil, false, errors.New("git cat-file printed more than it announced")
	}
	return content, false, nil
}
