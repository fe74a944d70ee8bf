package tools

// Linters of one or two settings.
var _ = register(
	&Tool{Name: "staticcheck", Files: []string{"staticcheck.conf"}, Settings: []Setting{{Keys: "checks", Way: Ignored,
		Only: prefixed("-")}}},
	&Tool{Name: "bazelci", Files: []string{".bazelci/*.yml"}, Settings: []Setting{{Keys: "**/test_targets", Way: Skipped,
		Only: prefixed("-")}}},
	&Tool{Name: "hadolint", Files: []string{".hadolint.yaml", ".hadolint.yml"}, Settings: []Setting{{Keys: "ignored", Way: Ignored}}},
	&Tool{Name: "shellcheck", Files: []string{".shellcheckrc"}, Settings: []Setting{{Keys: "disable", Way: Ignored}}},
	&Tool{Name: "yamllint", Files: []string{".yamllint", ".yamllint.yml", ".yamllint.yaml"},
		Settings: []Setting{{Keys: "rules/*", Way: Grade}, {Keys: "rules/*/level", Way: Grade}, {Keys: "ignore", Way: Excluded}}},
	&Tool{Name: "markdownlint", Files: []string{".markdownlint.*", ".markdownlint-cli2.*"},
		Settings: []Setting{{Keys: "config/*", Way: On, Default: "true"}, {Keys: "MD*", Way: On, Default: "true"},
			{Keys: "ignores", Way: Excluded}}},
	&Tool{Name: "zizmor", Files: []string{"zizmor.yml", ".github/zizmor.yml"},
		Settings: []Setting{{Keys: "rules/*/disable", Way: Off, Default: "false"}, {Keys: "rules/*/ignore", Way: Excluded}}},
	&Tool{Name: "actionlint", Files: []string{".github/actionlint.yaml", ".github/actionlint.yml"},
		Settings: []Setting{{Keys: "paths/*/ignore", Way: Excluded}}},
	&Tool{Name: "buf", Files: []string{"buf.yaml"}, Settings: []Setting{{Keys: "lint|breaking/use", Way: Rules},
		{Keys: "lint|breaking/except", Way: Ignored}, {Keys: "lint|breaking/ignore", Way: Excluded}}},
	&Tool{Name: "codeql", Files: []string{".github/codeql/*"}, Settings: []Setting{{Keys: "disable-default-queries", Way: Off,
		Default: "false"}, {Keys: "paths-ignore", Way: Excluded}}},
	&Tool{Name: "dependabot", Files: []string{".github/dependabot.yml", ".github/dependabot.yaml"},
		Settings: []Setting{{Keys: "updates/[]/package-ecosystem", Way: Included}}},
	&Tool{Name: "trivy", Files: []string{"trivy.yaml"}, Settings: []Setting{{Keys: "exit-code", Way: Floor}, {Keys: "severity",
		Way: Included}}},
	&Tool{Name: "rust-flags", Files: []string{".cargo/config.toml"}, Settings: []Setting{{Keys: "**/rustflags", Way: Rules,
		Only: prefixed("-D", "--deny", "-F", "warnings")}}},
	&Tool{Name: "mocha", Files: []string{".mocharc.*"}, Settings: []Setting{{Keys: "ignore", Way: Excluded}, {Keys: "retries",
		Way: Ceiling, Default: "0"}, {Keys: "forbidOnly", Way: On}, {Keys: "spec", Way: Included}}},
	// Xcode's test plans: https://developer.apple.com/documentation/xcode/organizing-tests-to-improve-feedback
	&Tool{Name: "xctestplan", Files: []string{"*.xctestplan"}, Settings: []Setting{{Keys: "**/skippedTests", Way: Skipped}}},
)
