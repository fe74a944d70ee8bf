package worktree

import (
	"context"
	"fmt"
	"strings"
)

// Entry is one regular file of a commit.
type Entry struct {
	Path string
	Blob string // the blob name of its content
}

// List returns the regular files of a commit or tree, in git's order. Links and submodules are left out.
func (t *Tree) List(ctx context.Context, rev string) ([]Entry, error) {
	if err := checkSHAs(rev); err != nil {
		return nil, err
	}
	out, err := t.mirror.Output(ctx, "ls-tree", "-r", "-z", "--full-tree", rev)
	if err != nil {
		return nil, fmt.Errorf("list the files of %.12s: %w", rev, err)
	}
	var all []Entry
	for line := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") { // "100644 blob 3b18e5…\tname"
		meta, name, _ := strings.Cut(line, "\t")
		if f := strings.Fields(meta); len(f) == 3 && strings.HasPrefix(f[0], "100") {
			all = append(all, Entry{Path: name, Blob: f[2]})
		}
	}
	return all, nil
}

// Beside returns the path at which a file is kept beside the repository's mirror, for data that can be
// computed again at any time. A pull request's code never runs with the right to write there.
func (t *Tree) Beside(name string) string { return t.home.Tree(name) }
