package change

import (
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"touchstone/agent/outline"
	"touchstone/guidelines"
	"touchstone/verdict/guard/code"
	"touchstone/worktree/diff"
	"touchstone/worktree/lazyregexp"
)

// publicAPI are files in which changed lines declare what others use, and descriptions of interfaces.
var publicAPI = scope("public-api !tests")

// declaration is a public declaration that changed lines are part of.
type declaration struct {
	file string
	// in is the type around it, as far as the outline shows it.
	in string
	// words are its tokens up to its body or its value.
	words []string
}

// published returns the first file in which a public declaration is touched, and the tier of that: Full if one is gone,
// or is there in a form that can break those who use it. The head may declare it in another file of the change.
func published(files []File, checkout *os.Root) (name, what string, tier Tier) {
	var gone, there []declaration
	tier = Trivial
	for _, f := range files {
		if !about(publicAPI, f.File) {
			continue
		}
		if name == "" {
			name, what, tier = f.Path, "a public declaration", Lite
		}
		old, now := declarationsOf(f.File, checkout)
		gone, there = append(gone, old...), append(there, now...)
	}
	for _, d := range gone {
		if !slices.ContainsFunc(there, d.stays) {
			return d.file, "a public declaration: one is gone, or has another form", Full
		}
	}
	return name, what, tier
}

// declarationsOf returns the public declarations of both sides of a file that changed lines are part of; none if it is
// not certain what is code.
func declarationsOf(f diff.File, checkout *os.Root) (old, now []declaration) {
	var head []byte
	if f.Status != "deleted" {
		var err error
		if head, err = read(checkout, f.Path, maxSource); err != nil {
			return nil, nil
		}
	}
	base, removed, added, ok := undo(string(head), f.Patch)
	if !ok || f.Truncated {
		return nil, nil
	}
	return declaredIn(f.OldPath, base, removed), declaredIn(f.Path, string(head), added)
}

// Limits that only a file made to be slow reaches: of the tokens and the lines of a signature, and of the declarations
// in a file that at most 100 changed lines are part of.
const (
	longSignature    = 400
	manyDeclarations = 2 * liteLines
)

// program matches the beginning of a Go file that nobody can import.
var program = lazyregexp.New(`(?m)^package main\b`)

// declaredIn returns the public declarations of a file that the changed lines are part of. What is declared within a
// function is not public.
func declaredIn(name, text string, changed map[int]bool) (all []declaration) {
	tokens := code.Tokens(name, text)
	if len(changed) == 0 || tokens == nil || strings.HasSuffix(name, ".go") && program.MatchString(text) {
		return nil
	}
	slices.SortStableFunc(tokens, func(a, b code.Token) int { return a.Line - b.Line })
	lines, blocks := strings.Split(text, "\n"), outline.Of(name, []byte(text))
	sorted := slices.Sorted(maps.Keys(changed))
	seen := 0
	for i, t := range tokens {
		next, _ := slices.BinarySearch(sorted, t.Line)
		if next == len(sorted) || sorted[next] > t.Line+longSignature || i > 0 && tokens[i-1].Line == t.Line || t.Line > len(lines) ||
			!guidelines.Declares(name, []byte(lines[t.Line-1])) {
			continue
		}
		words, last := signature(name, tokens[i:])
		if sorted[next] > last {
			continue
		}
		if seen++; seen > manyDeclarations {
			break
		}
		inside := func(b outline.Block) bool { return b.Start < t.Line }
		function, local := outline.Innermost(blocks, t.Line, func(b outline.Block) bool { return inside(b) && b.Callable() })
		if local && function.Body < t.Line {
			continue
		}
		around, _ := outline.Innermost(blocks, t.Line, func(b outline.Block) bool { return inside(b) && b.Kind == "type" })
		if strings.HasSuffix(name, ".go") && (around.Name != "" && !guidelines.Declares(name, []byte(lines[around.Start-1])) ||
			hiddenReceiver.MatchString(lines[t.Line-1])) {
			continue
		}
		all = append(all, declaration{name, around.Name, words})
	}
	return all
}

var (
	// hiddenReceiver matches a method of a Go type that other packages cannot name.
	hiddenReceiver = lazyregexp.New(`^func \(\s*(?:\w+\s+)?\*?[a-z_]\w*(?:\[[^\]]*\])?\)`)
	// macro matches the name and the parameters of a macro.
	macro = lazyregexp.New(`^#\s*define\s+\w+(?:\([^)]*\))?`)
)

// signature returns the tokens of the declaration that begins with the first one, up to its body, its value or the end of
// its line, and its last line. A list of names in braces belongs to it. What no caller notices does not: Python's
// annotation of a result, and "async" in C#, whose result says the same.
func signature(name string, tokens []code.Token) (words []string, last int) {
	depth, ext := 0, path.Ext(name)
	for i, t := range tokens[:min(len(tokens), longSignature)] {
		if i == 0 && strings.HasPrefix(t.Text, "#") {
			if head := macro.FindString(t.Text); head != "" {
				return []string{head}, t.Line
			}
		}
		if i > 0 && depth == 0 {
			before := tokens[i-1]
			list := t.Text == "{" && (before.Text == "export" || before.Text == ":" || before.Text == "::")
			if t.Line > before.Line || !list && (t.Text == "{" || t.Text == "=" || t.Text == ";" || t.Text == "=>") ||
				ext == ".py" && (t.Text == "->" || t.Text == ":") {
				break
			}
		}
		if t.Text == "async" && ext == ".cs" {
			continue
		}
		switch t.Text {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			depth--
			if n := len(words); n > 0 && words[n-1] == "," { // a comma at the end says nothing
				words = words[:n-1]
			}
		}
		words, last = append(words, t.Text), t.Line
	}
	return words, last
}

// stays reports whether another declaration serves those who use this one: it says the same, has other names of
// parameters where no caller writes them, or has more, all of which can be left out.
func (d declaration) stays(now declaration) bool {
	if d.in != now.in {
		return false
	}
	var more []string
	at := 0
	for i, word := range now.words {
		switch {
		case at < len(d.words) && d.words[at] == word:
			at++
		case len(d.words) == len(now.words) && at == i && unwrittenName(now.file, d.words, i) && unwrittenName(now.file, now.words, i):
			at++
		default:
			more = append(more, word)
		}
	}
	optional := func(word string) bool { return word == "=" || word == "?" || word == "..." }
	return at == len(d.words) && (len(more) == 0 || slices.ContainsFunc(more, optional) || slices.Contains(d.words, "{"))
}

// unwrittenName reports whether a word of a signature is the name of a parameter in a language in which callers do not
// write it.
func unwrittenName(file string, words []string, i int) bool {
	if i == 0 || i == len(words)-1 || !word.MatchString(words[i]) {
		return false
	}
	before, after := words[i-1], words[i+1]
	begins, ends := before == "(" || before == ",", after == "," || after == ")"
	switch path.Ext(file) {
	case ".go":
		return begins && !ends && after != "."
	case ".rs", ".ts", ".tsx", ".mts", ".cts":
		return begins && (after == ":" || after == "?")
	case ".java", ".h", ".hh", ".hpp", ".hxx":
		return !begins && ends && (word.MatchString(before) || before == ">" || before == "]" || before == "*" || before == "&")
	}
	return false
}

var word = lazyregexp.New(`^\w+$`)
