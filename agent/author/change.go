package author

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"

	"touchstone/worktree/diff"
)

// names returns an identifier for a change, and one for the change that would revert it. They depend on the
// changed lines only and not on their position, so that a revert is recognised even after other changes to
// the files.
func names(d diff.Diff) (change, undoes string) {
	there, back := sha256.New(), sha256.New()
	files := slices.SortedFunc(slices.Values(d.Files), func(a, b diff.File) int { return cmp.Compare(a.Path, b.Path) })
	for _, f := range files {
		removed, added := f.OldBlob, f.NewBlob
		if !f.Binary {
			removed, added = sides(f.Patch)
		}
		old := cmp.Or(f.OldPath, f.Path)
		describe(there, old, f.Path, removed, added)
		describe(back, f.Path, old, added, removed)
	}
	return hex.EncodeToString(there.Sum(nil)[:8]), hex.EncodeToString(back.Sum(nil)[:8])
}

func describe(w io.Writer, from, to, removed, added string) {
	fmt.Fprintf(w, "%q %q %q %q\n", from, to, removed, added)
}

// sides are the lines that a patch removes, and those that it adds.
func sides(patch []byte) (removed, added string) {
	var minus, plus strings.Builder
	for l := range diff.Lines(patch) {
		switch l.Sign {
		case '-':
			minus.Write(l.Text())
			minus.WriteByte('\n')
		case '+':
			plus.Write(l.Text())
			plus.WriteByte('\n')
		}
	}
	return minus.String(), plus.String()
}
