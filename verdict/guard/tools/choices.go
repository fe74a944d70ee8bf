package tools

import (
	"path"
	"slices"
	"strings"
)

// choices select the elements of lists that count, where this takes more than a word.
var choices = map[string]func(element string) bool{
	"on": on,
	"analyzer": func(s string) bool { // packages and plugins that check, and not those that build
		return slices.ContainsFunc(analyzers, func(part string) bool { return strings.Contains(strings.ToLower(s), part) })
	},
	"counted":    counted,
	"diagnostic": diagnostic,
	"unchecked":  func(s string) bool { return strings.HasSuffix(strings.TrimSuffix(s, ","), ", false}") },
	"shared":     func(s string) bool { return !strings.HasPrefix(s, ".") }, // not another file of the project
	"skipping": func(s string) bool {
		return s == "skip" || strings.HasSuffix(s, "] skip") || strings.HasPrefix(s, "skip '")
	},
}

// plains convert, by tool, the name of a rule to the one spelling that is compared.
var plains = map[string]func(name string) string{"dotnet": compilerWarning, "coverage": spelled}

// runs report, by tool, whether the tool checks what an element of a list of ignored rules names.
var runs = map[string]func(before map[string]bool, v value) bool{"golangci": linterRuns, "ruff": selected}

// linterRuns reports whether a linter ran before: the one that an element names, or whose checks the list has. Only some
// linters run by default: https://golangci-lint.run/docs/linters/.
func linterRuns(before map[string]bool, v value) bool {
	linter := v.text
	if v.key != "linters/disable" {
		linter = path.Base(path.Dir(v.key))
	}
	standard := slices.Contains([]string{"errcheck", "govet", "ineffassign", "staticcheck", "unused", "gosimple", "typecheck"}, linter)
	return before[linter] || before["linters/enable-all"] || before["linters/default"] ||
		standard && !before["linters/disable-all"] && !before["linters/default=none"]
}

// selected reports whether a list of rules chose a code, or may have: without a list of its own, Ruff has one by default. A
// letter alone is a linter, and those with longer names are others: https://docs.astral.sh/ruff/rules/.
func selected(before map[string]bool, v value) bool {
	for chosen := range before {
		if rest, old := strings.CutPrefix(chosen, "TCH"); old {
			chosen = "TC" + rest
		}
		related := strings.HasPrefix(v.text, chosen) || strings.HasPrefix(chosen, v.text)
		if chosen == "ALL" || related && (len(chosen) > 1 || len(v.text) == 1 || v.text[1] <= '9') {
			return true
		}
	}
	return !before["select"]
}

// counted distinguishes lines that could run from lines that coverage excludes by custom: lines that only a
// type checker sees, that never run, or that a comment excludes.
func counted(pattern string) bool {
	plain := spelled(pattern)
	return !slices.ContainsFunc(idle, func(part string) bool { return strings.Contains(plain, part) })
}

// spelled is a pattern without the syntax of regular expressions.
func spelled(pattern string) string {
	return strings.NewReplacer(`\s`, " ", `\b`, "", `\`, "").Replace(pattern)
}

// diagnostic reports whether a text is a rule. It is not if it stands for earlier settings, such as
// "$(NoWarn)", if it is the warning about missing comments, which exists only where documentation is
// generated, or if it is a project's own name.
func diagnostic(text string) bool {
	name := strings.ToUpper(text)
	return compilerWarning(text) != "1591" && slices.ContainsFunc(diagnostics, func(start string) bool {
		number, is := strings.CutPrefix(name, start)
		return is && (len(start) > 1 || number != "" && number[0] >= '0' && number[0] <= '9')
	})
}

// compilerWarning is the number of one of the compiler's own warnings: CS0649, 0649 and 649 are the same.
func compilerWarning(name string) string {
	if number := strings.TrimLeft(strings.TrimPrefix(strings.ToUpper(name), "CS"), "0"); number != "" &&
		strings.Trim(number, "0123456789") == "" {
		return number
	}
	return name
}
