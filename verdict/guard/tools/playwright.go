package tools

// See https://playwright.dev/docs/test-configuration and https://docs.cypress.io/app/references/configuration.
var _ = register(&Tool{
	Name:  "playwright",
	Files: []string{"playwright.config.*", "playwright.*.config.*", "cypress.config.*"},
	Settings: []Setting{
		{Keys: "**/retries", Way: Ceiling}, {Keys: "**/testIgnore|excludeSpecPattern", Way: Excluded}, {Keys: "**/forbidOnly", Way: On},
		{Keys: "**/maxDiffPixels|maxDiffPixelRatio", Way: Ceiling},
	},
})
