package clone

import (
	"context"
	"fmt"
	"os"
	"strings"

	"touchstone/agent/quality"
	"touchstone/verdict/guard"
)

// Change reads what merging the clone into base would change. It reads the working tree or, with
// onlyCommitted, HEAD.
func (c *Clone) Change(ctx context.Context, base string, onlyCommitted bool) (_ guard.Change, err error) {
	of := Working
	if onlyCommitted {
		of = Committed
	}
	dir, err := os.MkdirTemp("", "touchstone-guard-")
	if err != nil {
		return guard.Change{}, fmt.Errorf("make a directory for the merge: %w", err)
	}
	defer os.RemoveAll(dir)
	defer func() { err = c.incomplete(ctx, err) }()
	l, err := c.lend(ctx, dir, base, of)
	if err != nil {
		return guard.Change{}, err
	}
	sides, err := l.store.Sides(ctx, l.request, guard.Examines, guard.MaxFile)
	if err != nil {
		return guard.Change{}, unmergeable(err, of, base)
	}
	change := quality.Change(sides)
	if change.Said, err = c.messages(ctx, l.request.Base); err != nil {
		return guard.Change{}, err
	}
	return change, guard.Surround(ctx, &change, l.request.Base, c)
}

// maxCommits bounds how many commits' messages are read.
const maxCommits = 250

// messages are the messages of the newest commits that the clone has and base does not.
func (c *Clone) messages(ctx context.Context, base string) ([]string, error) {
	out, err := c.output(ctx, "log", "-z", "--format=%B", fmt.Sprintf("--max-count=%d", maxCommits), base+"..HEAD")
	if err != nil {
		return nil, fmt.Errorf("read the commits' messages: %w", err)
	}
	return strings.Split(string(out), "\x00"), nil
}

// ReadFile reads a file of a commit, which the guard needs around a change.
func (c *Clone) ReadFile(ctx context.Context, rev, name string) ([]byte, error) {
	return c.output(ctx, "cat-file", "blob", rev+":"+name)
}
