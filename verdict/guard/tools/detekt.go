package tools

// See https://detekt.dev/docs/introduction/configurations.
var _ = register(&Tool{
	Name:  "detekt",
	Files: []string{"detekt.yml", "detekt-config.yml", "detekt.yaml"},
	Settings: []Setting{
		{Keys: "build/maxIssues", Way: Ceiling}, {Keys: "config/warningsAsErrors", Way: On}, {Keys: "**/active", Way: On},
		{Keys: "**/excludes", Way: Excluded}, {Keys: "**/threshold|allowed*", Way: Ceiling},
	},
})
