package tools

// See https://flake8.pycqa.org/en/latest/user/options.html.
var _ = register(&Tool{
	Name:    "flake8",
	Nearest: true,
	Files:   []string{".flake8", "setup.cfg", "tox.ini"},
	Within:  []string{"flake8"},
	Settings: []Setting{
		{Keys: "select|extend-select|enable-extensions", Way: Rules}, {Keys: "ignore|extend-ignore", Way: Ignored},
		{Keys: "exclude|extend-exclude|per-file-ignores", Way: Excluded}, {Keys: "max-*", Way: Ceiling},
	},
})
