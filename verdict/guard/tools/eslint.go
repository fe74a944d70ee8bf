package tools

// See https://eslint.org/docs/latest/use/configure/.
var eslint = []Setting{
	{Keys: "overrides/**/rules/*", Way: Excluded, Only: func(s string) bool { return s == "off" || s == "0" }},
	{Keys: "**/rules/*", Way: Grade},
	{Keys: "**/extends", Way: Rules}, {Keys: "**/ignorePatterns|ignores|globalIgnores", Way: Excluded},
	{Keys: "**/reportUnusedDisableDirectives", Way: On}, {Keys: "**/noInlineConfig", Way: On},
}

var eslintAliases = map[string]string{
	"no-return-wrap": "no-return-await", "indent": "@stylistic/indent", "quotes": "@stylistic/quotes", "semi": "@stylistic/semi",
	"@typescript-eslint/ban-types":       "@typescript-eslint/no-restricted-types",
	"@typescript-eslint/no-var-requires": "@typescript-eslint/no-require-imports", "no-new-symbol": "no-new-native-nonconstructor",
}

var _ = register(
	&Tool{Name: "eslint", Nearest: true, Files: []string{".eslintrc", ".eslintrc.*", "eslint.config.*"}, Settings: eslint,
		Aliases: eslintAliases, Scope: "files"},
	&Tool{Name: "eslint", Nearest: true, Files: []string{"package.json"}, Within: []string{"eslintConfig"}, Settings: eslint,
		Aliases: eslintAliases, Scope: "files"},
	&Tool{Name: "oxlint", Nearest: true, Files: []string{".oxlintrc.json"},
		Settings: append([]Setting{{Keys: "categories/*", Way: Grade}}, eslint...), Scope: "files"},
)
