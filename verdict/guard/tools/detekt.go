package tools

// See https://pinterest.github.io/ktlint/latest/rules/configuration-ktlint/.
var _ = register(&Tool{
	Name:     "ktlint",
	Files:    []string{".editorconfig"},
	Settings: []Setting{{Keys: "*/disabled_rules|ktlint_disabled_rules", Way: Ignored}, {Keys: "*/ktlint_*", Way: Grade}},
})

// See https://detekt.dev/docs/introduction/configurations.
var _ = register(&Tool{
	Name:  "detekt",
	Files: []string{"detekt.yml", "detekt-config.yml", "detekt.yaml"},
	Settings: []Setting{
		{Keys: "build/maxIssues", Way: Ceiling}, {Keys: "config/warningsAsErrors", Way: On}, {Keys: "**/active", Way: On},
		{Keys: "**/excludes", Way: Excluded}, {Keys: "**/threshold|allowed*", Way: Ceiling},
	},
})
