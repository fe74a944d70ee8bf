package tools

// See https://docs.codecov.com/docs/codecovyml-reference.
var _ = register(&Tool{
	Name:    "codecov",
	Nearest: true,
	Files:   []string{"codecov.yml", ".codecov.yml", "codecov.yaml", ".codecov.yaml"},
	Settings: []Setting{
		{Keys: "**/target", Way: Floor}, {Keys: "**/threshold", Way: Ceiling, Default: "0"},
		{Keys: "**/informational", Way: Off, Default: "false"},
		{Keys: "coverage/status/project|patch|changes", Way: On, Default: "true"},
		{Keys: "coverage/status/project|patch/default", Way: On, Default: "true"}, {Keys: "ignore", Way: Excluded},
	},
})
