package guard

import "regexp"

var negated = regexp.MustCompile(`^!`)

// thresholdTools are numbers that have to be met, and what is left out of the
// measuring.
var thresholdTools = []*tool{
	{Threshold, "Codecov", []string{"codecov.yml", ".codecov.yml", "codecov.yaml", ".codecov.yaml"}, "", false, false, []turn{
		{keys: "**.target", way: atLeast}, {keys: "**.threshold", way: slack}, {keys: "**.informational", way: off},
		{keys: "ignore.[]", way: exceptions}, {keys: "coverage.status.project|patch|changes", way: on}, {keys: "**.if_ci_failed", way: grade},
	}},
	{Threshold, "Coveralls", []string{".coveralls.yml"}, "", false, false, []turn{{keys: "**.minimum", way: atLeast}}},
	{Threshold, "coverage.py", []string{".coveragerc", "setup.cfg", "tox.ini"}, "coverage:report|coverage:run|report|run", false, false, coveragePy},
	{Threshold, "coverage.py", []string{"pyproject.toml"}, "tool.coverage.*", false, false, coveragePy},
	{Threshold, "Jest", []string{"package.json"}, "jest", false, false, jest},
	{Threshold, "Jest", []string{"jest.config.*"}, "", false, false, jestPrefixed},
	{Threshold, "Vitest", []string{"vitest.config.*", "vite.config.*", "vitest.workspace.*"}, "", false, false, []turn{
		{keys: "**.thresholds.**", way: atLeast}, {keys: "**.coverage.lines|branches|functions|statements", way: atLeast},
		{keys: "**.coverage.exclude.[]", way: exceptions}, {keys: "**.test.exclude.[]", way: exceptions}, {keys: "**.passWithNoTests", way: off},
	}},
	{Threshold, "nyc", []string{".nycrc", ".nycrc.*", ".c8rc", ".c8rc.*"}, "", false, false, nyc},
	{Threshold, "nyc", []string{"package.json"}, "nyc|c8", false, false, nyc},
	{Threshold, "Stryker", []string{"stryker.conf.*", "stryker.config.*", "stryker-config.json"}, "", false, false, []turn{{keys: "**.thresholds.*", way: atLeast}, {keys: "**.mutate.[]", way: exceptions, only: negated}}},
	{Threshold, "size-limit", []string{".size-limit.json", ".size-limit.js", "package.json"}, "", false, false, []turn{{keys: "**.size-limit.**.limit", way: atMost}, {keys: "[].limit", way: atMost}, {keys: "bundlesize.**.maxSize", way: atMost}}},
	{Threshold, "Angular budgets", []string{"angular.json"}, "", false, false, []turn{{keys: "**.budgets.[].maximumError|maximumWarning", way: atMost}}},
	{Threshold, "JaCoCo", []string{"pom.xml"}, "**", false, false, []turn{
		{keys: "limit.minimum", way: atLeast}, {keys: "limit.maximum", way: atMost}, {keys: "haltOnFailure", way: on},
		{keys: "mutationThreshold|coverageThreshold|lineRate|branchRate", way: atLeast},
	}},
	{Threshold, "Gradle coverage", []string{"*.gradle", "*.gradle.kts"}, "**", false, false, []turn{
		{keys: "minimum", way: atLeast}, {keys: "minValue", way: atLeast}, {keys: "mutationThreshold", way: atLeast}, {keys: "minBound", way: atLeast},
	}},
	{Threshold, "Coverlet", []string{"*.csproj", "Directory.Build.props", "Directory.Build.targets"}, "**", false, false, []turn{
		{keys: "Threshold", way: atLeast}, {keys: "ExcludeByFile|ExcludeByAttribute", way: exceptions},
	}},
	{Threshold, "tarpaulin", []string{"tarpaulin.toml", ".tarpaulin.toml"}, "**", false, false, []turn{{keys: "fail-under", way: atLeast}, {keys: "exclude-files.[]", way: exceptions}}},
	{Threshold, "go-test-coverage", []string{".testcoverage.yml", ".testcoverage.yaml"}, "", false, false, []turn{
		{keys: "threshold.*", way: atLeast}, {keys: "override.[].threshold", way: atLeast}, {keys: "exclude.paths.[]", way: exceptions},
	}},
	{Threshold, "SonarQube", []string{"sonar-project.properties"}, "sonar", false, false, []turn{
		{keys: "**.exclusions", way: exceptions}, {keys: "exclusions", way: exceptions}, {keys: "qualitygate.wait", way: on},
	}},
	{Threshold, "golangci-lint limits", golangci, "", false, false, []turn{
		{keys: "**.settings|linters-settings.*.min-complexity|max-complexity|line-length|lines|statements|min-score|max-func-lines", way: atMost},
		{keys: "**.settings|linters-settings.dupl.threshold", way: atMost},
	}},
	{Threshold, "RuboCop limits", []string{".rubocop.yml", ".rubocop_todo.yml"}, "", false, false, []turn{{keys: "*.Max", way: atMost}, {keys: "*.CountAsOne.[]", way: exceptions}}},
	{Threshold, "Ruff limits", []string{"pyproject.toml", "ruff.toml", ".ruff.toml"}, "**", false, false, []turn{{keys: "mccabe.max-complexity", way: atMost}, {keys: "pylint.max-*", way: atMost}}},
	{Threshold, "Flake8 limits", []string{".flake8", "setup.cfg", "tox.ini"}, "flake8", false, false, []turn{{keys: "max-*", way: atMost}}},
	{Threshold, "Pylint limits", []string{".pylintrc", "pylintrc", "pyproject.toml"}, "**", false, false, []turn{{keys: "DESIGN|design.max-*", way: atMost}, {keys: "MAIN|MASTER|main|master.fail-under", way: atLeast}}},
	{Threshold, "Clippy limits", []string{"clippy.toml", ".clippy.toml"}, "", false, false, []turn{{keys: "*-threshold", way: atMost}}},
	{Threshold, "detekt limits", []string{"detekt.yml", "detekt-config.yml", "detekt.yaml"}, "", false, false, []turn{{keys: "build.maxIssues", way: atMost}, {keys: "**.threshold|allowed*", way: atMost}}},
}

var golangci = []string{".golangci.yml", ".golangci.yaml", ".golangci.toml", ".golangci.json"}

var coveragePy = []turn{
	{keys: "fail_under", way: atLeast}, {keys: "omit", way: exceptions}, {keys: "omit.[]", way: exceptions}, {keys: "branch", way: on},
	{keys: "exclude_lines|exclude_also|exclude_lines.[]", way: exceptions}, {keys: "exclude_lines|exclude_also.[]", way: exceptions},
}

var jest = []turn{
	{keys: "coverageThreshold.**", way: atLeast}, {keys: "coveragePathIgnorePatterns.[]", way: exceptions},
	{keys: "testPathIgnorePatterns.[]", way: exceptions}, {keys: "collectCoverageFrom.[]", way: exceptions, only: negated}, {keys: "passWithNoTests", way: off}}

// jestPrefixed are the same keys in a program, where they lie somewhere within.
var jestPrefixed = []turn{
	{keys: "**.coverageThreshold.**", way: atLeast}, {keys: "**.coveragePathIgnorePatterns.[]", way: exceptions},
	{keys: "**.testPathIgnorePatterns.[]", way: exceptions}, {keys: "**.collectCoverageFrom.[]", way: exceptions, only: negated}, {keys: "**.passWithNoTests", way: off}}

var nyc = []turn{
	{keys: "lines|branches|functions|statements", way: atLeast}, {keys: "check-coverage", way: on}, {keys: "exclude.[]", way: exceptions},
}
