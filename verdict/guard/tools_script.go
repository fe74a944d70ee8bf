package guard

import "regexp"

// eslintRules are rules with a grade, alone or as the first of a list, and the
// limits that some rules have.
var eslintRules = []turn{
	{keys: "**.rules.max-*|complexity|*/max-*.**", way: atMost, only: regexp.MustCompile(`^\d{2,}|^[3-9]$`)},
	{keys: "**.rules.*", way: grade}, {keys: "**.rules.*.[]", way: grade, only: regexp.MustCompile(`^(error|warn|off|[012])$`)},
	{keys: "**.extends|extends.[]", way: members}, {keys: "**.ignorePatterns|ignores.[]", way: exceptions},
	{keys: "**.extends", way: members}, {keys: "**.reportUnusedDisableDirectives", way: on},
}

// strictest are the shared configurations that say so themselves.
var strictest = regexp.MustCompile(`strict`)

// scriptTools are the checkers of JavaScript, TypeScript and their kin.
var scriptTools = []*tool{
	{Strictness, "ESLint", []string{".eslintrc", ".eslintrc.*", "eslint.config.*"}, "", false, false, eslintRules},
	{Strictness, "ESLint", []string{"package.json"}, "eslintConfig", false, false, eslintRules},
	{Strictness, "oxlint", []string{".oxlintrc.json"}, "", false, false, eslintRules},
	{Strictness, "TSLint", []string{"tslint.json"}, "", false, false, []turn{{keys: "rules.*", way: on}, {keys: "rules.*.[]", way: on}}},
	{Strictness, "Biome", []string{"biome.json", "biome.jsonc"}, "", false, false, []turn{
		{keys: "linter.rules.*.*", way: grade}, {keys: "linter.rules.*.*.level", way: grade}, {keys: "linter.enabled", way: on}, {keys: "linter.rules.recommended", way: on},
		{keys: "**.ignore.[]", way: exceptions}, {keys: "files.includes.[]", way: exceptions, only: negated},
	}},
	{Strictness, "Stylelint", []string{".stylelintrc", ".stylelintrc.*", "stylelint.config.*"}, "", false, false, []turn{
		{keys: "**.rules.*", way: grade}, {keys: "**.extends", way: members}, {keys: "**.extends.[]", way: members}, {keys: "**.ignoreFiles.[]", way: exceptions},
	}},
	{Strictness, "TypeScript", []string{"tsconfig.json", "tsconfig.*.json", "tsconfig-*.json", "jsconfig.json"}, "", false, false, []turn{
		{keys: "compilerOptions.strict", way: on}, {keys: "extends|extends.[]", way: members, only: strictest}, {keys: "extends", way: members, only: strictest},
		{keys: "compilerOptions.strict*|noImplicitAny|noImplicitThis|alwaysStrict|useUnknownInCatchVariables", way: on, implied: "strict"},
		{keys: "compilerOptions.no*|exactOptionalPropertyTypes|forceConsistentCasingInFileNames|checkJs", way: on},
		{keys: "compilerOptions.skipLibCheck|allowUnreachableCode|allowUnusedLabels|suppress*", way: off},
		{keys: "exclude.[]", way: exceptions}, {keys: "include.[]", way: members},
	}},
	{Strictness, "lint-staged", []string{"package.json"}, "lint-staged", false, false, []turn{{keys: "**", way: members, only: regexp.MustCompile(`eslint|tsc|jest|vitest|stylelint|biome`)}}},
}

// baselineTools are files whose every line excuses something.
var baselineTools = []*tool{
	{Strictness, "ignore file", []string{".eslintignore", ".stylelintignore", ".semgrepignore", ".trivyignore", ".gitleaksignore", ".snykignore", ".flake8ignore", ".cfnlintignore"}, "", true, false, []turn{{keys: "[]", way: exceptions}}},
	{Threshold, "ignore file", []string{".coverageignore", ".covignore"}, "", true, false, []turn{{keys: "[]", way: exceptions}}},
	{Strictness, "baseline", []string{"detekt-baseline.xml", "baseline.xml", "lint-baseline.xml"}, "**", true, false, []turn{{keys: "ID", way: exceptions}, {keys: "issue.*.@id", way: exceptions}}},
	{Strictness, "baseline", []string{"eslint-suppressions.json"}, "", true, false, []turn{{keys: "**.count", way: slack}}},
	{Strictness, "RuboCop todo", []string{".rubocop_todo.yml"}, "", true, false, []turn{{keys: "*.Enabled", way: on}, {keys: "*.Exclude.[]", way: exceptions}}},
}

// workspaceTools are the files that say what a build, and so a run of its tests, is
// made of.
var workspaceTools = []*tool{
	{CI, "workspace", []string{"package.json", "lerna.json", "pnpm-workspace.yaml"}, "", false, false, []turn{
		{keys: "workspaces|packages.[]", way: exceptions, only: negated}, {keys: "workspaces|packages.[]", way: parts}, {keys: "workspaces.packages.[]", way: parts},
	}},
	{CI, "workspace", []string{"Cargo.toml"}, "workspace", false, false, []turn{{keys: "members.[]", way: parts}, {keys: "exclude.[]", way: exceptions}, {keys: "default-members.[]", way: chosen}}},
	{CI, "modules", []string{"pom.xml"}, "**", false, false, []turn{{keys: "modules.module", way: parts}}},
	{CI, "modules", []string{"go.work", "*.sln", "settings.gradle", "settings.gradle.kts"}, "", false, false, []turn{{keys: "[]", way: parts}}},
}

// runTools are the files that say which tests a run comprises.
var runTools = []*tool{
	{Test, "Cargo", []string{"Cargo.toml"}, "", false, false, []turn{{keys: "package.autotests", way: on}, {keys: "lib|bin.test", way: on}, {keys: "test|lib|bin.[].test", way: on}}},
	{Test, "Vitest", []string{"vitest.config.*", "vite.config.*", "vitest.workspace.*"}, "", false, false, []turn{{keys: "**.test.include.[]", way: chosen}}},
	{Test, "Jest", []string{"package.json"}, "jest", false, false, jestRuns},
	{Test, "Jest", []string{"jest.config.*"}, "**", false, false, jestRuns},
	{Test, "pytest", []string{"pyproject.toml"}, "tool.pytest.ini_options", false, false, pytestRuns},
	{Test, "pytest", []string{"pytest.ini", "setup.cfg", "tox.ini"}, "pytest|tool:pytest", false, false, pytestRuns},
	{Test, "Mocha", []string{".mocharc.*"}, "", false, false, []turn{{keys: "spec|spec.[]", way: chosen}, {keys: "spec", way: chosen}, {keys: "ignore|ignore.[]", way: exceptions}, {keys: "ignore|grep|fgrep", way: exceptions}}},
	{Test, "RSpec", []string{".rspec"}, "", false, false, []turn{{keys: "[]", way: exceptions, only: regexp.MustCompile(`(?P<option>(?:--tag|-t|--pattern|-P|--exclude-pattern|--example|-e|--dry-run|--only-failures)\b.*)`)}}},
	{Test, "Surefire", []string{"pom.xml"}, "**", false, false, []turn{{keys: "includes.include", way: chosen}, {keys: "groups", way: chosen}, {keys: "excludedGroups", way: exceptions}}},
	{Test, "Gradle", []string{"*.gradle", "*.gradle.kts"}, "**", false, false, []turn{{keys: "includeTestsMatching|includeTags|includeCategories|includeTest", way: chosen}, {keys: "*test|*Test.onlyIf|exclude", way: exceptions}}},
	{Test, "MSBuild", []string{"*.csproj", "*.vbproj", "*.fsproj", "*.props", "*.targets"}, "**", false, false, []turn{{keys: "IsTestProject", way: on}, {keys: "Compile.@Remove", way: exceptions}}},
}

var jestRuns = []turn{{keys: "testMatch|testRegex|roots.[]", way: chosen}, {keys: "testRegex", way: chosen}, {keys: "modulePathIgnorePatterns.[]", way: exceptions}}

var pytestRuns = []turn{
	{keys: "testpaths|python_files|python_classes|python_functions", way: chosen}, {keys: "testpaths|python_files|python_classes|python_functions.[]", way: chosen},
	{keys: "norecursedirs", way: exceptions},
}
