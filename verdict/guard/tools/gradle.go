package tools

// See https://docs.gradle.org/current/userguide/java_testing.html.
var _ = register(&Tool{
	Name:  "gradle",
	Files: []string{"*.gradle", "*.gradle.kts"},
	Settings: []Setting{
		{Keys: "plugins/id", Way: Rules, Only: isAnalyzer}, {Keys: "**/ignoreFailures|isIgnoreFailures", Way: Off,
			Default: "false"},
		{Keys: "**/test|check/enabled|isEnabled", Way: On, Default: "true"},
		{Keys: "**/allWarningsAsErrors|warningsAsErrors|abortOnError|checkReleaseBuilds", Way: On},
		{Keys: "**/maxWarnings|maxErrors", Way: Ceiling, Default: "0"}, {Keys: "**/minimum|minValue|minBound", Way: Floor},
		{Keys: "**/excludeTags|excludeTestsMatching|excludeCategories", Way: Excluded},
		{Keys: "**/disable", Way: Ignored}, {Keys: "**/disableAllWarnings", Way: Off, Default: "false"},
		{Keys: "**/maxRetries", Way: Excluded, Only: func(s string) bool { return s != "0" }},
	},
})
