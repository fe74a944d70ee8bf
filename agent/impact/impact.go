// Package impact makes the impact sheet. For each name that a change touches (a function, a field, a route, a
// setting or a file) the sheet lists the places outside of the change that use it, the places that still
// refer to what the change removes, and who else reads and writes the fields that its lines touch. The
// package reads the text of the head and runs nothing: no build tool, and no configuration of the change.
// Package golang resolves names of Go. The sheet is therefore a list of places to look at, not a proof that
// there are no others.
//
// The package stores an index of the words of files at a path that its caller names; see readIndex.
package impact

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"touchstone/agent/bounded"
	"touchstone/agent/impact/golang"
	"touchstone/verdict"
	"touchstone/worktree"
	"touchstone/worktree/diff"
)

// Files reads the files of a change and of its head. A worktree.Tree is one.
type Files interface {
	List(ctx context.Context, rev string) ([]worktree.Entry, error)
	Contents(ctx context.Context) *worktree.Contents
}

// Source is the input of a sheet.
type Source struct {
	Diff  diff.Diff
	Files Files
	// Index is the path at which information about files is stored for the next sheet; empty stores nothing.
	Index string
	// Bounds are what determining the types in Go files may take.
	Bounds bounded.Bounds
}

// Sheet says who uses what a change touches.
type Sheet struct {
	// Names are the names that the change touches, the most important first: what it removes, then what it
	// changes for users, then what changes internally.
	Names []Name `json:"names"`
	// Undefined are names of Go in added lines that this repository does not define where they say.
	Undefined []Undefined `json:"undefined,omitempty"`
	// Called are the definitions of the names that changed lines, and lines beside them, use; Several are
	// used names with several definitions.
	Called  []Code    `json:"called,omitempty"`
	Several []Several `json:"several,omitempty"`
	// Around are the functions around the places of Names.
	Around []Code `json:"around,omitempty"`
	// Alike is code elsewhere that looks like removed lines.
	Alike []Alike `json:"alike,omitempty"`
	// Graph holds the notes of the repository's own product graph about what the change touches.
	Graph []Note `json:"graph,omitempty"`
	// Imports are the imports of the changed files that changed lines use.
	Imports []Import `json:"imports,omitempty"`
	// Unseen says, in sentences, what was not searched.
	Unseen []string `json:"unseen,omitempty"`
}

// Name is something that a change touches and that others can refer to.
type Name struct {
	// Kind is the kind of an outline.Block, or file, route, flag, variable (of the environment), setting,
	// column, table, topic, metric, or name for any other name in a string.
	Kind string `json:"kind"`
	Name string `json:"name"`
	// In is the type to which the name belongs.
	In string `json:"in,omitempty"`
	// Path and Line are its position, or its former position.
	Path string `json:"path"`
	Line int    `json:"line,omitempty"`
	// How says how the name changed.
	How How `json:"how"`
	// To is its new name if it was renamed.
	To string `json:"to,omitempty"`
	// Places are its uses, the most useful first; More counts the uses left out.
	Places []Place `json:"places"`
	More   int     `json:"more,omitempty"`
	// Also are further lines with the word, which most likely mean something else or do the same; without line
	// numbers for a file that was not searched. Apart counts the files in which it cannot be meant, for their
	// language or package. If More and Apart are 0 and all of Also has line numbers, there is no other line with
	// the word outside of the change.
	Also  []Position `json:"also,omitempty"`
	Apart int        `json:"apart,omitempty"`

	// Text is the line that defines a constant, a variable or a field.
	Text string `json:"text,omitempty"`

	weight      int // for a field: how much of the change is about it
	first, last int // the lines of its definition, and of the comment above it
	// hidden is "file" or "package" if no code outside of that can use it.
	hidden string
	// word is a name of one word, without dashes. Only places that have it in its role are uses of it; others
	// says that there are further lines with the word, and common that it is in too many files to be searched.
	word           string
	others, common bool
}

// old reports whether Path and Line refer to the file before the change.
func (n Name) old() bool { return n.How == Removed || n.How == Renamed || n.How == Dropped }

// How is what a change does to a name, ordered by how much it concerns others.
type How int

// The kinds of change.
const (
	Removed How = iota
	Renamed
	Signature // or a type, a constant: something on which its users rely
	Body
	Added
	Dropped // a name that only removed lines used
	Touched // an unchanged field that changed lines read or write
)

var hows = [...]string{"removed", "renamed", "signature changed", "body changed", "added", "no longer used", "touched"}

func (h How) String() string { return hows[h] }

// MarshalText formats it as a word.
func (h How) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// Position is some lines of a file.
type Position struct {
	Path  string `json:"path"`
	Lines []int  `json:"lines,omitempty"`
}

// Place is a line that uses a name.
type Place struct {
	Path string `json:"path"`
	Line int    `json:"line"`
	// What says what the line does: calls, uses, reads, writes, defines, extends, imports, or that the name
	// is in a string, a comment, a document, a configuration, CI; with the prefix "test: " in a test.
	What string `json:"what"`
	// Function is the enclosing function; empty if there is none.
	Function string `json:"function,omitempty"`
	// Text is the line.
	Text string `json:"text"`

	rank int
}

// Several is a name that changed lines use and several files define, if it is unknown which one is meant: the
// nearest files, and how many more.
type Several struct {
	Name  string   `json:"name"`
	Paths []string `json:"paths"`
	More  int      `json:"more,omitempty"`
}

// Make makes the sheet of a change. Unusual content in the change can confuse the readers; Make then returns
// an error instead of a panic.
func Make(ctx context.Context, s Source) (made Sheet, err error) {
	defer func() {
		if trouble := recover(); trouble != nil {
			made, err = Sheet{}, fmt.Errorf("the change confuses what reads it: %v", trouble)
		}
	}()
	contents := s.Files.Contents(ctx)
	defer contents.Close()
	sides, err := contents.Sides(s.Diff, func(string) bool { return true }, maxFile)
	if err != nil {
		return Sheet{}, err
	}
	var sheet Sheet
	c := understand(s.Diff, sides)
	unseen := func(number int, format string, args ...any) {
		if number > 0 {
			sheet.Unseen = append(sheet.Unseen, fmt.Sprintf(format, args...))
		}
	}
	unseen(c.unread, "%s too large to be read, or no text.", verdict.Amount(c.unread, "changed file is", "changed files are"))
	unseen(c.foreign, "The language of %s (%s) is not read: search for who uses what is defined there.",
		verdict.Amount(c.foreign, "changed file", "changed files"), strings.Join(slices.Sorted(maps.Keys(c.foreignEnds)), ", "))
	for _, name := range c.broken[:min(len(c.broken), maxBroken)] {
		sheet.Unseen = append(sheet.Unseen, fmt.Sprintf("%s does not parse: its definitions are read off its indentation.", name))
	}
	unseen(len(c.broken)-maxBroken, "%d more changed files do not parse.", len(c.broken)-maxBroken)
	unseen(c.passed, "What the lines of %d more changed files use is not looked up.", c.passed)
	if more := len(c.names) - maxNames; more > 0 {
		unseen(more, "%d more changed names are not looked up, %s the first.", more, c.names[maxNames].Name)
		c.names = c.names[:maxNames]
	}
	sheet.Unseen = append(sheet.Unseen, c.unfollowed()...)
	program := golang.New()
	program.Bounds = s.Bounds
	defer program.Close()
	if len(c.golang) > 0 {
		program.Start(ctx) // while the index is read
	}
	x, left, err := readIndex(ctx, s.Files, contents, s.Diff.Head, s.Index, c.added)
	if err != nil {
		return Sheet{}, err
	}
	unseen(left, "Only %d files of the repository were searched, and %d not.", maxFiles, left)
	unseen(x.long, "%s of the repository with more than %d KiB: not searched.", verdict.Amount(x.long, "file", "files"), maxFile>>10)
	x.program(program, contents)
	f := finder{program: program, change: c, index: x, contents: contents, kinds: map[string]string{}}
	sheet.Imports = c.imports
	if err = f.fields(ctx); err != nil {
		return sheet, err
	}
	sheet.Undefined = f.undefined(left)
	if sheet.Names, err = f.uses(ctx); err != nil {
		return sheet, err
	}
	if sheet.Called, sheet.Several, err = f.called(); err != nil {
		return sheet, err
	}
	if sheet.Around, err = f.around(sheet.Names, sheet.Called); err != nil {
		return sheet, err
	}
	if sheet.Alike, err = f.alike(); err != nil {
		return sheet, err
	}
	sheet.Graph, err = f.notes()
	sheet.Unseen = append(sheet.Unseen, f.unseen...)
	passed := program.Passed()
	unseen(passed, "%s of Go: not read for their types, for their number or size.", verdict.Amount(passed, "file", "files"))
	why := program.Untyped()
	unseen(len(why), "Types in Go files are unknown, so what they use is told by names alone: determining them %s.", why)
	if err == nil {
		err = ctx.Err()
	}
	return sheet, err
}

const (
	// maxNames bounds the names that are searched for.
	maxNames = 200
	// maxBroken bounds the listed files that do not parse.
	maxBroken = 4
)
