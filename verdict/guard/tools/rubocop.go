package tools

// See https://docs.rubocop.org/rubocop/configuration.html.
var _ = register(&Tool{
	Name:    "rubocop",
	Nearest: true,
	Files:   []string{".rubocop.yml", ".rubocop_*.yml"},
	Settings: []Setting{
		{Keys: "AllCops/DisabledByDefault", Way: Off, Default: "false"}, {Keys: "AllCops/NewCops", Way: On},
		{Keys: "*/Enabled", Way: On, Default: "true"}, {Keys: "*/Severity", Way: Grade}, {Keys: "*/Max", Way: Ceiling},
		{Keys: "*/Exclude", Way: Excluded}, {Keys: "require|plugins", Way: Rules},
		{Keys: "inherit_from", Way: Excluded, Only: func(s string) bool { return s == ".rubocop_todo.yml" }},
	},
})
