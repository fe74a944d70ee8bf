package code

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	markdown "github.com/yuin/goldmark/text"

	"touchstone/verdict/guard/change"
)

// example is a block of code in the documentation of Rust code. rustdoc runs it as a test, unless its info string
// says otherwise. See https://doc.rust-lang.org/rustdoc/write-documentation/documentation-tests.html
type example struct {
	code []string // its lines
	info []string // the words of its info string
	line int
}

// idle is the first word with which an example does not run, "" if it runs.
func (e example) idle() string {
	for _, w := range e.info {
		if idleInfo[w] || strings.HasPrefix(w, "ignore-") {
			return w
		}
	}
	return ""
}

// examplesOf returns the examples in a side's documentation.
func examplesOf(s *side) (all []example) {
	var lines []string
	first := 0
	flush := func() {
		source := []byte(strings.Join(lines, "\n") + "\n")
		for n := goldmark.DefaultParser().Parse(markdown.NewReader(source)).FirstChild(); n != nil; n = n.NextSibling() {
			block, is := n.(*ast.FencedCodeBlock)
			if !is || block.Lines().Len() == 0 {
				continue
			}
			e := example{line: first + strings.Count(string(source[:block.Lines().At(0).Start]), "\n") - 1}
			if block.Info != nil {
				e.info = strings.FieldsFunc(string(block.Info.Segment.Value(source)), func(r rune) bool { return r == ',' || r == ' ' })
			}
			for i := range block.Lines().Len() {
				at := block.Lines().At(i)
				e.code = append(e.code, strings.TrimSpace(string(at.Value(source))))
			}
			all = append(all, e)
		}
		lines = nil
	}
	for _, n := range s.notes {
		comment := s.text[n.from:n.to]
		content, is := strings.CutPrefix(comment, "///")
		if !is {
			content, is = strings.CutPrefix(comment, "//!")
		}
		if len(lines) > 0 && (!is || n.line != first+len(lines)) {
			flush()
		}
		if is {
			if len(lines) == 0 {
				first = n.line
			}
			lines = append(lines, strings.TrimPrefix(content, " "))
		}
	}
	flush()
	return all
}

// compareExamples finds examples that ran as tests, and no longer run or end early.
func (x *examination) compareExamples(before, after *side) {
	if !strings.Contains(after.text, "```") {
		return
	}
	had := examplesOf(before)
	for _, is := range examplesOf(after) {
		i := slices.IndexFunc(had, func(was example) bool { return slices.Equal(was.code, is.code) })
		idle := slices.ContainsFunc(had, func(was example) bool { return was.idle() != "" && slices.Equal(was.code, is.code) })
		switch {
		case i >= 0 && !idle && is.idle() != "":
			tier := change.HoldIf(strings.HasPrefix(is.idle(), "ignore"))
			x.say(tier, change.Test, "test/skip", "An example that ran as a test is marked "+is.idle()+" now.", after.headAt(is.line))
		case i < 0 && slices.ContainsFunc(had, func(was example) bool { return was.endsEarlier(is) }):
			x.say(change.Evidence, change.Test, "test/returns", "An example that runs as a test ends early now.", after.headAt(is.line))
		}
	}
}

// endsEarlier reports whether an example became another one by lines that are not shown and have a return.
func (e example) endsEarlier(is example) bool {
	itself := func(line string) string { return line }
	returns := func(line string) bool { return strings.HasPrefix(line, "#") && strings.Contains(line, "return") }
	return len(change.Without(e.code, is.code, itself)) == 0 &&
		slices.ContainsFunc(change.Without(is.code, e.code, itself), returns)
}

// compareDenied finds lints that an attribute of a Rust file made errors or warnings, and no attribute does now. Files of
// one change often lose the same ones; the first is enough. It is certain for the crate as a whole, unless the lint is
// a warning now or before, or is set in a manifest. Pipelines often make errors of all warnings instead.
func (x *examination) compareDenied(before, after *side) {
	was, is, warned := before.linted("deny", "forbid"), after.linted("deny", "forbid"), after.linted("warn")
	moved := func(lint string) bool {
		return slices.ContainsFunc(x.files, func(f change.File) bool { return path.Base(f.Path) == "Cargo.toml" && f.Gains(lint) })
	}
	tier, effect := change.Evidence, "make errors of "
	lost := slices.DeleteFunc(slices.Sorted(maps.Keys(was)), func(lint string) bool { return is[lint] > 0 })
	root := slices.Contains([]string{"lib.rs", "main.rs"}, path.Base(after.path))
	switch {
	case root && slices.ContainsFunc(lost, func(lint string) bool { return lint != "warnings" && warned[lint] == 0 && !moved(lint) }):
		tier = change.Hold
	case len(lost) == 0:
		was, effect = before.linted("warn"), "warn of "
		lost = slices.DeleteFunc(slices.Sorted(maps.Keys(was)), func(lint string) bool { return is[lint]+warned[lint] > 0 || moved(lint) })
	}
	if len(lost) == 0 {
		return
	}
	why := "Attributes of the file no longer " + effect + strings.Join(lost, ", ") + "."
	if !slices.ContainsFunc(x.findings, func(f change.Finding) bool { return f.Why == why }) {
		x.say(tier, change.Strictness, "rust/denied", why, before.baseAt(was[lost[0]]))
	}
}

// compareModules finds files of tests that are there and that no file of Rust has as a module any longer. A module that the
// file names elsewhere has helpers, which it may no longer need.
func (x *examination) compareModules(before, after *side) {
	for i := range before.tokens {
		name := before.of(i + 1)
		if before.of(i) != "mod" || before.of(i+2) != ";" || after.follows("mod", name) || before.follows(name, "::") ||
			!before.tests && !isTestPath(name+".rs") {
			continue
		}
		declared := regexp.MustCompile(`(?m)^\s*(?:#\[.*\]\s*)?(?:pub(?:\(.*\))?\s+)?mod\s+` + regexp.QuoteMeta(name) + `\s*[;{]`)
		if slices.ContainsFunc(x.files, func(f change.File) bool { // moved, or gone
			was := "/" + f.OldPath
			return path.Ext(f.Path) == ".rs" && len(declared.FindAll(f.After, -1)) > len(declared.FindAll(f.Before, -1)) ||
				f.OldPath != f.Path && (strings.HasSuffix(was, "/"+name+".rs") || strings.HasSuffix(was, "/"+name+"/mod.rs"))
		}) {
			continue
		}
		x.say(change.Hold, change.Test, "test/not-run", "The module of tests "+name+" is no longer compiled.", before.baseAt(before.line(i)))
	}
}

// follows reports whether a token comes right after another one.
func (s *source) follows(one, next string) bool {
	return among(0, len(s.tokens), func(i int) bool { return s.of(i) == one && s.of(i+1) == next })
}

// linted returns the lints of a file's own attributes of some levels, with their lines.
func (s *side) linted(levels ...string) map[string]int {
	out := map[string]int{}
	for i := range s.tokens {
		if !slices.Contains(levels, s.of(i)) || s.of(i-1) != "[" || s.of(i+1) != "(" {
			continue
		}
		for n := i + 2; n < s.mate(i+1); n++ {
			if s.kindOf(n) == word && s.of(n+1) != "::" {
				out[s.of(n)] = s.line(i)
			}
		}
	}
	return out
}
