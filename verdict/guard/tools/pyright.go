package tools

// See https://github.com/microsoft/pyright/blob/main/docs/configuration.md.
var pyright = []Setting{
	{Keys: "typeCheckingMode", Way: Grade}, {Keys: "report*", Way: Grade, Default: "error"}, {Keys: "strict*", Way: On},
	{Keys: "strict", Way: Included},
	{Keys: "ignore|exclude", Way: Excluded}, {Keys: "include", Way: Included},
}

var _ = register(
	&Tool{Name: "pyright", Nearest: true, Files: []string{"pyrightconfig.json"}, Settings: pyright},
	&Tool{Name: "pyright", Nearest: true, Files: []string{"pyproject.toml"}, Within: []string{"tool/pyright|basedpyright"},
		Settings: pyright},
)
