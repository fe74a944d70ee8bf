package guard

import (
	"regexp"
	"slices"
)

// allTools are all tools that the ratchets know.
var allTools = slices.Concat(thresholdTools, strictnessTools, scriptTools, baselineTools, workspaceTools, runTools, gateTools)

var analyzer = regexp.MustCompile(`(?i)analyzer|stylecop|sonar|errorprone|nullaway|checkstyle|spotbugs|pmd|jacoco|enforcer|spotless|detekt|ktlint|surefire|failsafe|roslynator`)

// strictnessTools are the linters, type checkers and compilers that are
// configured by data.
var strictnessTools = []*tool{
	{Strictness, "golangci-lint", golangci, "", false, false, []turn{
		{keys: "linters|formatters.enable.[]", way: members, implied: "enable-all"}, {keys: "linters.disable.[]", way: exceptions}, {keys: "linters.enable-all", way: on},
		{keys: "issues.exclude*.**", way: exceptions}, {keys: "linters.exclusions.rules|paths|presets.**", way: exceptions},
		{keys: "run.skip-*.[]", way: exceptions}, {keys: "run.tests", way: on}, {keys: "issues.new", way: off}, {keys: "issues.new-from-*", way: exceptions}, {keys: "linters-settings.*.check-*", way: on},
		{keys: "linters.settings.*.check-*", way: on}, {keys: "run.issues-exit-code", way: status},
	}},
	{Strictness, "staticcheck", []string{"staticcheck.conf"}, "", false, false, []turn{{keys: "checks.[]", way: exceptions, only: regexp.MustCompile(`^-`)}, {keys: "checks.[]", way: members}}},
	{Strictness, "mypy", []string{"mypy.ini", ".mypy.ini", "setup.cfg"}, "mypy*", false, false, mypy},
	{Strictness, "mypy", []string{"mypy.ini", ".mypy.ini", "setup.cfg"}, "mypy*.*", false, false, mypy},
	{Strictness, "mypy", []string{"mypy.ini", ".mypy.ini", "setup.cfg"}, "mypy*.*.*", false, false, mypy},
	{Strictness, "mypy", []string{"pyproject.toml"}, "tool.mypy", false, false, mypy},
	{Strictness, "mypy", []string{"pyproject.toml"}, "tool.mypy.overrides.[]", false, false, mypy},
	{Strictness, "Pyright", []string{"pyrightconfig.json"}, "", false, false, pyright},
	{Strictness, "Pyright", []string{"pyproject.toml"}, "tool.pyright", false, false, pyright},
	{Strictness, "Ruff", []string{"ruff.toml", ".ruff.toml"}, "", false, false, ruff},
	{Strictness, "Ruff", []string{"ruff.toml", ".ruff.toml"}, "lint", false, false, ruff},
	{Strictness, "Ruff", []string{"pyproject.toml"}, "tool.ruff", false, false, ruff},
	{Strictness, "Ruff", []string{"pyproject.toml"}, "tool.ruff.lint", false, false, ruff},
	{Strictness, "Flake8", []string{".flake8", "setup.cfg", "tox.ini"}, "flake8", false, false, ruff},
	{Strictness, "Pylint", []string{".pylintrc", "pylintrc", "pyproject.toml", "setup.cfg"}, "**", false, false, []turn{
		{keys: "disable", way: exceptions, only: regexp.MustCompile(`[a-z]`)}, {keys: "disable.[]", way: exceptions}, {keys: "MASTER|MAIN|main.ignore*", way: exceptions},
	}},
	{Strictness, "Bandit", []string{".bandit", "bandit.yaml", "bandit.yml"}, "", false, false, []turn{{keys: "**.skips|exclude|exclude_dirs.**", way: exceptions}}},
	{Strictness, "Bandit", []string{"pyproject.toml"}, "tool.bandit", false, false, []turn{{keys: "skips|exclude_dirs.[]", way: exceptions}}},
	{Strictness, "pytest", []string{"pyproject.toml"}, "tool.pytest.ini_options", false, false, pytest},
	{Strictness, "pytest", []string{"pytest.ini", "setup.cfg", "tox.ini"}, "pytest|tool:pytest", false, false, pytest},
	{Strictness, "Cargo lints", []string{"Cargo.toml"}, "**", false, false, []turn{{keys: "lints.*.*", way: grade}, {keys: "lints.*.*.level", way: grade}}},
	{Strictness, "cargo-deny", []string{"deny.toml"}, "", false, false, []turn{
		{keys: "advisories.ignore.[]", way: exceptions}, {keys: "*.vulnerability|unmaintained|yanked|notice|unlicensed|copyleft|multiple-versions|wildcards|unknown-registry|unknown-git", way: grade},
		{keys: "bans.deny.[]", way: members}, {keys: "bans.skip.**", way: exceptions}, {keys: "licenses.allow.[]", way: exceptions},
	}},
	{Strictness, "RuboCop", []string{".rubocop.yml", ".rubocop_*.yml"}, "", false, false, []turn{
		{keys: "*.Enabled", way: on}, {keys: "*.Exclude.[]", way: exceptions}, {keys: "*.Severity", way: grade},
		{keys: "AllCops.DisabledByDefault|SuggestExtensions", way: off}, {keys: "AllCops.NewCops", way: on},
		{keys: "inherit_from|inherit_from.[]", way: exceptions, only: regexp.MustCompile(`todo`)}, {keys: "require|plugins.[]", way: members},
	}},
	{Strictness, "detekt", []string{"detekt.yml", "detekt-config.yml", "detekt.yaml"}, "", false, false, []turn{{keys: "**.active", way: on}, {keys: "**.excludes.[]", way: exceptions}}},
	{Strictness, "Maven", []string{"pom.xml"}, "**", false, false, []turn{
		{keys: "failOnViolation|failsOnError|failOnError|failOnWarning|violationSeverity|failOnWarnings|showWarnings", way: on},
		{keys: "*skip|skipTests|skipITs|testFailureIgnore|maven*ignore", way: off},
		{keys: "compilerArgs.arg|compilerArgument", way: members, only: regexp.MustCompile(`^-(Werror|Xlint)`)},
		{keys: "plugin.artifactId", way: members, only: analyzer}, {keys: "excludes.exclude", way: exceptions},
	}},
	{Strictness, "Gradle", []string{"*.gradle", "*.gradle.kts", "gradle.properties"}, "**", false, false, []turn{
		{keys: "ignoreFailures|isIgnoreFailures", way: off}, {keys: "allWarningsAsErrors|warningsAsErrors|abortOnError|checkReleaseBuilds|failOnWarning", way: on},
		{keys: "maxWarnings|maxErrors", way: slack}, {keys: "compilerArgs.**", way: members, only: regexp.MustCompile(`^-(Werror|Xlint)`)},
		{keys: "id", way: members, only: analyzer}, {keys: "disable.**", way: exceptions},
		{keys: "*test|*Test|*check.enabled|isEnabled", way: on}, {keys: "excludeTags|excludeTestsMatching|excludeCategories", way: exceptions},
	}},
	{Strictness, "Checkstyle", []string{"checkstyle*.xml", "**/checkstyle/*.xml"}, "**", false, false, []turn{
		{keys: "module.*.@name", way: members}, {keys: "property.severity.@value", way: grade}, {keys: "suppress.@files|@checks", way: exceptions},
	}},
	{Strictness, "SpotBugs", []string{"*exclude*.xml", "*suppress*.xml"}, "**", false, false, []turn{{keys: "Match.**", way: exceptions}, {keys: "suppress.**", way: exceptions}}},
	{Strictness, "Android lint", []string{"lint.xml"}, "**", false, false, []turn{{keys: "issue.*.@severity", way: grade}, {keys: "ignore.@path", way: exceptions}}},
	{Strictness, "MSBuild", []string{"*.csproj", "*.vbproj", "*.fsproj", "*.props", "*.targets"}, "**", false, false, []turn{
		{keys: "TreatWarningsAsErrors|CodeAnalysisTreatWarningsAsErrors|MSBuildTreatWarningsAsErrors|Nullable|EnableNETAnalyzers|EnforceCodeStyleInBuild|RunAnalyzers|RunAnalyzersDuringBuild", way: on},
		{keys: "WarningsAsErrors", way: members}, {keys: "NoWarn|WarningsNotAsErrors", way: exceptions}, {keys: "WarningLevel", way: atLeast},
		{keys: "PackageReference|GlobalPackageReference.*.@Include", way: members, only: analyzer},
	}},
	{Strictness, "analyzer rules", []string{"*.ruleset"}, "**", false, false, []turn{{keys: "Rule.*.@Action", way: grade}}},
	{Strictness, "analyzer rules", []string{".editorconfig", ".globalconfig"}, "**", false, false, []turn{{keys: "severity", way: grade}}},
	{Strictness, "pre-commit", []string{".pre-commit-config.yaml", ".pre-commit-config.yml"}, "", false, false, []turn{{keys: "**.hooks.[].id", way: members}, {keys: "**.exclude", way: exceptions},
		{keys: "**.stages|default_stages.[]", way: exceptions, only: regexp.MustCompile(`^manual$`), born: true},
	}},
	{Strictness, "Dependabot", []string{".github/dependabot.yml", ".github/dependabot.yaml"}, "", false, false, []turn{{keys: "updates.[].package-ecosystem", way: members}}},
	{Strictness, "hadolint", []string{".hadolint.yaml", ".hadolint.yml"}, "", false, false, []turn{{keys: "ignored.[]", way: exceptions}}},
	{Strictness, "shellcheck", []string{".shellcheckrc"}, "", false, false, []turn{{keys: "disable", way: exceptions}}},
	{Strictness, "yamllint", []string{".yamllint", ".yamllint.yml", ".yamllint.yaml"}, "", false, false, []turn{{keys: "rules.*", way: grade}, {keys: "rules.*.level", way: grade}, {keys: "ignore", way: exceptions}}},
}

var mypy = []turn{
	{keys: "disallow_*|warn_*|check_untyped_defs|no_implicit_*|strict_optional|strict_equality|extra_checks", way: on, implied: "strict"}, {keys: "strict", way: on},
	{keys: "ignore_errors|ignore_missing_imports|allow_*|implicit_optional", way: off}, {keys: "disable_error_code|exclude", way: exceptions},
	{keys: "disable_error_code|exclude.[]", way: exceptions}, {keys: "enable_error_code.[]", way: members}, {keys: "follow_imports", way: on},
}

var pyright = []turn{
	{keys: "typeCheckingMode", way: grade}, {keys: "report*", way: grade}, {keys: "strict*", way: on}, {keys: "ignore|exclude.[]", way: exceptions}, {keys: "strict.[]", way: members},
}

// ruff are the names that Flake8 shares.
var ruff = []turn{
	{keys: "select|extend-select|enable-extensions", way: members}, {keys: "select|extend-select|fixable.[]", way: members},
	{keys: "ignore|extend-ignore|exclude|extend-exclude|per-file-ignores", way: exceptions}, {keys: "ignore|extend-ignore|exclude|extend-exclude|per-file-ignores.[]", way: exceptions},
	{keys: "per-file-ignores|extend-per-file-ignores.**", way: exceptions},
}

var pytest = []turn{
	{keys: "xfail_strict", way: on}, {keys: "filterwarnings.[]", way: exceptions, only: regexp.MustCompile(`^(ignore|default)`)},
	{keys: "filterwarnings.[]", way: members, only: regexp.MustCompile(`^error`)}, {keys: "norecursedirs.[]", way: exceptions},
	{keys: "addopts|addopts.[]", way: members, only: regexp.MustCompile(`--strict|--cov|-W`)},
	{keys: "addopts|addopts.[]", way: exceptions, only: regexp.MustCompile(`--ignore|--deselect|--no-cov|-k `)},
	{keys: "addopts", way: exceptions, only: regexp.MustCompile(`(?:^|\s)(?P<option>--ignore\S*[= ]\S+|--deselect[= ]\S+|--no-cov\b|-k\s*\S+|-m\s*["']?not [\w ]+|--lf\b|--co(?:llect-only)?\b)`)},
}
