package outline

import (
	"slices"
	"strings"

	"touchstone/worktree/filekind"
	"touchstone/worktree/lazyregexp"
)

var (
	goMethod = lazyregexp.New(`^func\s+\(\s*(?:\w+\s+)?\*?(\w+)[^)]*\)\s+(\w+)`)
	heading  = lazyregexp.New(`^#{1,6}\s+(.+)`)
	key      = lazyregexp.New(`^(?:-\s+)?["']?([\w./-]+)["']?\s*:|^\[+([\w."-]+)\]+`)
)

// Begins parses the definition that begins in one line of a file, as far as the line alone shows it.
func Begins(name, line string) (Block, bool) { return reading(name, []string{line}).beginning(0) }

// reading returns the state before the first line of a file.
func reading(name string, lines []string) *indentation {
	language := filekind.LanguageOf(name)
	return &indentation{
		language: language, typeFirst: slices.Contains(typeFirst, language), script: slices.Contains(scripts, language), lines: lines,
	}
}

// beginning parses the definition whose name is in a line.
func (p *indentation) beginning(at int) (Block, bool) {
	text := strings.TrimSpace(p.lines[at])
	if p.language == filekind.Go && strings.HasPrefix(text, "func (") {
		if m := goMethod.FindStringSubmatch(text); m != nil {
			return Block{Kind: "method", In: m[1], Name: m[2]}, true
		}
	}
	return p.begins(indent(p.lines[at]), p.statement(at))
}

// maxAround bounds the lines above a line that are searched for what encloses it. Searching all of them for each line
// of a long list could take minutes.
const maxAround = 1000

// Around returns the name of what encloses a line, which counts from 0: the function, else the type, the
// heading of a document, or the section of a configuration. It searches the less indented ones of the maxAround lines
// above, and returns "" if none of them names anything.
func Around(name string, lines []string, at int) string {
	switch {
	case strings.HasSuffix(name, ".md"), strings.HasSuffix(name, ".mdx"):
		for i := at; i >= max(0, at-maxAround); i-- {
			if m := heading.FindStringSubmatch(lines[i]); m != nil {
				return m[1]
			}
		}
		return ""
	case strings.HasSuffix(name, ".rst"), strings.HasSuffix(name, ".txt"), strings.HasSuffix(name, ".adoc"):
		return ""
	case !Knows(name):
		return section(lines, at)
	}
	inner := ""
	p := reading(name, lines)
	depth := indent(lines[at])
	for i := at - 1; i >= max(0, at-maxAround) && depth > 0; i-- {
		in := indent(lines[i])
		if in >= depth || strings.TrimSpace(lines[i]) == "" {
			continue
		}
		b, ok := p.beginning(i)
		if text := strings.TrimSpace(lines[i]); !ok && (p.goesOn(text) || closes.MatchString(text)) {
			depth = in + 1 // the end of a signature or another branch, which is indented as far as the beginning
			continue
		}
		depth = in
		switch {
		case !ok || b.Kind == "var" || b.Kind == "const" || b.Kind == "field":
		case inner == "" && (b.Callable() || b.Kind == "test"):
			if inner = b.Name; b.In != "" {
				return b.In + "." + inner
			}
		case b.Kind == "type" && inner != "":
			return b.Name + "." + inner
		case b.Kind == "type":
			return b.Name
		}
	}
	return inner
}

// section returns the key above a line of a configuration.
func section(lines []string, at int) string {
	depth := indent(lines[at])
	for i := at - 1; i >= 0 && at-i < 400; i-- {
		if text := strings.TrimSpace(lines[i]); text != "" && (indent(lines[i]) < depth || strings.HasPrefix(text, "[")) {
			if m := key.FindStringSubmatch(text); m != nil {
				return m[1] + m[2]
			}
		}
	}
	return ""
}
