package tools

// See https://vitest.dev/config/.
var _ = register(&Tool{
	Name:  "vitest",
	Files: []string{"vitest.config.*", "vitest.*.config.*", "vite.config.*", "vitest.workspace.*"},
	Settings: []Setting{
		{Keys: "**/thresholds/**", Way: Floor}, {Keys: "**/coverage/lines|branches|functions|statements", Way: Floor},
		{Keys: "**/passWithNoTests|dangerouslyIgnoreUnhandledErrors", Way: Off, Default: "false"},
		{Keys: "**/retry", Way: Ceiling, Default: "0"}, {Keys: "**/test/exclude", Way: Excluded},
		{Keys: "**/coverage/exclude", Way: Excluded}, {Keys: "**/test/include", Way: Included},
	},
})
