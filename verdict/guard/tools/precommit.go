package tools

// See https://pre-commit.com/#plugins. Hooks that only format or tidy count as well: each can
// fail a commit.
var _ = register(&Tool{
	Name:  "pre-commit",
	Files: []string{".pre-commit-config.yaml", ".pre-commit-config.yml"},
	Settings: []Setting{
		{Keys: "repos/[]/hooks/[]/id", Way: Rules}, {Keys: "ci/skip", Way: Ignored}, {Keys: "**/exclude", Way: Excluded},
		{Keys: "**/stages|default_stages", Way: Excluded, Only: func(s string) bool { return s == "manual" }},
	},
	Aliases: map[string]string{"ruff": "ruff-check", "black-jupyter": "black", "check-byte-order-marker": "fix-byte-order-marker",
		"end-of-file-fixer": "end-of-files-fixer", "check-json5": "check-json"},
})
