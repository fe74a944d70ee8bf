package tools

// See https://bandit.readthedocs.io/en/latest/config.html.
var bandit = []Setting{{Keys: "skips", Way: Ignored}, {Keys: "tests", Way: Rules}, {Keys: "exclude|exclude_dirs", Way: Excluded}}

var _ = register(
	&Tool{Name: "bandit", Files: []string{"bandit.yaml", "bandit.yml"}, Settings: bandit},
	&Tool{Name: "bandit", Files: []string{".bandit"}, Within: []string{"bandit"}, Settings: bandit},
	&Tool{Name: "bandit", Files: []string{"pyproject.toml"}, Within: []string{"tool/bandit"}, Settings: bandit},
)
