package tools

// See https://github.com/istanbuljs/nyc#common-configuration-options; c8 shares it.
var nyc = []Setting{
	{Keys: "lines|branches|functions|statements", Way: Floor}, {Keys: "check-coverage|checkCoverage|per-file", Way: On,
		Default: "false"}, {Keys: "exclude", Way: Excluded}, {Keys: "include", Way: Included},
}

var _ = register(
	&Tool{Name: "nyc", Files: []string{".nycrc", ".nycrc.*", ".c8rc", ".c8rc.*", "nyc.config.*"}, Settings: nyc},
	&Tool{Name: "nyc", Files: []string{"package.json"}, Within: []string{"nyc|c8"}, Settings: nyc},
)
