package tools_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"touchstone/verdict/guard/change"
	"touchstone/verdict/guard/tools"
)

func file(name, before, after string) change.File {
	f := change.File{Path: name, OldPath: name, Before: []byte(before), After: []byte(after)}
	if before == "" {
		f.OldPath, f.Before = "", nil
	}
	if after == "" {
		f.Path, f.After = "", nil
	}
	return f
}

func found(files ...change.File) string {
	var out []string
	for _, f := range tools.Compare(files) {
		out = append(out, fmt.Sprintf("%s %s:%d", f.Tier, f.Rule, f.Line))
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

func TestASettingIsComparedByValue(t *testing.T) {
	for name, tt := range map[string]struct {
		file, before, after, want string
	}{
		"sbt no longer fails on warnings": {"build.sbt", "ThisBuild / tlFatalWarnings := true\n", "ThisBuild / tlFatalWarnings := false\n",
			"hold sbt/weaker:1"},
		"sbt without coverage": {"build.sbt", "lazy val s = Seq(\n  a := Seq.empty\n)\n",
			"lazy val s = Seq(\n  a := Seq.empty,\n  coverageEnabled := false\n)\n", "evidence sbt/off:3"},
		"sbt with a lower limit": {"build.sbt", "coverageMinimumStmtTotal := 90\n", "coverageMinimumStmtTotal := 80\n",
			"hold sbt/limit:1"},
		"a test on a list of flaky ones": {"ci/flaky-tests.txt", "# why\na.B#c\n", "# why\na.B#c\na.B#d\n", "evidence ignore-file/excluded:3"},
		"a script that is skipped":       {"testscripts/a/b.txt", "exec a\n", "[windows] skip\nexec a\n", "evidence testscript/excluded:1"},
		"a check of a linter's left out": {".golangci.yml", "linters:\n  settings:\n    staticcheck:\n      checks: [all]\n",
			"linters:\n  settings:\n    staticcheck:\n      checks: [all, -SA4023]\n", "hold golangci/ignored:4"},
		"a rule is ignored": {"pyproject.toml", "[tool.ruff]\nselect = ['E']\n",
			"[tool.ruff]\nselect = ['E']\nignore = [\"E501\"]\n", "hold ruff/ignored:3"},
		"a section under another name": {"ruff.toml", "ignore = ['B904']\nselect = ['B']\n",
			"[lint]\nselect = [\"B\"]\nextend-ignore = [\"B904\"]\n", ""},
		"a new rule with its exceptions": {"ruff.toml", "select = ['E']\n", "select = ['E', 'UP']\nignore = ['UP036']\n", ""},
		"errors of the next level": {"phpstan.neon", "parameters:\n\tlevel: 5\n",
			"parameters:\n\tlevel: 6\n\tignoreErrors:\n\t\t- identifier: a.b\n", "evidence phpstan/ignored:4"},
		"errors of a switch that is no longer off": {"phpstan.neon", "parameters:\n\tcheckMissingIterableValueType: false\n",
			"parameters:\n\tignoreErrors:\n\t\t- identifier: missingType.iterableValue\n", "evidence phpstan/ignored:3"},
		"a cop off beside one that was pending": {".rubocop.yml", "Style/A: {Enabled: true}\n",
			"Style/A: {Enabled: true}\nStyle/B: {Enabled: true}\nStyle/C: {Enabled: false}\n", "evidence rubocop/off:3"},
		"a cop off beside a lower limit": {".rubocop.yml", "Metrics/BlockLength:\n  Max: 26\n",
			"Metrics/BlockLength:\n  Max: 25\nStyle/FormatStringToken:\n  Enabled: false\n", "evidence rubocop/off:4"},
		"a cop off beside a limit that is new": {".rubocop.yml", "Style/A:\n  Enabled: true\n",
			"Style/A:\n  Enabled: true\nMetrics/BlockLength:\n  Max: 99\nStyle/FormatStringToken:\n  Enabled: false\n", "hold rubocop/off:6"},
		"a limit raised beside a lower one": {".rubocop.yml", "Metrics/BlockLength:\n  Max: 26\nMetrics/ClassLength:\n  Max: 100\n",
			"Metrics/BlockLength:\n  Max: 25\nMetrics/ClassLength:\n  Max: 200\n", "hold rubocop/limit:4"},
		"a check off while another one is back": {".clang-tidy", "Checks: 'misc-*,-misc-a'\n", "Checks: 'misc-*,-misc-b'\n",
			"evidence clang-tidy/ignored:1"},
		"a code that no list chose": {"pyproject.toml", "[tool.ruff]\nselect = ['I', 'C4', 'PL']\n",
			"[tool.ruff]\nselect = ['I', 'C4', 'PL']\nignore = ['ISC001', 'UP038']\n", ""},
		"codes that a list chose by a part of their names": {"ruff.toml", "select = ['I', 'TCH', 'PL']\n",
			"select = ['I', 'TCH', 'PL']\nignore = [\n'I001',\n'TC001',\n'PLC0414']\n",
			"hold ruff/ignored:3, hold ruff/ignored:4, hold ruff/ignored:5"},
		"a code among all of them": {"ruff.toml", "select = ['ALL']\n", "select = ['ALL']\nignore = ['UP038']\n", "hold ruff/ignored:2"},
		"a code beside those of the default": {"ruff.toml", "extend-select = ['I']\n", "extend-select = ['I']\nignore = ['E741']\n",
			"hold ruff/ignored:2"},
		"a file that is wrongly indented": {"phpstan.neon", "parameters:\n    level: 6\n    ignoreErrors:\n        - 'a'\n        - 'b'\n",
			"parameters:\n    level: 6\n    ignoreErrors:\n        - 'a'\n            - 'b':\n", "hold tools/unread:0"},
		"a file that is no longer wrongly indented": {"phpstan.neon",
			"parameters:\n    ignoreErrors:\n        - 'a'\n            - 'b':\n", "parameters:\n    ignoreErrors:\n        - 'a'\n", ""},
		"mypy's default written out": {"mypy.ini", "[mypy]\nwarn_no_return = true\nstrict = true\n", "[mypy]\nstrict = true\n", ""},
		"mypy's default off": {"mypy.ini", "[mypy]\nstrict = true\n", "[mypy]\nstrict = true\nwarn_no_return = false\n",
			"hold mypy/off:3"},
		"errors of further rules": {"phpstan.neon", "includes:\n\t- vendor/a/rules.neon\n",
			"includes:\n\t- vendor/a/rules.neon\n\t- vendor/b/rules.neon\nparameters:\n\tignoreErrors:\n\t\t- identifier: a.b\n",
			"evidence phpstan/ignored:6"},
		"errors with another file of errors": {"phpstan.neon", "includes:\n\t- vendor/a/rules.neon\n",
			"includes:\n\t- vendor/a/rules.neon\n\t- baseline.neon\nparameters:\n\tignoreErrors:\n\t\t- identifier: a.b\n",
			"hold phpstan/ignored:6"},
		"cops off for another Ruby": {".rubocop.yml", "AllCops:\n  TargetRubyVersion: 2.7\n",
			"AllCops:\n  TargetRubyVersion: 3.2\nStyle/ArgumentsForwarding:\n  Enabled: false\n", "evidence rubocop/off:4"},
		"a tool is adopted": {"pyproject.toml", "[project]\nname = 'x'\n",
			"[project]\nname = 'x'\n[tool.pyright]\nreportPrivateUsage = false\n", ""},
		"a lint renamed upstream": {"Cargo.toml", "[workspace.lints.clippy]\nempty_enum = 'warn'\n",
			"[workspace.lints.clippy]\nempty_enums = { level = \"warn\" }\n", ""},
		"a lint milder": {"Cargo.toml", "[lints.clippy]\nall = 'deny'\n", "[lints.clippy]\nall = 'warn'\n",
			"hold cargo/weaker:2"},
		"a hook renamed upstream": {".pre-commit-config.yaml", "repos:\n- hooks: [{id: ruff}]\n",
			"repos:\n  - hooks:\n    - id: ruff-check\n", ""},
		"a hook gone": {".pre-commit-config.yaml", "repos:\n- hooks: [{id: ruff}, {id: mypy}]\n",
			"repos:\n- hooks: [{id: ruff}]\n", "evidence pre-commit/rule-gone:2"},
		"hooks exchanged": {".pre-commit-config.yaml", "repos:\n- hooks: [{id: flake8}]\n",
			"repos:\n- hooks: [{id: ruff}]\n", "evidence pre-commit/rule-replaced:2"},
		"a limit lowered": {".coveragerc", "[report]\nfail_under = 90\n", "[report]\nfail_under = 85.5\n",
			"hold coverage/limit:2"},
		"a limit gone": {"vitest.config.ts",
			"export default defineConfig({ test: { coverage: { thresholds: { lines: 90 } } } })\n",
			"export default defineConfig({ test: { coverage: {} } })\n", "hold vitest/gone:1"},
		"types checked on a condition": {"vitest.config.mjs", "export default defineConfig({ test: { typecheck: { enabled: true } } })\n",
			"export default defineConfig({ test: { typecheck: { enabled: !process.argv.includes('bench') } } })\n", "evidence vitest/conditional:1"},
		"a rule of spectral off": {"api/.spectral.yaml", "rules:\n  a: error\n", "rules:\n  a: error\n  b: off\n", "hold spectral/off:3"},
		"a rule of redocly milder": {"redocly.yaml", "rules:\n  a:\n    severity: error\n", "rules:\n  a:\n    severity: warn\n",
			"hold redocly/weaker:2"},
		"a rule of oxlint off": {"oxlint.config.ts", "export default { rules: { a: 'error' } }\n",
			"export default { rules: { a: 'off' } }\n", "hold oxlint/weaker:1"},
		"a rule of spectral by number": {".spectral.yaml", "rules:\n  a: 1\n", "rules:\n  a: 0\n", ""},
		"a rule of spectral off in some files": {".spectral.yml", "rules:\n  a: error\n",
			"rules:\n  a: error\noverrides:\n- files: [b]\n  rules:\n    a: off\n", "evidence spectral/excluded:6"},
		"a rule of spectral off in JavaScript": {".spectral.js", "module.exports = { rules: { a: 'error' } }\n",
			"module.exports = { rules: { a: 'off' } }\n", "hold spectral/weaker:1"},
		"a ruleset of spectral off": {"spectral.yaml", "extends: [[spectral:oas, all]]\n", "extends: [[spectral:oas, off]]\n",
			"evidence spectral/rule-replaced:1"},
		"a rule of redocly off for one version": {"redocly.yml", "oas3_1Rules:\n  a: error\n", "oas3_1Rules:\n  a: off\n",
			"hold redocly/weaker:2"},
		"a rule of redocly off for one API": {"redocly.yaml", "apis:\n  b:\n    rules:\n      a: error\n",
			"apis:\n  b:\n    rules:\n      a: off\n", "evidence redocly/excluded:4"},
		"a rule of an older redocly off": {".redocly.yaml", "lint:\n  rules:\n    a: error\n", "lint:\n  rules:\n    a: off\n",
			"hold redocly/weaker:3"},
		"a finding of redocly let pass": {".redocly.lint-ignore.yaml", "a.yaml:\n  x:\n  - '#/a'\n",
			"a.yaml:\n  x:\n  - '#/a'\n  - '#/b'\n", "evidence redocly-ignore/excluded:4"},
		"a category of oxlint off": {"oxlint.config.ts", "export default { categories: { correctness: 'error' } }\n",
			"export default { categories: { correctness: 'off' } }\n", "hold oxlint/weaker:1"},
		"a test of oxlint's rules": {"oxlint.config.test.ts", "test({ rules: { a: 'error' } })\n", "test({ rules: { a: 'off' } })\n", ""},
		"what maven can run from now on": {"pom.xml",
			"<project><build><pluginManagement><plugins>\n</plugins></pluginManagement></build></project>\n",
			"<project><build><pluginManagement><plugins>\n<plugin><artifactId>jacoco-maven-plugin</artifactId></plugin>\n" +
				"</plugins></pluginManagement></build></project>\n", ""},
		"a longer baseline": {"psalm-baseline.xml", "<files><file src='a'><A><code>x</code></A></file></files>",
			"<files><file src='a'><A><code>x</code>\n<code>y</code></A></file></files>", "evidence psalm/excluded:2"},
		"one more difference of an interface let pass": {"a/revapi.json",
			`[{"configuration": {"differences": [{"code": "java.method.removed", "old": "method A::a()"}]}}]`,
			`[{"configuration": {"differences": [{"code": "java.method.removed", "old": "method A::a()"},` + "\n" +
				`{"code": "java.method.removed", "old": "method A::b()"}]}}]`, "evidence revapi/excluded:2"},
		"a milder level": {"psalm.xml", "<psalm errorLevel='1'/>", "<psalm errorLevel='2'/>", "hold psalm/limit:1"},
		"a limit among options": {"pytest.ini", "[pytest]\naddopts = -q --cov-fail-under=90\n",
			"[pytest]\naddopts = -q --cov-fail-under=80\n", "hold pytest/limit:2"},
		"an option by which less is tested gone": {"pytest.ini", "[pytest]\naddopts = --ignore=a --deselect=b\n",
			"[pytest]\naddopts = --deselect=b\n", ""},
		"an option by which less is tested": {"pytest.ini", "[pytest]\naddopts = --ignore=a\n",
			"[pytest]\naddopts = --ignore=a --deselect=b\n", "evidence pytest-less/excluded:2"},
		"packages may be younger":   {".npmrc", "a=b\nmin-release-age=7\n", "a=b\nmin-release-age=2\n", "hold release-age/limit:2"},
		"packages have to be older": {"pnpm-workspace.yaml", "minimumReleaseAge: 60\n", "minimumReleaseAge: 1440\n", ""},
		"a package may be young": {"pnpm-workspace.yaml", "minimumReleaseAge: 60\n", "minimumReleaseAge: 60\nminimumReleaseAgeExclude: [a]\n",
			"evidence release-age/excluded:2"},
		"options under a strict one": {"pytest.ini", "[pytest]\naddopts = --strict-markers -q\nxfail_strict = true\n",
			"[pytest]\naddopts = -q\nstrict = true\n", "evidence pytest/rule-replaced:2"},
		"options under a strict one, in TOML": {"pyproject.toml",
			"[tool.pytest.ini_options]\nxfail_strict = true\naddopts = ['-ra', '--strict-config', '--strict-markers']\n",
			"[tool.pytest.ini_options]\nstrict = true\naddopts = ['-ra']\n", "evidence pytest/rule-replaced:3, evidence pytest/rule-replaced:3"},
		"an option that is strict gone": {"pytest.ini", "[pytest]\naddopts = --strict-markers --strict-config\n",
			"[pytest]\naddopts = --strict-config\n", "hold pytest/rule-gone:2"},
		"lines left out of coverage": {".coveragerc", "[report]\nfail_under = 90\n",
			"[report]\nfail_under = 90\nexclude_also =\n    if TYPE_CHECKING:\n    raise NotImplementedError\n",
			"evidence coverage/uncounted:3"},
		"a rule off": {"eslint.config.js", "export default [{ rules: { eqeqeq: ['error', 'always'] } }]\n",
			"export default [{ rules: { eqeqeq: 'off' } }]\n", "hold eslint/weaker:1"},
		"a rule off that nothing named": {"eslint.config.js", "export default [{ rules: { a: 'error' } }]\n",
			"export default [{ rules: { a: 'error', b: 'off' } }]\n", "hold eslint/off:1"},
		"a base written out": {"tsconfig.json", `{"extends": "@docusaurus/tsconfig"}`, `{"compilerOptions": {"skipLibCheck": true}}`,
			"evidence typescript/off:1"},
		"a base kept": {"tsconfig.json", `{"extends": "a"}`, `{"extends": "a", "compilerOptions": {"skipLibCheck": true}}`,
			"hold typescript/off:1"},
		"no test is no failure": {"build.gradle.kts", "plugins { id(\"x\") }\n",
			"plugins { id(\"x\") }\ntasks.withType<KotlinTest>().configureEach {\n   failOnNoDiscoveredTests = false\n}\n",
			"hold gradle/off:3"},
		"a diagnostic off": {".editorconfig", "[*.cs]\nindent_size = 2\n",
			"[*.cs]\nindent_size = 2\ndotnet_diagnostic.CA1.severity = none\n", "hold dotnet-rules/off:3"},
		"a diagnostic off in a folder": {"a/.editorconfig", "[*.cs]\nindent_size = 2\n",
			"[*.cs]\nindent_size = 2\ndotnet_diagnostic.CA1.severity = none\n", "evidence dotnet-rules/off:3"},
		"a browser's tests tried again": {"dart_test.yaml", "platforms: [vm]\n",
			"platforms: [vm]\non_platform:\n  browser:\n    retry: 2\n", "hold dart-test/off:4"},
		"a lint that was ignored is disabled": {"a/build.gradle", "android {\n  lint {\n    ignore += \"A\"\n  }\n}\n",
			"android {\n  lint {\n    disable += \"A\"\n  }\n}\n", ""},
		"a rule off for some files": {"eslint.config.js", "export default [{ rules: { a: 'error' } }]\n",
			"export default [{ rules: { a: 'error' } }, { files: ['x'], rules: { b: 'off' } }]\n", "evidence eslint/off:1"},
		"strict gone": {"tsconfig.json", "{\"compilerOptions\": {\"strict\": true}} // x\n",
			"{\"compilerOptions\": {}}\n", "evidence typescript/gone:1"},
		"strict off": {"tsconfig.json", "{\"compilerOptions\": {\"strict\": true}}\n",
			"{\"compilerOptions\": {\"strict\": false,}}\n", "hold typescript/weaker:1"},
		"mypy's switches become strict": {"mypy.ini", "[mypy]\ndisallow_untyped_defs = True\n", "[mypy]\nstrict = true\n", ""},
		"a warning suppressed": {"a.props", "<Project><PropertyGroup><NoWarn>CA1</NoWarn></PropertyGroup></Project>",
			"<Project>\n<PropertyGroup>\n<NoWarn>$(NoWarn);CA1;CA2</NoWarn></PropertyGroup></Project>", "hold dotnet/ignored:3"},
		"a warning suppressed in one project": {"a.csproj", "<Project><PropertyGroup><NoWarn>CA1</NoWarn></PropertyGroup></Project>",
			"<Project>\n<PropertyGroup>\n<NoWarn>$(NoWarn);CA1;CA2</NoWarn></PropertyGroup></Project>", "evidence dotnet/ignored:3"},
		"a configuration of the project itself that extends another one": {".eslintrc.json", `{"extends": ["./a.js", "b"]}`,
			`{"extends": ["b"]}`, ""},
		"golangci's versions": {".golangci.yml", "linters:\n  enable: [golint, gosimple]\n",
			"version: \"2\"\nlinters:\n  enable:\n    - revive\n    - staticcheck\n", ""},
		"a vulnerability that Cargo's audit passes over": {".cargo/audit.toml", "[output]\nquiet = false\n",
			"[output]\nquiet = false\n[advisories]\nignore = ['RUSTSEC-1']\n", "hold audit/ignored:4"},
		"a vulnerability that Composer's audit passes over": {"composer.json", `{"config": {"audit": {"ignore": ["A"]}}}`,
			`{"config": {"audit": {"ignore": ["A", "CVE-1"]}}}`, "hold audit/ignored:1"},
		"a vulnerability that NuGet's audit passes over": {"a.props", "<Project></Project>",
			"<Project><ItemGroup><NuGetAuditSuppress Include='https://x/GHSA-1'/></ItemGroup></Project>", "hold dotnet/ignored:1"},
		"a sniff off": {"phpcs.xml", "<ruleset><rule ref='PSR12'/></ruleset>",
			"<ruleset><rule ref='PSR12'><exclude name='PSR12.A'/></rule></ruleset>", "hold phpcs/ignored:1"},
		"a sniff gone with where it did not apply": {"phpcs.xml.dist",
			"<ruleset><exclude-pattern>t/*</exclude-pattern><rule ref='A'/><rule ref='B'><exclude-pattern>t/*</exclude-pattern></rule></ruleset>",
			"<ruleset><exclude-pattern>t/*</exclude-pattern><rule ref='A'/></ruleset>", "evidence phpcs/rule-gone:1"},
		"a linter gone as another folder is looked at": {".golangci.yml",
			"linters:\n  enable:\n    - gosec\n    - errcheck\n  exclusions:\n    paths:\n      - a\n      - b\n",
			"linters:\n  enable:\n    - errcheck\n  exclusions:\n    paths:\n      - a\n", "hold golangci/rule-gone:3"},
		"a sniff gone": {"phpcs.xml.dist", "<ruleset><rule ref='PSR12'/><rule ref='A.B'/></ruleset>",
			"<ruleset><rule ref='PSR12'/></ruleset>", "hold phpcs/rule-gone:1"},
		"SwiftLint's rule off": {".swiftlint.yml", "disabled_rules:\n- a\n", "disabled_rules:\n- a\n- todo\n", "hold swiftlint/ignored:3"},
		"clang-tidy's check off": {".clang-tidy", "Checks: 'bugprone-*'\n", "Checks: 'bugprone-*,-bugprone-a'\n",
			"hold clang-tidy/ignored:1"},
		"PHPStan's check off": {"phpstan.neon", "parameters:\n  checkUninitializedProperties: true\n",
			"parameters:\n  checkUninitializedProperties: false\n", "hold phpstan/weaker:2"},
		"broken":                          {"ruff.toml", "select = ['E']\n", "select = ['E'\n", "hold tools/unread:0"},
		"what only lists files is broken": {".github/dependabot.yml", "updates: []\n", "updates: [\n", "evidence tools/unread:0"},
		"gone with its limit":             {".coveragerc", "[report]\nfail_under = 90\n", "", "hold coverage/limit-gone:2"},
		"gone":                            {".flake8", "[flake8]\nselect = E\n", "", "evidence flake8/configuration-gone:2"},
	} {
		if got := found(file(tt.file, tt.before, tt.after)); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
		if got := found(file(tt.file, tt.before, tt.before)); got != "" {
			t.Errorf("%s, unchanged: %q", name, got)
		}
	}
}

func TestASettingMayMoveToAnotherFileOfItsTool(t *testing.T) {
	got := found(file(".coveragerc", "[report]\nfail_under = 90\n", ""), file("pyproject.toml", "[project]\nname = 'x'\n",
		"[project]\nname = 'x'\n[tool.coverage.report]\nfail_under = 90\n"))
	if got != "" {
		t.Errorf("moved: %q", got)
	}
	got = found(file("src/a.csproj", "<Project><PropertyGroup><TreatWarningsAsErrors>true</TreatWarningsAsErrors></PropertyGroup></Project>",
		"<Project></Project>"),
		file("Directory.Build.props", "",
			"<Project><PropertyGroup><TreatWarningsAsErrors>true</TreatWarningsAsErrors></PropertyGroup></Project>"))
	if got != "" {
		t.Errorf("moved up: %q", got)
	}
}

func TestFixturesConfigureNothing(t *testing.T) {
	if got := found(file("a/testdata/b/ruff.toml", "ignore = []\n", "ignore = ['E501']\n")); got != "" {
		t.Errorf("a file that a test reads: %q", got)
	}
}

func TestChangesOfOwnersAndPoliciesAreFound(t *testing.T) {
	for name, tt := range map[string]struct{ file, before, after, want string }{
		"an owner gone":            {"CODEOWNERS", "* @a @b\n", "*  @a # x\n", "evidence policy/owners:1"},
		"the last owner gone":      {"CODEOWNERS", "* @a @b\n", "*\n", "hold policy/owners:1"},
		"a team with its company":  {"CODEOWNERS", "* @a @core\n", "* @a @acme/core\n", "evidence policy/owners:1"},
		"a team with another one":  {"CODEOWNERS", "* @core\n", "* @acme/core @b\n", "hold policy/owners:1"},
		"a team of another name":   {"CODEOWNERS", "* @core\n", "* @acme/score\n", "hold policy/owners:1"},
		"a team of another firm":   {"CODEOWNERS", "* @x/core\n", "* @acme/core\n", "hold policy/owners:1"},
		"owners written otherwise": {"CODEOWNERS", "* @a\n", "# all\n\n*\t@a\n", ""},
		"an approver added":        {"pkg/OWNERS", "approvers:\n- a\n", "approvers: [a, b]\n", "evidence policy/owners:1"},
		"approvers in flow style":  {"pkg/OWNERS", "approvers:\n- a\n", "\"approvers\": [a]\n", ""},
		"a queue that says less": {".mergify.yml", "queue_rules:\n- name: x\n  queue_conditions: [a]\n",
			"merge_queue:\n  queue_controls_comment: false\nqueue_rules:\n- name: x\n  queue_conditions: [a]\n", ""},
		"a queue that asks less": {".mergify.yml", "queue_rules:\n- name: x\n  queue_conditions: [a, b]\n",
			"queue_rules:\n- name: x\n  queue_conditions: [a]\n", "hold policy/owners:3"},
		"a queue that joins by itself": {".mergify.yml", "queue_rules: []\n",
			"merge_queue:\n  auto_merge_conditions: [a]\nqueue_rules: []\n",
			"hold policy/owners:2"},
		"a queue that skips results": {".mergify/config.yml", "queue_rules: []\n",
			"merge_queue:\n  max_parallel_checks: 2\n  skip_intermediate_results: true\nqueue_rules: []\n", "hold policy/owners:3"},
		"a policy that is broken": {".policy.yml", "policy:\n  approval: [x]\n", "policy:\n\t- x\n", "hold policy/unread:0"},
		"labels of issues":        {".github/settings.yml", "labels:\n- name: a\n", "labels:\n- name: b\n", ""},
		"protection beside labels": {".github/settings.yml", "labels: []\nbranches:\n- name: main\n", "labels: []\nbranches: []\n",
			"hold policy/owners:2"},
		"a rule gone":         {"AGENTS.md", "Be kind.\n\nEvery change must have a test.\n", "Be kind.\n", "evidence policy/rule:3"},
		"one of this product": {".touchstone/extra.md", "Be kind.\n\nEvery change must have a test.\n", "Be kind.\n", "hold policy/rule:3"},
		"a rule with other breaks": {"AGENTS.md", "Every change must\nhave a test. Be kind.\n",
			"Every change must have a test.\nBe kind.\n", ""},
		"a rule that binds less": {"CONTRIBUTING.md", "Every change must have a test.\n", "Every change may have a test.\n",
			"evidence policy/rule:1"},
		"a guideline milder": {".touchstone/guidelines/a.md",
			"| ID | Severity | Scope | Criterion |\n| - | - | - | - |\n| A1 | major | all | x |\n",
			"| ID | Severity | Scope | Criterion |\n| - | - | - | - |\n| A1 | nit | all | x |\n", "hold policy/guideline:3"},
		"a guideline narrower": {".touchstone/guidelines/a.md",
			"| ID | Severity | Scope | Criterion |\n| - | - | - | - |\n| A1 | major | all | x |\n",
			"| ID | Severity | Scope | Criterion |\n| - | - | - | - |\n| A1 | major | docs-only | x |\n", "hold policy/guideline:3"},
		"a guideline marked as checkable": {".touchstone/guidelines/a.md",
			"| ID | Severity | Scope | Criterion |\n| - | - | - | - |\n| A1 | major | all | x |\n| `A2`* | nit | all | y |\n",
			"| ID | Severity | Scope | Criterion |\n| - | - | - | - |\n| A1* | major | all | x |\n| `A2` | nit | all | y |\n", ""},
		"a setting changed": {".touchstone/config.yaml", "verify:\n  command: make check\n", "verify:\n  command: \"true\"\n",
			"hold policy/setting:2, hold policy/setting:2"},
		"a setting reordered":       {".touchstone/config.yaml", "a: 1\nb: 2\n", "b: 2\na: 1\n", ""},
		"files marked as generated": {".gitattributes", "", "src/** linguist-generated\n", "evidence policy/hidden:1"},
	} {
		if got := found(file(tt.file, tt.before, tt.after)); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}

// TestFindingsOfOneLineKeepTheirOrder: a row that is gone may have had the line that another one has now.
func TestFindingsOfOneLineKeepTheirOrder(t *testing.T) {
	const head = "| ID | Severity | Scope | Criterion |\n| - | - | - | - |\n"
	for range 50 {
		found := tools.Compare([]change.File{file(".touchstone/guidelines/a.md", head+"| A1 | major | all | x |\n| A2 | major | all | y |\n",
			head+"| A2 | nit | all | y |\n")})
		if len(found) != 2 || found[0].Line != found[1].Line || !strings.Contains(found[0].Why, "A1 is gone") {
			t.Fatalf("%+v", found)
		}
	}
}

func FuzzCompare(f *testing.F) {
	f.Add("pyproject.toml", []byte("[tool.ruff]\nignore = ['E']\n"), []byte("[tool.ruff]\nignore = []\n"))
	f.Add(".touchstone/a.md", []byte("| A1 | major | all | x |"), []byte("must not"))
	f.Add("eslint.config.js", []byte("export default [{rules: {a: 'off'}}]"), []byte("[{"))
	f.Fuzz(func(t *testing.T, name string, before, after []byte) {
		tools.Compare([]change.File{{Path: name, OldPath: name, Before: before, After: after}})
		if got := tools.Compare([]change.File{{Path: name, OldPath: name, Before: after, After: after}}); len(got) > 0 {
			t.Fatalf("a file that did not change: %+v", got)
		}
	})
}

// A rule that is new in a newer linter never ran before, so turning it off is only evidence.
func TestNewRuleOfANewerLinterIsOnlyEvidence(t *testing.T) {
	lints := func(more string) string { return "[lints.clippy]\nall = 'warn'\n" + more }
	workflow := func(version string) change.File {
		return file(".github/workflows/ci.yml", "env:\n  clippy_version: \"1.89\"\n", "env:\n  clippy_version: \""+version+"\"\n")
	}
	for name, tt := range map[string]struct{ version, want string }{
		"of a new one":   {"1.91", "evidence cargo/off:3"},
		"of the old one": {"1.89", "hold cargo/off:3"},
	} {
		if got := found(workflow(tt.version), file("Cargo.toml", lints(""), lints("collapsible_if = 'allow'\n"))); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}

// A module's exclusions may move with its code to another module, but not to the project above it.
func TestExclusionsMayMoveToAnotherModule(t *testing.T) {
	lint := "android {\n  lint {\n    disable 'A'\n  }\n}\n"
	for name, tt := range map[string]struct{ from, to, want string }{
		"to another module": {"a/build.gradle", "b/build.gradle", "evidence gradle/configuration-gone:3, evidence gradle/ignored:3"},
		"to all modules":    {"a/build.gradle", "build.gradle", "evidence gradle/configuration-gone:3, hold gradle/ignored:3"},
	} {
		if got := found(file(tt.from, lint, ""), file(tt.to, "android {\n}\n", lint)); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}
