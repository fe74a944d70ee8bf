package impact

import (
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"touchstone/agent/outline"
)

const (
	// maxDefinition bounds the lines that are shown of one definition, maxCalled the
	// definitions that are shown.
	maxDefinition = 18
	maxCalled     = 24
	// ambiguous is how many files may define a name for it to be shown.
	ambiguous = 6
)

// called finds the definitions of what the added lines call, outside of the change. A name
// that is defined in many places is left out: the text alone does not tell which is meant.
func (f *finder) called(ctx context.Context) ([]Called, error) {
	names := slices.Sorted(maps.Keys(f.change.callees))
	queries := make([][]word, len(names))
	for i, name := range names {
		queries[i] = []word{defined(name)}
	}
	wanted := map[int][]int{}
	for i, holding := range f.index.holding(queries) {
		if best := f.nearest(f.change.callees[names[i]], holding); best >= 0 {
			wanted[best] = append(wanted[best], i)
		}
	}
	var all []Called
	err := f.read(ctx, wanted, func(entry int, lines []string) {
		file := f.index.entries[entry].Path
		blocks := outline.Of(file, []byte(strings.Join(lines, "\n")))
		for _, i := range wanted[entry] {
			at := slices.IndexFunc(blocks, func(b outline.Block) bool {
				return b.Name == names[i] && !b.Local && (b.Callable() || b.Kind == "type")
			})
			if at < 0 || len(all) == maxCalled {
				continue
			}
			b := blocks[at]
			if _, changed := f.change.added[file][b.Start]; changed {
				continue // it is in the patches
			}
			start := b.Start
			for start > 1 && b.Start-start < 6 && comment.MatchString(lines[start-2]) {
				start--
			}
			c := Called{Path: file, Start: start, Title: b.Title()}
			for _, line := range lines[start-1 : min(b.End, start-1+maxDefinition)] {
				c.Lines = append(c.Lines, clip(strings.TrimRight(line, "\r"), maxText))
			}
			if b.End > start-1+maxDefinition {
				c.Lines = append(c.Lines, "…")
			}
			all = append(all, c)
		}
	})
	slices.SortFunc(all, func(a, b Called) int {
		if a.Path != b.Path {
			return strings.Compare(a.Path, b.Path)
		}
		return a.Start - b.Start
	})
	return all, err
}

// nearest is the file of the same language that a call in a file most likely means; -1 where
// several are equally near.
func (f *finder) nearest(caller string, holding []int) int {
	best, score, tied := -1, -1, false
	count := 0
	for _, entry := range holding {
		p := f.index.entries[entry].Path
		if family(p) != family(caller) || f.kind(p) == "test" && f.kind(caller) != "test" {
			continue
		}
		count++
		near := 0
		switch {
		case p == caller:
			near = 3
		case path.Dir(p) == path.Dir(caller):
			near = 2
		case strings.HasPrefix(p, path.Dir(path.Dir(caller))+"/"):
			near = 1
		}
		if near == score {
			tied = true
		} else if near > score {
			best, score, tied = entry, near, false
		}
	}
	if tied || count > ambiguous && score < 2 {
		return -1
	}
	return best
}
