// Package change analyses a change before a model sees it: which files were not written by hand, how risky the
// change is, how it is written for a session to read, with line numbers, and in which order and in how many
// parts.
//
// It stores the files of one session below a directory that its caller names and removes:
//
//	overview.md    every file of the change, the shared context of all parts
//	0001.patch     the first changed files' diffs, with the numbers of old and new lines
//	0002.patch     the diffs that follow
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

// Source is what Understand works on.
type Source struct {
	Diff diff.Diff
	// Checkout is a directory with the head. Files are read only below it, even if links point out of it.
	Checkout string
	// Dir is an empty directory for the files that a session reads.
	Dir string
	// Sensitive are files whose every change is of tier Full, and Skip are files that no session is shown,
	// both in addition to those that this package knows. The zero Scope matches no files.
	Sensitive, Skip guidelines.Scope
}

// Change is a change as a review sees it.
type Change struct {
	// Files are the files to read, in this order: by name if there is one part; if there are several, a file
	// comes after the changed files that it imports.
	Files []File
	// LeftOut are files that need no reading, such as lock files. They are in no part.
	LeftOut []LeftOut
	Tier    Tier
	// Lines counts the added and deleted lines in Files.
	Lines int
	// Why is the reason for the tier, as a phrase for people.
	Why string
	// Parts are Files in groups, each for one turn of the session. There is at least one part unless there
	// are no files.
	Parts [][]File
	// Overview is the file that lists everything, for all parts.
	Overview string
	// Truncated reports whether a file in Files has a diff that was too long to write completely.
	Truncated bool
}

// File is one changed file to read.
type File struct {
	diff.File
	// Patches are the files with its diff, in order; none if there are no lines to read. Small files share a
	// patch file.
	Patches []string
	// Note says what the lines do not show: that the file is binary, a link, or another commit of a
	// submodule. It is empty for an ordinary file, and contains no text from strangers.
	Note string

	rows []byte // its numbered diff, until it is written
	size int    // bytes of rows
}

// Size is the size of its patches, in bytes.
func (f File) Size() int { return f.size }

// LeftOut is a changed file that no session is shown, with the reason.
type LeftOut struct {
	diff.File
	// Reason is a phrase for people, such as "lock file".
	Reason string
}

// Tier is the risk of a change. It decides the model, the effort and the time.
type Tier string

// The tiers. Lines are the added and deleted lines in files that are read. The content of a line counts for
// more than the number of lines.
const (
	Trivial Tier = "trivial" // at most 10 lines in at most 20 files
	Lite    Tier = "lite"    // at most 100 lines in at most 20 files, or documents; or for example a condition, a public declaration
	Full    Tier = "full"    // anything larger or sensitive: locks, transactions, rights, a removed check, a public declaration that is gone
)

// Budget is the share of a full review's time that a review of this tier may take.
func (t Tier) Budget(full time.Duration) time.Duration {
	switch t {
	case Trivial:
		return full / 5
	case Lite:
		return full / 2
	}
	return full
}

// Reads is how many reads and searches, besides the sheet and the patches, a review of this tier has for a
// part. It is said to the session and not enforced: what settles a finding that blocks may take more.
func (t Tier) Reads() int {
	switch t {
	case Trivial:
		return 4
	case Lite:
		return 8
	}
	return 12
}

// Understand sorts a change's files, determines its tier, and writes it below s.Dir.
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
	c.Tier, c.Why = weigh(s, c, checkout)
	room := maxWider
	for i := range c.Files {
		if err := ctx.Err(); err != nil {
			return Change{}, err
		}
		c.Truncated = c.Truncated || c.Files[i].Truncated
		room -= c.Files[i].number(checkout, room)
	}
	c.split(checkout)
	if err = c.write(s.Dir); err == nil {
		c.Overview, err = c.overview(s.Dir)
	}
	if err != nil {
		return Change{}, fmt.Errorf("write the change down: %w", err)
	}
	return c, ctx.Err()
}

// write writes the diffs of all parts. No patch file contains files of two parts.
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

// Spell writes a path on one line, without anything that could be taken for more than a path. It returns most
// paths unchanged.
func Spell(path string) string {
	if quoted := strconv.Quote(path); quoted != `"`+path+`"` || strings.ContainsAny(path, "<>`|") {
		return strings.NewReplacer("<", `\u003c`, ">", `\u003e`, "`", `\u0060`, "|", `\u007c`).Replace(quoted)
	}
	return path
}
