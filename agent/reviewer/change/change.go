// Package change owns what is understood of a change before a model sees it: which of its
// files no person wrote by hand, how much it puts at risk, how it is written down for a
// session to read with the numbers of its lines, and in which order and in how many parts.
//
// It stores the files of one session below a directory that its caller names and removes:
//
//	overview.md    every file of the change, the shared context of all parts
//	0001.patch     the first changed files' diffs, with the numbers of old and new lines
//	0002.patch     how they go on
//
// No name in that directory comes from the change.
package change

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"touchstone/guidelines"
	"touchstone/worktree/diff"
)

// Source is what a change is understood from.
type Source struct {
	Diff diff.Diff
	// Checkout is a directory that holds the head. Files are read below it and nowhere else,
	// even if links point out of it.
	Checkout string
	// Dir is an empty directory for the files that a session reads.
	Dir string
	// Sensitive are files of which any change is of tier Full, and Skip those that no session
	// is shown, both besides the ones that this package knows. The zero Scope is none.
	Sensitive, Skip guidelines.Scope
}

// Change is a change as a review takes it.
type Change struct {
	// Files are to be read, in this order: a file after those of the change that it imports,
	// where there are several parts, and by name where there is one.
	Files []File
	// LeftOut are in no part, since programs wrote them.
	LeftOut []LeftOut
	Tier    Tier
	// Lines are those added and deleted in Files.
	Lines int
	// Why says what makes it of that tier, as a phrase for people.
	Why string
	// Parts are Files in pieces, each for one turn of the session. There is at least one
	// unless there are no files.
	Parts [][]File
	// Overview is the file that lists everything, for all parts.
	Overview string
	// Truncated says that a kept file's diff could not be written down whole.
	Truncated bool
}

// File is one changed file to be read.
type File struct {
	diff.File
	// Patches are the files that hold its diff, in order; none where there are no lines to read.
	// Small files share one.
	Patches []string
	// Note says what its lines do not: that it is binary, a link, another commit of a
	// submodule. It is empty for an ordinary file, and holds nothing that a stranger wrote.
	Note string

	rows []byte // its diff with numbers, until it is written
	size int    // bytes of these
}

// Size is how much there is to read in its patches, in bytes.
func (f File) Size() int { return f.size }

// LeftOut is a changed file that no session is shown, and why.
type LeftOut struct {
	diff.File
	// Reason is a phrase for people, such as "lock file".
	Reason string
}

// Tier is how much a change puts at risk. It decides the model, its effort and its time.
type Tier string

// The tiers. Lines are those added and deleted in files that are read. What a line touches
// counts for more than their number.
const (
	Trivial Tier = "trivial" // at most 10 lines in at most 20 files
	Lite    Tier = "lite"    // at most 100 lines in at most 20 files, or documents; or a condition, say
	Full    Tier = "full"    // anything larger or sensitive: locks, transactions, rights, a check that goes
)

// Budget is the part of a full review's time that a review of this tier may take.
func (t Tier) Budget(full time.Duration) time.Duration {
	switch t {
	case Trivial:
		return full / 5
	case Lite:
		return full / 2
	}
	return full
}

// Understand sorts a change's files, weighs it, and writes it down below s.Dir.
func Understand(ctx context.Context, s Source) (Change, error) {
	checkout, err := os.OpenRoot(s.Checkout)
	if err != nil {
		return Change{}, fmt.Errorf("open the checkout: %w", err)
	}
	defer checkout.Close()
	c := sift(s, checkout)
	for _, f := range c.Files {
		c.Lines += f.Added + f.Deleted
	}
	c.Tier, c.Why = weigh(s, c)
	room := maxWider
	for i := range c.Files {
		if err := ctx.Err(); err != nil {
			return Change{}, err
		}
		c.Truncated = c.Truncated || c.Files[i].Truncated
		room -= c.Files[i].number(checkout, room)
	}
	c.split(checkout)
	if err = c.write(s.Dir); err != nil {
		return Change{}, fmt.Errorf("write the change down: %w", err)
	}
	if c.Overview, err = c.overview(s.Dir); err != nil {
		return Change{}, fmt.Errorf("write the change down: %w", err)
	}
	return c, ctx.Err()
}

// write writes the diffs of all parts down. No patch file holds files of two parts.
func (c *Change) write(dir string) error {
	w := patches{dir: dir}
	c.Files = c.Files[:0:0]
	for _, part := range c.Parts {
		for i := range part {
			if err := w.add(&part[i]); err != nil {
				return err
			}
		}
		if err := w.flush(); err != nil {
			return err
		}
		c.Files = append(c.Files, part...)
	}
	return nil
}

// Spell writes a path on one line without anything that could be taken for more than a path.
// It returns most paths as they are.
func Spell(path string) string {
	if quoted := strconv.Quote(path); quoted != `"`+path+`"` || strings.ContainsAny(path, "<>`|") {
		return strings.NewReplacer("<", `\u003c`, ">", `\u003e`, "`", `\u0060`, "|", `\u007c`).Replace(quoted)
	}
	return path
}
