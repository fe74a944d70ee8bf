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

// names gives a change a name, and the change that would take it back. They depend on
// the lines alone, not on their place in a file, so that work which is undone later
// is recognised although the files have moved on.
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

// sides are the lines that a patch takes away, and those that it adds.
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
