package tools

// See https://biomejs.dev/reference/configuration/.
var _ = register(&Tool{
	Name:    "biome",
	Nearest: true,
	Files:   []string{"biome.json", "biome.jsonc"},
	Settings: []Setting{
		{Keys: "linter|formatter|assist/enabled", Way: On, Default: "true"},
		{Keys: "linter/rules/recommended", Way: On, Default: "true"}, {Keys: "linter/rules/*/*", Way: Grade},
		{Keys: "**/ignore|includes", Way: Excluded, Only: func(s string) bool { return s != "" }},
		{Keys: "overrides/[]/linter/rules/*/*", Way: Excluded, Only: func(s string) bool { return s == "off" }},
	},
	Scope: "includes",
})
