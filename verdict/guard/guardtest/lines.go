package guardtest

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"mvdan.cc/sh/v3/syntax"
)

// ini are the extensions of files in Python's kind of INI.
var ini = []string{".ini", ".cfg", ".flake8", ".coveragerc", ".pylintrc"}

func lineSpellings() []Spelling {
	return []Spelling{
		{"line ends of Windows", nil, func(name string, text []byte) []byte {
			if bytes.IndexByte(text, 0) >= 0 || isShell(name, text) || path.Base(name) == "Makefile" || bytes.Contains(text, []byte("\r")) {
				return nil
			}
			return bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))
		}},
		{"a byte order mark", []string{".cs", ".csproj", ".xml", ".props", ".json", ".js", ".ts", ".py", ".java"},
			func(_ string, text []byte) []byte { return append([]byte("\ufeff"), text...) }},
		{"no line end at the end", nil, func(_ string, text []byte) []byte { return bytes.TrimRight(text, "\n") }},
		over("INI without blanks", ini, func(text string) string { return iniPair.ReplaceAllString(text, "$1=$2") }),
		over("INI with blanks", ini, func(text string) string { return iniPair.ReplaceAllString(text, "$1  =  $2") }),
		over("INI with colons", ini, func(text string) string { return iniPair.ReplaceAllString(text, "$1: $2") }),
		over("INI with comments", ini, func(text string) string { return iniPair.ReplaceAllString(text, "# "+note+"\n$1 = $2") }),
		named("a makefile with comments", "Makefile", func(text string) string {
			return makeRule.ReplaceAllString(text, "# "+note+"\n$0")
		}),
		named("a makefile with recipes over several lines", "Makefile", func(text string) string {
			return recipe.ReplaceAllString(text, "$1 \\\n\t    $2")
		}),
		named("an owners file with tabs", "CODEOWNERS", func(text string) string { return strings.ReplaceAll(text, " @", "\t@") }),
		named("an owners file with comments", "CODEOWNERS", func(text string) string {
			return "# " + note + "\n\n" + strings.ReplaceAll(text, "\n", "\n# "+note+"\n")
		}),
	}
}

var (
	// iniPair matches a pair whose value is on one line.
	iniPair = regexp.MustCompile(`(?m)^([A-Za-z_][\w.-]*)[ \t]*[=:][ \t]*(\S.*)$`)
	// makeRule matches the beginning of a rule.
	makeRule = regexp.MustCompile(`(?m)^[a-z][\w-]*:(?:[^=]|$)`)
	// recipe matches a recipe of two or more words without quotes; the first word stays in place.
	recipe = regexp.MustCompile(`(?m)^(\t[a-z][\w./-]*) ([\w./ =-]+)$`)
)

func named(name, file string, write func(text string) string) Spelling {
	return Spelling{name, nil, func(at string, text []byte) []byte {
		if path.Base(at) != file {
			return nil
		}
		return []byte(write(string(text)))
	}}
}

func isShell(name string, text []byte) bool {
	return ext(name) == ".sh" || bytes.HasPrefix(text, []byte("#!"))
}

// shellSpellings are spellings of shell scripts, and of scripts within workflows.
func shellSpellings() []Spelling {
	scripts := func(how string, write func(script string) string) []Spelling {
		return []Spelling{
			{"a script " + how, nil, func(name string, text []byte) []byte {
				if !isShell(name, text) {
					return nil
				}
				return []byte(write(string(text)))
			}},
			{"a workflow's scripts " + how, nil, func(name string, text []byte) []byte {
				if !strings.Contains(name, ".github/workflows/") {
					return nil
				}
				return runs(text, write)
			}},
		}
	}
	printed := func(options ...syntax.PrinterOption) func(string) string {
		return func(script string) string {
			file, err := syntax.NewParser(syntax.KeepComments(true)).Parse(strings.NewReader(script), "")
			if err != nil {
				return script
			}
			var b strings.Builder
			if syntax.NewPrinter(options...).Print(&b, file) != nil {
				return script
			}
			return b.String()
		}
	}
	return slices.Concat(
		scripts("indented by eight", printed(syntax.Indent(8), syntax.SwitchCaseIndent(true))),
		scripts("with operators at the beginning of lines", printed(syntax.BinaryNextLine(true), syntax.SpaceRedirects(true))),
		scripts("with words on lines of their own", wrapWords),
		scripts("with comments", func(script string) string {
			if _, rest, ok := strings.Cut(script, "\n"); ok && strings.HasPrefix(script, "#!") {
				return strings.TrimSuffix(script, rest) + "# " + note + "\n" + rest
			}
			return "# " + note + "\n" + script
		}),
	)
}

// wrapWords puts each argument of a command on its own line.
func wrapWords(script string) string {
	file, err := syntax.NewParser().Parse(strings.NewReader(script), "")
	if err != nil {
		return script
	}
	var at []int
	syntax.Walk(file, func(n syntax.Node) bool {
		if call, ok := n.(*syntax.CallExpr); ok {
			for _, word := range call.Args[min(1, len(call.Args)):] {
				at = append(at, int(word.Pos().Offset()))
			}
		}
		return true
	})
	slices.Sort(at)
	for _, offset := range slices.Backward(at) {
		script = script[:offset] + "\\\n    " + script[offset:]
	}
	return script
}

// runLine matches a step's script of one line, unquoted.
var runLine = regexp.MustCompile(`(?m)^(\s*(?:- )?)run: ([^|>"'\s].*)$`)

// runs rewrites the one-line scripts of a workflow.
func runs(text []byte, write func(string) string) []byte {
	spelled := runLine.ReplaceAllFunc(text, func(line []byte) []byte {
		m := runLine.FindSubmatch(line)
		var script string
		if yaml.Unmarshal(m[2], &script) != nil || strings.Contains(script, "${{") {
			return line
		}
		margin := strings.Repeat(" ", len(m[1])+2)
		body := strings.TrimSpace(write(script))
		return []byte(string(m[1]) + "run: |\n" + margin + strings.ReplaceAll(body, "\n", "\n"+margin))
	})
	if yaml.Unmarshal(spelled, new(any)) != nil {
		return nil
	}
	return spelled
}
