// Package outline owns what a source file defines, and from which line to which. Go is
// parsed; of other languages it knows how definitions begin and that blocks are indented,
// which is enough to show a reader the function around a line. It runs nothing and stores
// nothing.
package outline

import (
	"path"
	"slices"
	"strings"
)

// Block is one definition of a file. Lines count from 1.
type Block struct {
	// Kind is func, method, type, field, const, var or module.
	Kind string
	Name string
	// In is the type or module that it belongs to; empty at the top of a file.
	In string
	// Start is the line that defines it, Body the last one of its head, the signature of a
	// function for one, and End its last.
	Start, Body, End int
	// Local says that it stands within a function.
	Local bool
}

// Lines is how many lines a block has.
func (b Block) Lines() int { return b.End - b.Start + 1 }

// Title is the name of a block as people write it: its kind, and what it belongs to.
func (b Block) Title() string {
	name := b.Name
	if b.In != "" {
		name = b.In + "." + name
	}
	return b.Kind + " " + name
}

// Callable reports whether a block is a function or a method.
func (b Block) Callable() bool { return b.Kind == "func" || b.Kind == "method" }

// Of lists what a file defines, in the order of the first lines; a block within another one
// follows it. The name tells the language. It is nothing for a language that has no
// definitions, or none that this package knows.
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

// Broken reports whether a file should parse and does not: then its definitions are read off
// its indentation.
func Broken(name string, text []byte) bool {
	if !strings.HasSuffix(name, ".go") || text == nil {
		return false
	}
	_, ok := ofGo(text)
	return !ok
}

// Knows reports whether this package knows how a language writes its definitions, by a file's name.
func Knows(name string) bool { return slices.Contains(known, strings.ToLower(path.Ext(name))) }

var known = strings.Fields(`.go .py .pyi .rb .rake .js .jsx .cjs .mjs .ts .tsx .cts .mts .vue .svelte .java .kt .kts .scala .groovy .cs
	.rs .swift .php .c .h .cc .cpp .cxx .hpp .hh .m .mm .dart .lua .ex .exs .sh .bash .proto .graphql .sql`)

// Innermost is the smallest of the blocks that hold a line and that are wanted.
func Innermost(blocks []Block, line int, wanted func(Block) bool) (b Block, ok bool) {
	for _, each := range blocks {
		if each.Start <= line && line <= each.End && wanted(each) && (!ok || each.Lines() <= b.Lines()) {
			b, ok = each, true
		}
	}
	return b, ok
}

// lines splits a text as an editor counts its lines.
func lines(text []byte) []string {
	all := strings.Split(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n")
	if n := len(all); n > 0 && all[n-1] == "" {
		all = all[:n-1]
	}
	return all
}
