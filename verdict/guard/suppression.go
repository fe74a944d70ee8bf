package guard

import (
	"go/scanner"
	gotoken "go/token"
	"regexp"
	"slices"
	"strings"
)

// A directive tells a tool to look away from a piece of code. The first group
// of its pattern is the directive, the second what it is limited to.
var directives = map[language][]*regexp.Regexp{
	golang: {
		regexp.MustCompile(`//\s*(nolint)\b(?::([\w,-]+))?`),
		regexp.MustCompile(`//\s*(lint:(?:file-)?ignore)\s+(\S+)`),
		regexp.MustCompile(`(#nosec)\b\s*((?:G\d+[ ,]*)*)`),
		regexp.MustCompile(`//\s*((?:revive|gosec|gocritic|errcheck|exhaustive):(?:disable|ignore)(?:-\w+)*)(?::(\S+))?`),
	},
	javascript: {
		regexp.MustCompile(`(?://|/\*|<!--)\s*((?:eslint|oxlint|stylelint|tslint)[-:]disable(?:[-:](?:next-)?line)?)\s*([^*\n]*)`),
		regexp.MustCompile(`/\*\s*(eslint)\s+([\w@/-]+["']?\s*:\s*\[?\s*["']?(?:off|warn|[01])\b[^*]*)`),
		regexp.MustCompile(`(?://|/\*).*?\b(NOSONAR)\b()`),
		regexp.MustCompile(`(?://|/\*)\s*(@ts-(?:ignore|expect-error|nocheck))()`),
		regexp.MustCompile(`(?://|/\*)\s*((?:biome|deno-lint|knip)-ignore(?:-\w+)*)\s*([\w/.-]*)`),
		regexp.MustCompile(`(?://|/\*)\s*((?:istanbul|c8|v8|node:coverage) (?:ignore|disable))\s*(next|if|else|file|start|stop)?`),
		regexp.MustCompile(`(?://|/\*)\s*(\$Flow(?:FixMe|Ignore|Issue))()`),
		regexp.MustCompile(`(?://|/\*)\s*(Stryker disable)\s*([\w -]*)`),
	},
	python: {
		regexp.MustCompile(`#\s*(type:\s*ignore)(?:\[([\w\-, ]+)\])?`),
		regexp.MustCompile(`#\s*((?:(?:ruff|flake8):\s*)?noqa)\b(?::\s*([A-Z]+\d*(?:[, ]+[A-Z]+\d+)*))?`),
		regexp.MustCompile(`#\s*(pylint:\s*(?:disable(?:-next)?|skip-file))=?([\w\-, ]*)`),
		regexp.MustCompile(`#.*?\b(NOSONAR)\b()`),
		regexp.MustCompile(`#\s*(nosec)\b:?\s*((?:B\d+[, ]*)*)`),
		regexp.MustCompile(`#\s*(pragma:\s*no (?:cover|branch|mutate))()`),
		regexp.MustCompile(`#\s*((?:pyright|mypy|pyre|pytype):\s*(?:ignore(?:-errors)?|basic|disable|fixme))[=\[]*([\w\-, ]*)`),
	},
	java: {
		regexp.MustCompile(`(@(?:file:)?(?:SuppressWarnings|Suppress|SuppressFBWarnings|SuppressLint|SuppressStaticInitializationFor))\(([^)]*)`),
		regexp.MustCompile(`(?://|/\*).*?\b(NOSONAR|NOPMD)\b()`),
		regexp.MustCompile(`//\s*(NOLINT|noinspection|ktlint-disable|CHECKSTYLE[:.]\s?OFF|spotless:off)\s*([\w\-, :]*)`),
		regexp.MustCompile(`(@(?:Generated|ExcludeFromJacocoGeneratedReport|CoverageIgnore))()\b`),
	},
	rust: {
		regexp.MustCompile(`#!?\[\s*(allow|expect)\(([^)]*)`),
		regexp.MustCompile(`#!?\[\s*cfg_attr\([^,]*,\s*(allow|coverage)\(([^)]*)`),
		regexp.MustCompile(`#\[\s*(coverage\(off\))()`),
	},
	ruby: {
		regexp.MustCompile(`#\s*(rubocop:(?:disable|todo))\s+([\w/, ]+)`),
		regexp.MustCompile(`#\s*(:nocov:|standard:disable|steep:ignore|reek)()`),
		regexp.MustCompile(`#\s*(typed:\s*(?:ignore|false))()`),
	},
	shell: {
		regexp.MustCompile(`#\s*(shellcheck disable)=([\w,]+)`),
	},
	csharp: {
		regexp.MustCompile(`(?://|/\*).*?\b(NOSONAR)\b()`),
		regexp.MustCompile(`#(pragma warning disable)\s*([\w, ]*)`),
		regexp.MustCompile(`\[(?:assembly:\s*)?((?:\w+\.)*SuppressMessage)\(([^)]*)`),
		regexp.MustCompile(`\[((?:\w+\.)*ExcludeFromCodeCoverage)()`),
		regexp.MustCompile(`//\s*(ReSharper disable(?: once)?)\s+(\w+)`),
		regexp.MustCompile(`#(nullable disable)()`),
	},
}

// marks is a cheap test that a line may hold a directive.
var marks = []string{"//", "/*", "#", "@", "[", "<!--"}

// suppressed is one directive at its place.
type suppressed struct {
	tool, args string
	line       int
	code       string // the directive's line, or the next one if it has none of its own
}

func suppressionsOf(s side) []suppressed {
	patterns := directives[languageOf(s.path)]
	if patterns == nil {
		return nil
	}
	var out []suppressed
	begins := commentStarts(s)
	for i, line := range s.lines {
		if !slices.ContainsFunc(marks, func(m string) bool { return strings.Contains(line, m) }) {
			continue
		}
		for _, pattern := range patterns {
			for _, m := range pattern.FindAllStringSubmatchIndex(line, -1) {
				if outside(begins, i, line, m[0]) {
					continue
				}
				args := ""
				if m[4] >= 0 {
					args = arguments(line[m[4]:m[5]])
				}
				out = append(out, suppressed{strings.Join(strings.Fields(line[m[2]:m[3]]), ""), args, i + 1, subject(s, i+1, m[0])})
			}
		}
	}
	return out
}

// outside reports whether a position of a line lies in a string rather than in a
// comment or code.
func outside(begins []int, i int, line string, at int) bool {
	if begins[i] >= 0 && at >= begins[i] {
		return false
	}
	return begins[i] == noComment || quoted(line, at)
}

const (
	unknownComment = -1 // a line of which the quotes have to be counted
	noComment      = -2 // a line that certainly holds no comment
)

// commentStarts is where the comment of each line of a side begins. An apostrophe
// in a comment opens no string.
func commentStarts(s side) []int {
	out := make([]int, len(s.lines))
	lang := languageOf(s.path)
	if lang == golang {
		return goComments(s, out)
	}
	marks := []string{"//", "/*"}
	if lang == python || lang == ruby || lang == shell {
		marks = []string{"#"}
	}
	for i, line := range s.lines {
		out[i] = commentStart(line, marks)
	}
	return out
}

// commentStart is the first of some marks in a line outside of quotes.
func commentStart(line string, marks []string) int {
	var open byte
	for at := 0; at < len(line); at++ {
		switch c := line[at]; {
		case c == '\\':
			at++
		case open == 0 && slices.ContainsFunc(marks, func(m string) bool { return strings.HasPrefix(line[at:], m) }):
			return at
		case open == 0 && (c == '"' || c == '`' || c == '\'' && !letterBefore(line, at)):
			open = c
		case c == open:
			open = 0
		}
	}
	return unknownComment
}

// goComments lets Go's own scanner tell, which knows strings of several lines.
func goComments(s side, out []int) []int {
	for i := range out {
		out[i] = noComment
	}
	files := gotoken.NewFileSet()
	file := files.AddFile(s.path, -1, len(s.text))
	var scan scanner.Scanner
	scan.Init(file, []byte(s.text), nil, scanner.ScanComments)
	for {
		pos, kind, text := scan.Scan()
		if kind == gotoken.EOF {
			return out
		}
		if kind != gotoken.COMMENT {
			continue
		}
		at := file.PositionFor(pos, false)
		for n := range 1 + strings.Count(text, "\n") {
			if i := at.Line - 1 + n; i < len(out) && out[i] == noComment {
				out[i] = 0
				if n == 0 {
					out[i] = at.Column - 1
				}
			}
		}
	}
}

// arguments puts what a directive is limited to in order, without the reason
// that follows after "--".
func arguments(text string) string {
	text, _, _ = strings.Cut(text, "--")
	list := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(` ,"{}'`, r) })
	slices.Sort(list)
	return strings.Join(list, ",")
}

// subject is the code that a directive is about.
func subject(s side, line, at int) string {
	if code := strings.TrimSpace(s.lines[line-1][:at]); code != "" {
		return code
	}
	return s.at(line + 1)
}

// covers reports whether a directive of before already hid all that one of
// after hides.
func covers(before, after suppressed) bool {
	if before.tool != after.tool {
		return false
	}
	if before.args == "" || before.args == after.args {
		return true
	}
	had := strings.Split(before.args, ",")
	return after.args != "" && !slices.ContainsFunc(strings.Split(after.args, ","), func(a string) bool { return !slices.Contains(had, a) })
}

// maxSuppressions bounds the directives of one side of a file.
const maxSuppressions = 2000

// suppressions finds directives that neither stood in the file before nor came
// along with their code from another one.
func suppressions(p *patch) []Hit {
	type place struct {
		f *file
		s suppressed
	}
	var gone []suppressed
	var left []place
	var hits []Hit
	for _, f := range p.files {
		hits = append(hits, posing(f)...)
		before, after := suppressionsOf(f.old), suppressionsOf(f.new)
		if max(len(before), len(after)) > maxSuppressions {
			hits = append(hits, Hit{Kind: Unexamined, Path: f.path(), Why: "The file holds more suppressions than the guard compares; a person has to look."})
			continue
		}
		for _, same := range []func(a, b suppressed) bool{
			func(a, b suppressed) bool { return a.tool == b.tool && a.args == b.args && a.code == b.code },
			covers,
		} {
			after = slices.DeleteFunc(after, func(a suppressed) bool {
				i := slices.IndexFunc(before, func(b suppressed) bool { return same(b, a) })
				if i >= 0 {
					before = slices.Delete(before, i, i+1)
				}
				return i >= 0
			})
		}
		gone = append(gone, before...)
		for _, s := range after {
			left = append(left, place{f, s})
		}
	}
	for _, l := range left {
		if i := slices.IndexFunc(gone, func(b suppressed) bool { return b.code == l.s.code && covers(b, l.s) }); i >= 0 {
			gone = slices.Delete(gone, i, i+1)
			continue
		}
		hits = append(hits, Hit{Suppression, l.f.path(), l.s.line, "", l.f.new.at(l.s.line),
			"A suppression is added; repair what the tool reports."})
	}
	return hits
}

// generatedMark is the line by which generators say that nobody wrote a file, and at
// which linters, coverage and readers turn away. See https://go.dev/s/generatedcode
var generatedMark = regexp.MustCompile(`^\s*(?://|#|/\*|\*|--|<!--).*(?:(?i:generated\b.*\bdo not (?:edit|modify)|do not (?:edit|modify)\b.*\bgenerated)|@generated\b|<auto-generated)`)

// markLines is where such a line is looked for.
const markLines = 20

// posing finds files that somebody wrote and that now say that a generator did.
func posing(f *file) []Hit {
	if languageOf(f.old.path) == "" || f.new.path == "" {
		return nil
	}
	mark := func(s side) int {
		return 1 + slices.IndexFunc(s.lines[:min(markLines, len(s.lines))], generatedMark.MatchString)
	}
	line := mark(f.new)
	if line == 0 || mark(f.old) > 0 || share(tokens(f.old.lines), tokens(f.new.lines)) < alike {
		return nil
	}
	return []Hit{{Suppression, f.path(), line, "", f.new.at(line), "The file says that it is generated, at which tools and readers turn away, and it was written."}}
}

// strictPragmas make a file stricter than its tools would be without them.
var strictPragmas = map[language]*regexp.Regexp{
	javascript: regexp.MustCompile(`^\s*(?:['"]use strict['"]|//\s*@ts-check\b|/[/*]\s*@flow\b)`),
	rust:       regexp.MustCompile(`^\s*#!\[\s*(?:deny|forbid|warn)\(`),
	ruby:       regexp.MustCompile(`^#\s*(?:typed:\s*(?:true|strict|strong)|frozen_string_literal:\s*true)`),
	csharp:     regexp.MustCompile(`^\s*#(?:nullable enable|pragma warning error)`),
	python:     regexp.MustCompile(`^#\s*(?:mypy:\s*(?:strict|disallow)|pyright:\s*strict)`),
}

// pragmas finds strictness that a source file demanded of itself and no longer
// does.
func pragmas(p *patch) []Hit {
	kept := map[string]bool{}
	for _, f := range p.files {
		for _, line := range f.new.lines {
			if pattern := strictPragmas[languageOf(f.new.path)]; pattern != nil && pattern.MatchString(line) {
				kept[f.new.path+"\x00"+strings.TrimSpace(line)] = true
			}
		}
	}
	var hits []Hit
	for _, f := range p.files {
		pattern := strictPragmas[languageOf(f.old.path)]
		if pattern == nil || f.deleted() {
			continue
		}
		for i, line := range f.old.lines {
			text := strings.TrimSpace(line)
			stricter := strings.NewReplacer("deny(", "forbid(", "warn(", "deny(", "typed: true", "typed: strict").Replace(text)
			if pattern.MatchString(line) && !kept[f.new.path+"\x00"+text] && !kept[f.new.path+"\x00"+stricter] {
				hits = append(hits, Hit{Strictness, f.path(), i + 1, text, "", "A demand for strictness is taken out of the code."})
			}
		}
	}
	return hits
}
