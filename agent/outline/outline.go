// Package outline finds what a source file defines, and in which lines. It parses Go. For other languages it
// knows how definitions begin and that blocks are indented, which is enough to show a reader the function
// around a line. It runs nothing and stores nothing.
package outline

import (
	"slices"
	"strings"

	"touchstone/worktree/filekind"
)

// Block is one definition of a file. Lines count from 1.
type Block struct {
	// Kind is func, method, type, field, const, var or module.
	Kind string
	Name string
	// In is the type or module to which the block belongs; empty at the top level of a file.
	In string
	// Start is the line that defines the block, Body the last line of its head (such as a function's
	// signature), and End its last line.
	Start, Body, End int
	// Local says that the block is within a function.
	Local bool
}

// Lines returns how many lines a block has.
func (b Block) Lines() int { return b.End - b.Start + 1 }

// Title returns the title of a block for people: its kind, and its name with what it belongs to.
func (b Block) Title() string {
	name := b.Name
	if b.In != "" {
		name = b.In + "." + name
	}
	return b.Kind + " " + name
}

// Callable reports whether a block is a function or a method.
func (b Block) Callable() bool { return b.Kind == "func" || b.Kind == "method" }

// Of lists the definitions of a file, ordered by their first lines; a nested block follows the block around
// it. The file's name determines the language. The list is empty for a language without definitions, or one
// that this package does not know.
func Of(name string, text []byte) []Block {
	if strings.HasSuffix(name, ".go") {
		if blocks, ok := ofGo(text); ok {
			return blocks
		}
	}
	if !Knows(name) {
		return nil
	}
	return indented(name, lines(text))
}

// Broken reports whether a file should parse but does not: its definitions are then found by indentation.
func Broken(name string, text []byte) bool {
	if !strings.HasSuffix(name, ".go") || text == nil {
		return false
	}
	_, ok := ofGo(text)
	return !ok
}

// Knows reports whether this package knows how a file's language writes definitions, according to the file's
// name.
func Knows(name string) bool { return filekind.LanguageOf(name) != "" }

// Innermost returns the smallest wanted block that contains a line.
func Innermost(blocks []Block, line int, wanted func(Block) bool) (b Block, ok bool) {
	for _, each := range blocks {
		if each.Start <= line && line <= each.End && wanted(each) && (!ok || each.Lines() <= b.Lines()) {
			b, ok = each, true
		}
	}
	return b, ok
}

// ByLine returns a function that returns what Innermost does, for any number of lines: it goes through the blocks only once.
func ByLine(blocks []Block, wanted func(Block) bool) func(line int) (Block, bool) {
	var order []int // the largest block first; of two of the same size, the later one is the innermost
	last := 0
	for i, b := range blocks {
		if wanted(b) {
			order, last = append(order, i), max(last, b.End)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return blocks[b].Lines() - blocks[a].Lines() })
	innermost := make([]int, last+1) // by line: the index of the block, plus 1
	for at, i := range order {
		if next := order[min(at+1, len(order)-1)]; next != i && blocks[next].Start == blocks[i].Start && blocks[next].End == blocks[i].End {
			continue // as of a list of names, all of which have its lines
		}
		for line := max(blocks[i].Start, 0); line <= blocks[i].End; line++ {
			innermost[line] = i + 1
		}
	}
	return func(line int) (Block, bool) {
		if line < 0 || line > last || innermost[line] == 0 {
			return Block{}, false
		}
		return blocks[innermost[line]-1], true
	}
}

// lines splits a text into lines as an editor counts them.
func lines(text []byte) []string {
	return strings.Split(strings.TrimSuffix(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n"), "\n")
}
