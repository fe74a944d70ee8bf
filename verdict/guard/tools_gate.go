package guard

import "regexp"

// anyGate are the turns of whatever configures a check, by the words that tools use for
// them: they say of a setting that no tool's own turns speak of what it probably does.
var anyGate = []turn{
	{word: regexp.MustCompile(`(?i)exit[-_]?(?:code|status|value)$|^exit$`), but: regexp.MustCompile(`(?i)ignore`), way: status},
	{word: regexp.MustCompile(`(?i)retr(?:y|ies)(?:times|count|_?attempts)?$|reruns?$|rerun\w*count$|^max_?diff|tolerance|flak\w*$`), way: slack},
	{word: regexp.MustCompile(`(?i)^(?:ignore|skip|allow|dangerously|continue_?on|soft|pass_?with|tolerate|disable_errors|no-?fail)|ignore_?\w*(?:errors?|fail\w*|value)$`), but: harmlessIgnoring, way: off},
	{word: regexp.MustCompile(`(?i)^(?:fail|abort|halt|break|error)[-_]?(?:if|on|when|build|task)|^forbid|^enforce`), way: held},
	{word: regexp.MustCompile(`(?i)ignore|exclu|skip|allow-?list|whitelist`), but: harmlessIgnoring, list: true, way: exceptions},
}

// harmlessIgnoring are names with such a word that are not about what is checked.
var harmlessIgnoring = regexp.MustCompile(`(?i)https|transform|watch|haste|deps|whitespace|scripts`)

// gateTools are files that decide about a check of which the guard knows the words
// only. They come last: what a tool's own turns speak of is theirs.
var gateTools = []*tool{
	{Strictness, "check", []string{
		"jest.config.*", "jest.*.config.*", "vitest.config.*", "vitest.workspace.*", "playwright.config.*", "playwright.*.config.*", "cypress.config.*", "cypress.json", ".mocharc.*", "karma.conf.*", "ava.config.*",
		"wdio.conf.*", "nightwatch.conf.*", "codecept.conf.*", ".taprc", "trivy.yaml", ".trivy.yaml", ".hadolint.*", ".gitleaks.toml", ".checkov.yml", ".checkov.yaml", "osv-scanner.toml", ".mega-linter.yml",
		".golangci.*", "phpunit.xml", "phpunit.xml.dist", "spec_helper.rb", "rails_helper.rb", "test_helper.rb", "*.runsettings", "xunit.runner.json", "nextest.toml", "pytest.ini", "nose2.cfg", "tarpaulin.toml",
	}, "**", false, false, anyGate},
	{Strictness, "Vitest", []string{"vite.config.*"}, "**.test", false, false, anyGate},
	{Strictness, "tox", []string{"tox.ini"}, "testenv*", false, true, anyGate},
	{Strictness, "check", []string{"pyproject.toml"}, "tool.bandit|tox|nox|nose|semgrep|vulture|interrogate|mutmut", false, true, anyGate},
	{Strictness, "check", []string{"package.json"}, "jest|ava|mocha|tap|playwright|c8|nyc|stryker|xo", false, true, anyGate},
	{Test, "Maven", []string{"pom.xml"}, "**", false, false, []turn{{keys: "rerunFailingTestsCount|skipAfterFailureCount", way: slack}}},
	{Test, "Gradle", []string{"*.gradle", "*.gradle.kts"}, "**", false, false, []turn{{keys: "maxRetries|maxFailures", way: slack}, {keys: "ignoreExitValue|isIgnoreExitValue", way: off}}},
	{Strictness, "Cargo", []string{".cargo/config.toml", ".cargo/config"}, "**", false, false, []turn{
		{keys: "rustflags|rustflags.[]", way: exceptions, only: regexp.MustCompile(`(?:^|\s)(?:--cap-lints\S*|warn|allow|-A\S*|--allow\S*|-W\S*)(?:\s|$)`)},
		{keys: "rustflags|rustflags.[]", way: members, only: regexp.MustCompile(`^(?:-[DF]\S*|--(?:deny|forbid)\S*|warnings)$`)},
	}},
	{Strictness, "CodeQL", []string{".github/codeql/*", "codeql-config.yml", "codeql-config.yaml"}, "", false, false, []turn{
		{keys: "paths-ignore|query-filters.**", way: exceptions}, {keys: "paths.[]", way: chosen}, {keys: "queries|packs.**", way: members}, {keys: "disable-default-queries", way: off},
	}},
	{Strictness, "buf", []string{"buf.yaml", "buf.work.yaml"}, "", false, false, []turn{
		{keys: "lint|breaking.use.[]", way: grade}, {keys: "lint|breaking.except|ignore.[]", way: exceptions}, {keys: "lint|breaking.ignore_only.**", way: exceptions},
		{keys: "breaking.ignore_unstable_packages", way: off}, {keys: "lint.disallow_comment_ignores", way: on},
	}},
	{CI, "pipeline", []string{".gitlab-ci.yml", "azure-pipelines*.yml", "azure-pipelines*.yaml", ".github/workflows/*", ".circleci/*", ".travis.yml", "bitbucket-pipelines.yml"}, "**", false, false, []turn{
		{word: regexp.MustCompile(`(?i)^fail(?:task|on|if|_ci)|^fail[-_](?:on|if)[-_]`), but: regexp.MustCompile(`(?i)cache`), way: held},
		{keys: "retryCountOnTaskFailure", way: slack},
	}},
}
