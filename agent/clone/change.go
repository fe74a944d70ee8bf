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
	if change.Title, err = c.title(ctx, l.request.Base); err != nil {
		return guard.Change{}, err
	}
	return change, guard.Surround(ctx, &change, l.request.Base, c)
}

// title is the subject of the only commit that the clone has and base does not, as GitHub proposes it for a pull request;
// "" if there are more.
func (c *Clone) title(ctx context.Context, base string) (string, error) {
	out, err := c.output(ctx, "log", "--no-show-signature", "--no-merges", "--format=%s", "--max-count=2", base+"..HEAD")
	if err != nil {
		return "", fmt.Errorf("read the subjects of the commits: %w", err)
	}
	first, second, _ := strings.Cut(string(out), "\n")
	if second != "" {
		return "", nil
	}
	return first, nil
}
