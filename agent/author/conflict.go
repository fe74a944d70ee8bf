package author

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"touchstone/worktree"
	"touchstone/worktree/diff"
	"touchstone/worktree/filekind"
)

const (
	// maxSides bounds how much is shown of the sides of all conflicts together. minSide is how much of each
	// side is shown at least, while there is room. Both are in bytes.
	maxSides = 60_000
	minSide  = 2_000
)

// conflict is a file that git could not merge, with the changes of the branch and of the base since their
// merge-base, as patches.
type conflict struct {
	path         string
	branch, base []byte
	// unmarked says that the file has no conflict markers.
	unmarked bool
	// chosen says that it is a lock file in which the branch chose other versions.
	chosen bool
}

// parted are the conflicts in files, with what both sides changed there.
func parted(ctx context.Context, tree *worktree.Tree, branch, base string, paths, unmarked []string) ([]conflict, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	ours, theirs, err := tree.SinceParted(ctx, branch, base)
	if err != nil {
		return nil, err
	}
	patch := func(d diff.Diff, name string) []byte {
		var text []byte
		for _, f := range d.Files {
			if f.Path == name || f.OldPath == name {
				text = append(text, f.Patch...)
			}
		}
		return text
	}
	var conflicts []conflict
	for _, name := range paths {
		conflicts = append(conflicts, conflict{path: name, branch: patch(ours, name), base: patch(theirs, name),
			unmarked: slices.Contains(unmarked, name)})
	}
	return conflicts, nil
}

func (b brief) askConflicts(p *strings.Builder) {
	if len(b.conflicts) == 0 {
		return
	}
	p.WriteString("\n# Conflicts with the base\n\nThese files hold conflict markers with both sides and their common ancestor. Resolve " +
		"them so that both intentions survive:\n")
	for _, c := range b.conflicts {
		fmt.Fprintf(p, "- %q", c.path)
		if c.unmarked {
			p.WriteString(" (without markers, since one side deleted or renamed it, or it is merged as a whole: delete it, or write what it " +
				"shall hold)")
		}
		switch {
		case c.chosen:
			p.WriteString(" (a lock file that the branch changes, and none of the files from which it is made: keep to the base's side, and keep " +
				"the versions that the branch chose)")
		case filekind.Lock(c.path):
			p.WriteString(" (a lock file whose tool is not installed here, or fails: keep to the base's side, and add only what the branch's own " +
				"dependencies need)")
		}
		p.WriteString("\n")
	}
	b.showSides(p)
}

// showSides shows what each side changed in the conflicting files, and says where to find the rest.
func (b brief) showSides(p *strings.Builder) {
	p.WriteString("\nWhat the branch and its base have each changed in them since they parted:\n")
	most := min(max(maxSides/(2*len(b.conflicts)), minSide), maxText)
	before, left := p.Len(), 0
	for i, c := range b.conflicts {
		for _, side := range c.sides() {
			switch {
			case len(side.patch) == 0:
			case p.Len()-before >= maxSides:
				left++
			default:
				b.quote(p, fmt.Sprintf("what the %s changed in %s", side.whose, c.path), string(side.patch), most)
				if len(side.patch) > most {
					fmt.Fprintf(p, "\nThe whole of it is in %s.\n", filepath.Join(b.sidesDir, side.file(i)))
				}
			}
		}
	}
	if left > 0 {
		fmt.Fprintf(p, "\n%d more of these are in %s, numbered by the list of files above.\n", left, b.sidesDir)
	}
}

// side is what one side changed in a file.
type side struct {
	whose string
	patch []byte
}

func (c conflict) sides() []side { return []side{{"branch", c.branch}, {"base", c.base}} }

// file is the name of the file that holds this side of conflict i, counted from 0 in the list.
func (s side) file(i int) string { return fmt.Sprintf("%d-%s.diff", i+1, s.whose) }

// laySides writes the sides of the conflicts to a directory outside the worktree, so that the session can
// read them but does not find them when it searches the worktree. [repair.clear] removes the directory.
func (r *repair) laySides() error {
	dir, err := os.MkdirTemp(r.author.TempDir, "conflicts-")
	if err == nil {
		r.brief.sidesDir, err = filepath.Abs(dir)
	}
	for i, c := range r.brief.conflicts {
		for _, side := range c.sides() {
			if err == nil {
				err = os.WriteFile(filepath.Join(r.brief.sidesDir, side.file(i)), side.patch, 0o600)
			}
		}
	}
	if err != nil {
		return fmt.Errorf("show both sides of the conflicts: %w", err)
	}
	return nil
}

// clear removes the files that were written for the session outside the worktree.
func (r *repair) clear() {
	if r.brief.sidesDir != "" {
		os.RemoveAll(r.brief.sidesDir)
	}
}
