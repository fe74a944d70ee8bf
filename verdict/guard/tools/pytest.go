package tools

import "strings"

// See https://docs.pytest.org/en/stable/reference/reference.html#configuration-options.
var pytest = []Setting{
	{Keys: "xfail_strict", Way: On, Default: "false"}, {Keys: "testpaths|python_files|python_classes|python_functions",
		Way: Included}, {Keys: "norecursedirs", Way: Excluded},
	{Keys: "addopts", Way: Rules, Only: prefixed("--strict", "-Werror", "--cov-fail-under", "--error-for-skips")},
	{Keys: "filterwarnings", Way: Excluded, Only: prefixed("ignore", "default")},
}

// pytestLess are options by which it looks at less, which the same lists hold.
var pytestLess = []Setting{{Keys: "addopts", Way: Excluded, Only: prefixed("--ignore", "--deselect", "--no-cov", "-k", "--reruns",
	"--retries", "--lf")}}

func prefixed(prefixes ...string) func(string) bool {
	return func(text string) bool {
		for _, p := range prefixes {
			if strings.HasPrefix(text, p) {
				return true
			}
		}
		return false
	}
}

var _ = register(
	&Tool{Name: "pytest", Nearest: true, Files: []string{"pyproject.toml"}, Within: []string{"tool/pytest/ini_options"}, Settings: pytest},
	&Tool{Name: "pytest", Nearest: true, Files: []string{"pytest.ini", "setup.cfg", "tox.ini"},
		Within: []string{"pytest|tool:pytest"}, Settings: pytest},
	&Tool{Name: "pytest-less", Files: []string{"pyproject.toml"}, Within: []string{"tool/pytest/ini_options"}, Settings: pytestLess},
	&Tool{Name: "pytest-less", Files: []string{"pytest.ini", "setup.cfg", "tox.ini"}, Within: []string{"pytest|tool:pytest"},
		Settings: pytestLess},
)
