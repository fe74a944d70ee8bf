package tools

// See https://pylint.readthedocs.io/en/stable/user_guide/configuration/all-options.html.
var pylint = []Setting{
	{Keys: "**/disable", Way: Ignored}, {Keys: "**/enable", Way: Rules}, {Keys: "**/ignore|ignore-paths|ignore-patterns", Way: Excluded},
	{Keys: "**/fail-under", Way: Floor}, {Keys: "**/max-*", Way: Ceiling},
}

var _ = register(
	&Tool{Name: "pylint", Files: []string{".pylintrc", "pylintrc"}, Settings: pylint},
	&Tool{Name: "pylint", Files: []string{"pyproject.toml"}, Within: []string{"tool/pylint"}, Settings: pylint},
	&Tool{Name: "pylint", Files: []string{"setup.cfg", "tox.ini"}, Within: []string{"pylint*"}, Settings: pylint},
)
