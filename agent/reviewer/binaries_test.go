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

// moved is a repository in which every file has one content, before and after.
type moved struct {
	unread
	content []byte
}

func (m moved) Sides(_ context.Context, d diff.Diff, wanted func(string) bool, _ int64) ([]worktree.Sides, error) {
	var sides []worktree.Sides
	for _, f := range d.Files {
		if wanted(f.Path) {
			sides = append(sides, worktree.Sides{Path: f.Path, OldPath: f.OldPath, Before: m.content, After: m.content})
		}
	}
	return sides, nil
}

// What was evidence among the data of tests is held when it moves to where it may be executed, and a picture that becomes
// executable or something else is evidence; what needed a person there already, and text, may move.
func TestWhatLeavesTheTestsIsHeld(t *testing.T) {
	const zip, gif, text, plain, program = "PK\x03\x04\x14\x00\x00\x00", "GIF89a=1;\x00", "a\n", "100644", "100755"
	for name, tc := range map[string]struct {
		from, to      string
		before, after string
		content       string
		want, doubted int
	}{
		"an archive leaves the tests":    {"tests/a.jar", "lib/a.jar", plain, plain, zip, 1, 0},
		"and moves among them":           {"tests/a.jar", "tests/b/a.jar", plain, plain, zip, 0, 0},
		"a program of a test runs":       {"tests/tool", "tests/tool", plain, program, zip, 1, 0},
		"and ran before":                 {"tests/tool", "tests/b/tool.bin", program, program, zip, 0, 0},
		"a picture becomes code":         {"web/a.gif", "web/a.js", plain, plain, gif, 1, 0},
		"a file becomes a makefile":      {"tests/tool", "tests/Makefile", plain, plain, zip, 1, 0},
		"an archive moves that was held": {"lib/a.jar", "lib/a.zip", plain, plain, zip, 0, 0},
		"a text leaves the tests":        {"tests/a.md", "docs/a.md", plain, plain, text, 0, 0},
		"a picture runs":                 {"docs/a.gif", "docs/a.gif", plain, program, gif, 0, 1},
		"a picture runs elsewhere":       {"docs/a.gif", "hooks/a.gif", plain, program, gif, 0, 1},
		"and runs no longer":             {"docs/a.gif", "docs/a.gif", program, plain, gif, 0, 0},
		"and is called something else":   {"docs/a.gif", "docs/a.bin", plain, plain, gif, 0, 1},
	} {
		file := diff.File{Path: tc.to, OldPath: tc.from, Status: "renamed", OldMode: tc.before, NewMode: tc.after, OldBlob: "1", NewBlob: "1"}
		c := Checkout{Files: moved{content: []byte(tc.content)}, Diff: diff.Diff{Files: []diff.File{file}}}
		_, holds, doubted, err := c.binaries(t.Context())
		if err != nil || len(holds) != tc.want || len(doubted) != tc.doubted {
			t.Errorf("%s: %+v, %+v, %v; want %d and %d", name, holds, doubted, err, tc.want, tc.doubted)
		}
	}
}
