package tools

// See https://docs.astral.sh/ruff/settings/.
var _ = register(&Tool{
	Name:    "ruff",
	Nearest: true,
	Files:   []string{"ruff.toml", ".ruff.toml"},
	Within:  []string{"", "lint"}, Settings: ruff,
}, &Tool{
	Name:    "ruff",
	Nearest: true,
	Files:   []string{"pyproject.toml"},
	Within:  []string{"tool/ruff", "tool/ruff/lint"}, Settings: ruff,
})

var ruff = []Setting{
	{Keys: "select|extend-select", Way: Rules}, {Keys: "ignore|extend-ignore", Way: Ignored},
	{Keys: "exclude|extend-exclude", Way: Excluded},
	{Keys: "per-file-ignores|extend-per-file-ignores/*", Way: Excluded}, {Keys: "mccabe/max-complexity", Way: Ceiling},
	{Keys: "pylint/max-*", Way: Ceiling},
}
