package worktree

import (
	"bufio"
	"context"
	"fmt"

	"touchstone/worktree/diff"
)

// maxSides bounds the total size of the contents that Sides returns, in bytes.
const maxSides = 64 << 20

// Sides are the whole contents of one changed file.
type Sides struct {
	Path    string // "" when the file is gone
	OldPath string // "" when the file is new
	// Before and After are nil on a side without the file.
	Before, After []byte
	// Unread says that a side is missing because it was too large.
	Unread bool
}

// Sides reads both sides of those files of a diff whose path, or old path, is wanted, in its order. A side of more
// than max bytes is not read, nor is anything beyond 64 MiB in total. Submodules are skipped, because their contents
// are not here.
func (t *Tree) Sides(ctx context.Context, d diff.Diff, wanted func(path string) bool, max int64) ([]Sides, error) {
	c := t.Contents(ctx)
	defer c.Close()
	return c.Sides(d, wanted, max)
}

// Sides reads as Tree.Sides does.
func (c *Contents) Sides(d diff.Diff, wanted func(path string) bool, max int64) ([]Sides, error) {
	var sides []Sides
	var names []string
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
		names = append(names, f.OldBlob, f.NewBlob)
	}
	if err := c.ask(names, func() error { return readSides(c.answers, sides, max) }); err != nil {
		return nil, fmt.Errorf("read the changed files: %w", err)
	}
	return sides, nil
}

// Sides reads as Tree.Sides does what a squash merge of the request's head into its base changes, without a
// checkout. Errors: those of Squash.
func (s *Store) Sides(ctx context.Context, req Request, wanted func(path string) bool, max int64) (sides []Sides, err error) {
	err = s.compare(ctx, req, func(r repo) error {
		made, err := r.squash(ctx, req.Base, req.Head)
		if err != nil {
			return err
		}
		d, err := r.diff(ctx, made.Base, made.Tree)
		if err != nil {
			return err
		}
		c := r.contents(ctx)
		defer c.Close()
		sides, err = c.Sides(d, wanted, max)
		return err
	})
	return sides, err
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
