package ci

import (
	"regexp"
	"slices"
	"strings"

	"touchstone/verdict/guard/change"
	"touchstone/verdict/guard/doc"
)

var (
	linters = regexp.MustCompile(`^\.golangci\.(?:ya?ml|toml|json)$`)
	// fewerLinters matches options with which golangci-lint may run other linters, or on less.
	fewerLinters = regexp.MustCompile(`(?:^|[\s=])-(?:-(?:disable|default|enable-only|config|no-config|fast|new)|[Dcn]\b)`)
)

// Lints reports whether a file of this name says which linters golangci-lint or pre-commit runs in the whole repository.
func Lints(name string) bool { return linters.MatchString(name) || name == hooksFile }

// linted is the command of golangci-lint that still runs as often as a removed check, and has it among its linters and
// formatters; "" for none.
func (c *comparison) linted(was Run) string {
	i := slices.IndexFunc(c.after.runs, func(r Run) bool {
		return r.Check == "golangci-lint run" && r.Strength >= was.Strength && !fewerLinters.MatchString(r.command())
	})
	if i < 0 {
		return ""
	}
	var config *doc.Node
	if n := slices.IndexFunc(c.files, func(f change.File) bool { return linters.MatchString(f.Path) }); n >= 0 {
		var err error
		if config, err = doc.Parse(c.files[n].Path, c.files[n].After); err != nil || c.files[n].Unread {
			return ""
		}
	}
	linter := strings.ReplaceAll(was.Check, " ", "")
	has := func(keys ...string) bool { return slices.Contains(config.Get(keys...).Strings(), linter) }
	byDefault := slices.Contains(standard, linter) && config.Text("linters", "disable-all") != "true" &&
		slices.Contains([]string{"", "standard", "all"}, config.Text("linters", "default"))
	if has("linters", "disable") || !byDefault && !has("linters", "enable") && !has("formatters", "enable") {
		return ""
	}
	return c.after.runs[i].command()
}
