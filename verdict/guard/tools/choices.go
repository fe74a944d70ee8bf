package tools

import (
	"regexp"
	"slices"
	"strings"
)

// choices tell the elements of lists that count where that is more than a word.
var choices = map[string]func(element string) bool{
	"on":         on,
	"analyzer":   isAnalyzer,
	"counted":    counted,
	"diagnostic": diagnostic,
	"skipping": func(s string) bool {
		return s == "skip" || strings.HasSuffix(s, "] skip") || strings.HasPrefix(s, "skip '")
	},
}

// plains write a rule's name as all of its spellings are compared, by the tool.
var plains = map[string]func(name string) string{"dotnet": compilerWarning, "coverage": spelled}

// runs tell which rules a tool checks unasked.
var runs = map[string]func(before map[string]bool, rule string) bool{"golangci": linterRuns}

// linterRuns knows that only some linters run unasked: https://golangci-lint.run/docs/linters/; "-" is
// before a check of one that does.
func linterRuns(before map[string]bool, linter string) bool {
	standard := slices.Contains([]string{"errcheck", "govet", "ineffassign", "staticcheck", "unused", "gosimple", "typecheck"}, linter)
	return strings.HasPrefix(linter, "-") || before[linter] || before["linters/enable-all"] || before["linters/default"] ||
		standard && !before["linters/disable-all"] && !before["linters/default=none"]
}

// analyzers are parts of the names of packages and plugins that check.
var analyzers = strings.Fields("analyzer stylecop errorprone nullaway checkstyle spotbugs pmd jacoco enforcer detekt ktlint " +
	"surefire failsafe roslynator animal-sniffer japicmp revapi")

// isAnalyzer tells the packages and plugins that check from those that build.
func isAnalyzer(name string) bool {
	return slices.ContainsFunc(analyzers, func(part string) bool { return strings.Contains(strings.ToLower(name), part) })
}

// counted tells lines that could run from those that coverage leaves out by custom: what
// only a type checker sees, what is never to run, and what a comment leaves out.
func counted(pattern string) bool { return !idle.MatchString(pattern) }

var idle = regexp.MustCompile(`TYPE_CHECKING|overload|abstractmethod|Protocol|assert_never|pragma|no ?cov|__main__|\.\.\.|\\\.\\\.\\\.` +
	`|\\\.\{3\}`)

// spelled is a pattern without what makes it a regular expression.
func spelled(pattern string) string {
	return strings.NewReplacer(`\s`, " ", `\b`, "", `\`, "").Replace(pattern)
}

// diagnostic tells a rule from what was set before, which "$(NoWarn)" stands for, from the
// warning of missing comments, which there is only where documentation is made, and from a
// project's own.
func diagnostic(text string) bool {
	return compilerWarning(text) != "1591" && diagnostics.MatchString(text)
}

// diagnostics begin the rules of the compiler and of analyzers; other names are those of a
// project's own, which it allows itself to use.
var diagnostics = regexp.MustCompile(`(?i)^(?:\d|CS|CA|IDE|SA|SX|S\d|NU|IL|SYSLIB|xUnit|NUnit|MSTEST|RCS|RS|VSTHRD|MA|AD|BL|MSB|NETSDK)`)

// compilerWarning is the number of one of the compiler's own warnings: CS0649, 0649 and 649 are the same.
func compilerWarning(name string) string {
	if number := strings.TrimLeft(strings.TrimPrefix(strings.ToUpper(name), "CS"), "0"); number != "" &&
		strings.Trim(number, "0123456789") == "" {
		return number
	}
	return name
}
