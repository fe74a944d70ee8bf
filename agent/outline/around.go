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

// maxAround bounds the lines above a line that are read for what encloses it: few code is nested as deep, or has as many
// branches.
const maxAround = 200

// Surroundings tells what encloses the lines of one file. It reads the indentation of all lines once, when it is first
// asked: many lines of a long file may be asked for.
type Surroundings struct {
	name  string
	lines []string
	// above has for each line the nearest one above it that is less indented, or -1; in a document, the heading above it.
	above []int
}

// SurroundingsOf returns the surroundings of the lines of a file.
func SurroundingsOf(name string, lines []string) *Surroundings {
	return &Surroundings{name: name, lines: lines}
}

// Around returns the name of what encloses a line, which counts from 0: the function, else the type, the
// heading of a document, or the section of a configuration. It reads at most maxAround of the less indented lines above,
// and returns "" if none of them names anything.
func (s *Surroundings) Around(at int) string {
	switch {
	case document(s.name):
		if s.above == nil {
			s.above = headings(s.lines)
		}
		if s.above[at] < 0 {
			return ""
		}
		return heading.FindStringSubmatch(s.lines[s.above[at]])[1]
	case strings.HasSuffix(s.name, ".rst"), strings.HasSuffix(s.name, ".txt"), strings.HasSuffix(s.name, ".adoc"):
		return ""
	case !Knows(s.name):
		return section(s.lines, at)
	}
	if s.above == nil {
		s.above = lessIndented(s.lines)
	}
	inner := ""
	p := reading(s.name, s.lines)
	depth := indent(s.lines[at])
	for i, left := s.next(at-1, depth), maxAround; i >= 0 && left > 0; i, left = s.next(i-1, depth), left-1 {
		in := indent(s.lines[i])
		b, ok := p.beginning(i)
		if text := strings.TrimSpace(s.lines[i]); !ok && (p.goesOn(text) || closes.MatchString(text)) {
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

// next returns the nearest line from i upwards that is less indented than depth, or -1.
func (s *Surroundings) next(i, depth int) int {
	for i >= 0 && (strings.TrimSpace(s.lines[i]) == "" || indent(s.lines[i]) >= depth) {
		i = s.above[i] // all lines between are indented at least as far
	}
	return i
}

func document(name string) bool {
	return strings.HasSuffix(name, ".md") || strings.HasSuffix(name, ".mdx")
}

// headings returns the heading at or above each line of a document, or -1.
func headings(lines []string) []int {
	all, last := make([]int, len(lines)), -1
	for i, line := range lines {
		if heading.MatchString(line) {
			last = i
		}
		all[i] = last
	}
	return all
}

// lessIndented returns the nearest line above each line that is less indented and not empty, or -1; for an empty line the
// nearest one that is not empty.
func lessIndented(lines []string) []int {
	all, last := make([]int, len(lines)), -1
	for i, line := range lines {
		all[i] = last
		if strings.TrimSpace(line) == "" {
			continue
		}
		in := indent(line)
		for all[i] >= 0 && indent(lines[all[i]]) >= in {
			all[i] = all[all[i]]
		}
		last = i
	}
	return all
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
