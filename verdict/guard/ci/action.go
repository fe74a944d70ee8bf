package ci

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"

	"touchstone/verdict/guard/table"
)

//go:embed checks.txt
var checksText string

// The words of checks.txt, where each section is explained.
var (
	checks         = table.Read(checksText)
	actions        = checks.Pairs("actions")
	commandActions = checks.Pairs("commands")
	formatters     = checks.Lines("formatters")
	hushed         = checks.Words("hushed")
	ignoring       = checks.Lists("ignoring")
	leaving        = checks.Words("leaving")
	hosted         = checks.Words("hosted")
	steering       = checks.Words("steering")
	global         = checks.Words("global")
	standard       = checks.Words("standard")
	travisAxes     = checks.Words("travisAxes")
)

// actionCheck returns the check that an action performs, and its arguments.
func actionCheck(uses string, with map[string]string) (name string, args []string) {
	uses = strings.ToLower(uses)
	for prefix, check := range actions {
		if rest, ok := strings.CutPrefix(uses, prefix); ok && (rest == "" || strings.ContainsRune("@/:", rune(rest[0])) ||
			strings.HasSuffix(prefix, "/") || strings.HasSuffix(prefix, "-") || strings.HasSuffix(prefix, "@")) {
			args := []string{check}
			for key, value := range with {
				if slices.Contains([]string{"exit-code", "fail-on-severity", "fail-on-issues", "soft_fail", "fail_level", "fail_on_error"}, key) {
					args = append(args, "--"+key+"="+value)
				}
			}
			args = append(args, strings.Fields(with["args"])...)
			return check, args
		}
	}
	return "", nil
}

// actionScript returns the command line that an action runs, "" if it runs none.
func actionScript(uses string, with map[string]string) string {
	for prefix, command := range commandActions {
		if !strings.HasPrefix(strings.ToLower(uses), prefix) {
			continue
		}
		return strings.TrimSpace(given.ReplaceAllStringFunc(command, func(key string) string { return with[strings.Trim(key, "{}")] }))
	}
	return ""
}

var given = regexp.MustCompile(`\{\w+\}`)
