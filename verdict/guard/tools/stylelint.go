package tools

// See https://stylelint.io/user-guide/configure/.
var _ = register(&Tool{
	Name:    "stylelint",
	Nearest: true,
	Files:   []string{".stylelintrc", ".stylelintrc.*", "stylelint.config.*"},
	Settings: []Setting{
		{Keys: "**/extends", Way: Rules}, {Keys: "**/rules/*", Way: On}, {Keys: "**/ignoreFiles", Way: Excluded},
		{Keys: "**/reportNeedlessDisables", Way: On},
	},
	Scope: "files",
})
