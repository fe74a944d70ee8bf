package tools

import "slices"

// See https://golangci-lint.run/docs/configuration/file/; version 2 moved sections and merged linters.
var _ = register(&Tool{
	Name:    "golangci",
	Nearest: true,
	Files:   []string{".golangci.yml", ".golangci.yaml", ".golangci.toml", ".golangci.json"},
	Settings: []Setting{
		{Keys: "linters|formatters/enable", Way: Rules, Implied: "enable-all"}, {Keys: "linters/disable", Way: Ignored},
		{Keys: "linters/enable-all", Way: On, Default: "false", Implied: "default"}, {Keys: "linters/disable-all", Way: Off},
		{Keys: "linters/default", Way: Grade},
		{Keys: "issues/exclude|exclude-rules|exclude-dirs|exclude-files/**", Way: Excluded},
		{Keys: "linters/exclusions/**", Way: Excluded}, {Keys: "run/skip-dirs|skip-files", Way: Excluded},
		{Keys: "run/tests", Way: On, Default: "true"}, {Keys: "issues/new", Way: Off, Default: "false"},
		{Keys: "issues/new-from-*", Way: Excluded}, {Keys: "run/issues-exit-code", Way: Floor, Default: "1"},
		{Keys: "**/min-complexity|max-complexity|line-length|lines|statements|max-func-lines", Way: Ceiling},
		{Keys: "**/dupl/threshold", Way: Ceiling},
		{Keys: "**/disabled-checks", Way: Excluded},
		{Keys: "linters-settings/*/check-*", Way: On}, {Keys: "linters/settings/*/check-*", Way: On},
	},
	// Only some linters run unasked: https://golangci-lint.run/docs/linters/
	Runs: func(before map[string]bool, linter string) bool {
		standard := slices.Contains([]string{"errcheck", "govet", "ineffassign", "staticcheck", "unused", "gosimple", "typecheck"}, linter)
		return before[linter] || before["linters/enable-all"] || before["linters/default"] ||
			standard && !before["linters/disable-all"] && !before["linters/default=none"]
	},
	Aliases: map[string]string{
		"golint": "", "maligned": "", "gas": "gosec", "megacheck": "staticcheck", "gosimple": "staticcheck", "stylecheck": "staticcheck",
		"unused": "staticcheck", "deadcode": "staticcheck",
		"structcheck": "staticcheck", "varcheck": "staticcheck", "vet": "govet", "vetshadow": "govet",
		"goerr113": "err113", "gomnd": "mnd", "scopelint": "copyloopvar",
		"exportloopref": "copyloopvar", "tenv": "usetesting", "logrlint": "loggercheck", "exhaustivestruct": "exhaustruct",
		"interfacer": "", "ifshort": "", "nosnakecase": "revive", "execinquery": "",
	},
})
