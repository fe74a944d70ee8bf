package ci

import (
	"regexp"
	"slices"
	"strings"
)

// actions are published actions and tasks that check something, by the beginning of their names.
var actions = map[string]string{
	"golangci/golangci-lint-action": "golangci-lint run", "pre-commit/action": "pre-commit run",
	"j178/prek-action": "pre-commit run", "github/codeql-action/analyze": "codeql",
	"actions/dependency-review-action": "dependency-review", "cypress-io/github-action": "cypress run",
	"astral-sh/ruff-action": "ruff check", "chartboost/ruff-action": "ruff check",
	"psf/black": "black", "crate-ci/typos": "typos", "codespell-project/actions-codespell": "codespell",
	"embarkstudios/cargo-deny-action": "cargo deny", "rustsec/audit-check": "cargo audit",
	"actions-rs/clippy-check": "cargo clippy", "securego/gosec": "gosec", "aquasecurity/trivy-action": "trivy",
	"semgrep/semgrep-action": "semgrep", "returntocorp/semgrep-action": "semgrep",
	"zizmorcore/zizmor-action": "zizmor", "rhysd/actionlint": "actionlint", "docker://rhysd/actionlint": "actionlint",
	"raven-actions/actionlint": "actionlint", "reviewdog/action-": "reviewdog",
	"super-linter/super-linter": "super-linter", "github/super-linter": "super-linter",
	"davidanson/markdownlint-cli2-action": "markdownlint-cli2", "ludeeus/action-shellcheck": "shellcheck",
	"hadolint/hadolint-action": "hadolint", "bufbuild/buf-lint-action": "buf lint", "bufbuild/buf-breaking-action": "buf breaking",
	"golang/govulncheck-action": "govulncheck", "invertase/github-action-dart-analyzer": "dart analyze",
	"dominikh/staticcheck-action": "staticcheck", "obi1kenobi/cargo-semver-checks-action": "cargo semver-checks",
	"codecov/codecov-action": "codecov", "coverallsapp/github-action": "coveralls",
	"re-actors/alls-green": "alls-green", "sonarsource/": "sonar",
	"pypa/gh-action-pip-audit": "pip-audit", "actions-rust-lang/audit": "cargo audit", "actions-rust-lang/rustfmt": "cargo fmt",
	"jidicula/clang-format-action": "clang-format", "doozyx/clang-format-lint-action": "clang-format",
	"cpp-linter/cpp-linter-action": "cpp-linter", "isort/isort-action": "isort", "jakebailey/pyright-action": "pyright",
	"py-actions/flake8": "flake8", "standardrb/standard-ruby-action": "standardrb", "norio-nomura/action-swiftlint": "swiftlint",
	"oskarstark/php-cs-fixer-ga": "php-cs-fixer", "docker://oskarstark/php-cs-fixer-ga": "php-cs-fixer",
	"verygoodopensource/very_good_coverage": "very-good-coverage", "streetsidesoftware/cspell-action": "cspell",
	"danger/danger-js": "danger", "danger/swift": "danger", "danger/kotlin": "danger", "getsentry/github-workflows/danger": "danger",
	"tcort/github-action-markdown-link-check": "markdown-link-check", "actionsx/prettier": "prettier", "creyd/prettier_action": "prettier",
	"oxsecurity/megalinter": "megalinter", "ansible/ansible-lint": "ansible-lint", "bridgecrewio/checkov-action": "checkov",
	"aquasecurity/tfsec-action": "tfsec", "apache/skywalking-eyes": "license-eye",
	"korandoru/hawkeye":               "hawkeye",
	"preactjs/compressed-size-action": "compressed-size", "andresz1/size-limit-action": "size-limit",
	"amannn/action-semantic-pull-request": "semantic-pull-request", "julia-actions/julia-runtest": "julia test",
	"r-lib/actions/check-r-package": "r cmd check", "zgosalvez/github-actions-ensure-sha-pinned-actions": "ensure-sha-pinned-actions",
	"wagoid/commitlint-github-action": "commitlint",
	"ibiqlik/action-yamllint":         "yamllint", "gitleaks/gitleaks-action": "gitleaks",
	"trufflesecurity/trufflehog": "trufflehog",
	"snyk/actions":               "snyk test", "anchore/scan-action": "grype", "google/osv-scanner-action": "osv-scanner", "vstest@": "vstest",
	"lycheeverse/lychee-action": "lychee", "fsfe/reuse-action": "reuse lint",
	"google/oss-fuzz/infra/cifuzz/actions/run_fuzzers": "cifuzz", "google/clusterfuzzlite/actions/run_fuzzers": "clusterfuzzlite",
}

// commandActions are actions and tasks that run a command, by the beginning of their names. Braces contain
// the names of inputs.
var commandActions = map[string]string{
	"actions-rs/cargo": "cargo {command} {args}", "gradle/gradle-build-action": "gradle {arguments}",
	"gradle/actions/setup-gradle": "gradle {arguments}", "gradle@": "gradle {tasks} {options}",
	"dotnetcorecli@": "dotnet {command} {arguments}", "npm@": "npm {command} {customCommand}", "maven@": "mvn {goals} {options}",
	"nick-fields/retry": "{command}", "wandalen/wretry.action": "{command}", "reactivecircus/android-emulator-runner": "{script}",
	"vmactions/": "{run}", "cross-platform-actions/action": "{run}", "uraimo/run-on-arch-action": "{run}", "addnab/docker-run-action": "{run}",
}

// actionCheck returns the check that an action performs, and its arguments.
func actionCheck(uses string, with map[string]string) (name string, args []string) {
	uses = strings.ToLower(uses)
	for prefix, check := range actions {
		if rest, ok := strings.CutPrefix(uses, prefix); ok && (rest == "" || strings.ContainsRune("@/:", rune(rest[0])) ||
			strings.HasSuffix(prefix, "/") || strings.HasSuffix(prefix, "-") || strings.HasSuffix(prefix, "@")) {
			args := []string{check}
			for key, value := range with {
				if slices.Contains([]string{"exit-code", "fail-on-severity", "fail-on-issues", "soft_fail", "fail_level", "fail_on_error"}, key) {
					args = append(args, "--"+key+"="+value)
				}
			}
			args = append(args, strings.Fields(with["args"])...)
			return check, args
		}
	}
	return "", nil
}

// actionScript returns the command line that an action runs, "" if it runs none.
func actionScript(uses string, with map[string]string) string {
	for prefix, command := range commandActions {
		if !strings.HasPrefix(strings.ToLower(uses), prefix) {
			continue
		}
		return strings.TrimSpace(given.ReplaceAllStringFunc(command, func(key string) string { return with[strings.Trim(key, "{}")] }))
	}
	return ""
}

var given = regexp.MustCompile(`\{\w+\}`)
