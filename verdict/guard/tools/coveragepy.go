package tools

import (
	"regexp"
	"strings"
)

// counted tells lines that could run from those that coverage leaves out by custom: what
// only a type checker sees, what is never to run, and what a comment leaves out.
func counted(pattern string) bool { return !idle.MatchString(pattern) }

// spelled is a pattern without what makes it a regular expression.
func spelled(pattern string) string {
	return strings.NewReplacer(`\s`, " ", `\b`, "", `\`, "").Replace(pattern)
}

var idle = regexp.MustCompile(`TYPE_CHECKING|overload|abstractmethod|Protocol|assert_never|pragma|no ?cov|__main__|\.\.\.|\\\.\\\.\\\.` +
	`|\\\.\{3\}`)

// See https://coverage.readthedocs.io/en/latest/config.html.
var coveragepy = []Setting{
	{Keys: "report/fail_under", Way: Floor}, {Keys: "run/branch", Way: On, Default: "false"}, {Keys: "run|report/omit", Way: Excluded},
	{Keys: "report/exclude_lines|exclude_also", Way: Uncounted, Only: counted}, {Keys: "run/source|include", Way: Included},
}

var _ = register(
	&Tool{Name: "coverage", Nearest: true, Files: []string{".coveragerc"}, Settings: coveragepy, Plain: spelled},
	&Tool{Name: "coverage", Nearest: true, Files: []string{"pyproject.toml"}, Within: []string{"tool/coverage"}, Settings: coveragepy,
		Plain: spelled},
	&Tool{Name: "coverage", Nearest: true, Files: []string{"setup.cfg", "tox.ini"}, Settings: []Setting{
		{Keys: "coverage:report/fail_under", Way: Floor}, {Keys: "coverage:run/branch", Way: On, Default: "false"},
		{Keys: "coverage:run|coverage:report/omit", Way: Excluded},
		{Keys: "coverage:report/exclude_lines|exclude_also", Way: Uncounted, Only: counted},
	}},
)
