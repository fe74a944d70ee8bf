// Package quality has the guard examine a change, in a child process with bounds: what the author of a pull request writes
// decides how long the guard takes. It stores nothing.
package quality

import (
	"context"
	"fmt"
	"time"

	"touchstone/agent/bounded"
	"touchstone/verdict/guard"
	"touchstone/worktree"
)

// Task is examining one change.
var Task = bounded.NewTask("touchstone-guard", func() func(guard.Change) []guard.Finding { return guard.Examine })

// bounds are what one examination may take. Of real changes, one in a hundred takes more than a second, and the largest
// takes less than a minute.
var bounds = bounded.Bounds{Time: 2 * time.Minute, Memory: 2 << 30}

// Change returns a change of the files whose two sides these are.
func Change(sides []worktree.Sides) (c guard.Change) {
	for _, s := range sides {
		c.Files = append(c.Files, guard.File{Path: s.Path, OldPath: s.OldPath, Before: s.Before, After: s.After, Unread: s.Unread})
	}
	return c
}

// Examine returns the findings of a change; see [guard.Examine]. A change that takes more than its bounds has one finding: a
// hold that says so. An error says that nothing was examined.
func Examine(ctx context.Context, c guard.Change) ([]guard.Finding, error) {
	child, err := Task.Start(ctx, bounds)
	if err != nil {
		return nil, fmt.Errorf("start the guard in a process of its own: %w", err)
	}
	found, err := child.Ask(c)
	became := child.End()
	switch {
	case err == nil:
		return found, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	return []guard.Finding{{Tier: guard.Hold, Kind: guard.Unexamined, Rule: "guard/failed",
		Why: fmt.Sprintf("Examining the change %s, so the guard knows nothing of it; a person has to look.", became)}}, nil
}
