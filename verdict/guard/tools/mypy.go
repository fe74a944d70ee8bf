package tools

// See https://mypy.readthedocs.io/en/stable/config_file.html.
var mypy = []Setting{
	{Keys: "strict", Way: On, Default: "false"},
	{Keys: "disallow_*|warn_*|check_untyped_defs|no_implicit_reexport|strict_equality|extra_checks", Way: On, Default: "false",
		Implied: "strict"},
	{Keys: "no_implicit_optional|strict_optional", Way: On, Default: "true"}, {Keys: "ignore_errors", Way: Off, Default: "false"},
	{Keys: "allow_*|implicit_optional|implicit_reexport|ignore_missing_imports", Way: Off}, {Keys: "disable_error_code", Way: Ignored},
	{Keys: "enable_error_code", Way: Rules}, {Keys: "exclude", Way: Excluded}, {Keys: "files|packages", Way: Included},
}

// mypyModules are the same for some modules only.
var mypyModules = []Setting{{Keys: "ignore_errors|module", Way: Excluded, Only: func(text string) bool { return on(text) }},
	{Keys: "disable_error_code", Way: Excluded}}

var _ = register(
	&Tool{Name: "mypy", Nearest: true, Files: []string{"mypy.ini", ".mypy.ini", "setup.cfg", "tox.ini"}, Within: []string{"mypy"},
		Settings: mypy},
	&Tool{Name: "mypy", Nearest: true, Files: []string{"pyproject.toml"}, Within: []string{"tool/mypy"}, Settings: mypy},
	&Tool{Name: "mypy-module", Files: []string{"mypy.ini", ".mypy.ini", "setup.cfg"}, Within: []string{"mypy-*"}, Settings: mypyModules},
	&Tool{Name: "mypy-module", Files: []string{"pyproject.toml"}, Within: []string{"tool/mypy/overrides/[]"}, Settings: mypyModules},
)
