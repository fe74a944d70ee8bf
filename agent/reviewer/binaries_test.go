package reviewer

import (
	"context"
	"testing"

	"touchstone/verdict"
	"touchstone/worktree"
	"touchstone/worktree/diff"
)

// huge is a repository whose files are too large to be read.
type huge struct{ unread }

func (huge) Sides(_ context.Context, d diff.Diff, wanted func(string) bool, _ int64) ([]worktree.Sides, error) {
	var sides []worktree.Sides
	for _, f := range d.Files {
		if wanted(f.Path) {
			sides = append(sides, worktree.Sides{Path: f.Path, Unread: true})
		}
	}
	return sides, nil
}

func TestWhatCannotBeLookedIntoIsHeld(t *testing.T) {
	s := Subject{Checkout: Checkout{Files: huge{}, Diff: diff.Diff{Files: []diff.File{
		{Path: "a.bin", Status: "added", Binary: true}, {Path: "notes.txt", Status: "added"},
		{Path: "lib", Status: "modified", Submodule: true, OldMode: "160000", NewMode: "160000", NewBlob: "0123abc"},
		{Path: "gone", Status: "deleted", Submodule: true, OldMode: "160000", NewMode: "000000"},
	}}}}
	scan, err := scanned(t.Context(), s)
	holds := scan.holds
	if err != nil || len(holds) != 2 {
		t.Fatalf("%+v, %v; want two", holds, err)
	}
	for i, want := range []string{"lib", "a.bin"} {
		if holds[i].Kind != verdict.HiddenText || holds[i].Path != want {
			t.Errorf("%+v, want %s held", holds[i], want)
		}
	}
}
