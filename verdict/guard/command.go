package guard

import (
	"regexp"
	"slices"
	"strings"
)

// purpose is what a check is for. One tool may replace another of the same
// purpose; "all" stands for targets that run several.
type purpose string

// checks are the commands and actions of pipelines that can fail a change.
var checks = []struct {
	purpose purpose
	pattern *regexp.Regexp
}{
	{"all", regexp.MustCompile(`\b(?:make|just|task|npm run|yarn(?: run)?|pnpm(?: run)?|bun run|rake|bundle exec rake|composer|mage|bazel) (?:check|ci|verify|validate|all)\b|\b(?:tox|nox|pre-commit)(?: run)?\b|pre-commit/action|\bmvnw? (?:-\S+ )*verify\b|\bgradlew? (?:-\S+ )*(?:check|build)\b`)},
	{"test", regexp.MustCompile(`\b(?:go|cargo|dotnet|npm|npm run|yarn(?: run)?|pnpm(?: run)?|bun(?: run)?|deno|swift|mix|flutter|make|just|task|rake|bundle exec rake|rails|bazel|mage|hatch run|poetry run|uv run) (?:nextest run|test\b(?:[-:][\w:-]+)?|(?:unit|integration|e2e)[-:]tests?\b)|\bgotestsum\b|\b(?:pytest|jest|vitest|mocha|ava|rspec|minitest|playwright test|cypress run|ctest|phpunit|vstest|karma start|stryker run)\b|\bmvnw? (?:-\S+ )*test\b|\bgradlew? (?:-\S+ )*test\b|cypress-io/github-action|DotNetCoreCLI|VSTest@`)},
	{"lint", regexp.MustCompile(`\b(?:go vet|golangci-lint|staticcheck|revive|eslint|oxlint|biome (?:check|ci|lint)|stylelint|tslint|standard|ruff(?: check)?|flake8|pylint|cargo clippy|rubocop|standardrb|hadolint|shellcheck|yamllint|actionlint|markdownlint|ktlint|detekt|checkstyle\w*|spotbugs\w*|pmd\w*|spotless\w*|buf lint|commitlint)\b|\b(?:npm run|yarn(?: run)?|pnpm(?: run)?|bun run|make|just|task|mage|next|nx|rake) (?:lint|vet)\b(?:[-:][\w:-]+)?`)},
	{"type", regexp.MustCompile(`\b(?:tsc|vue-tsc|mypy|pyright|pyre|sorbet|srb tc|steep check|cargo check)\b|\b(?:npm run|yarn(?: run)?|pnpm(?: run)?|bun run|make) (?:type-?check|types|tsc)\b`)},
	{"format", regexp.MustCompile(`\bgofmt -l\b|\bgofumpt -l\b|\bcargo fmt\b.*--check|\bprettier\b.*(?:--check|-c\b)|\bblack\b.*--check|\bisort\b.*--check|\bruff format\b.*--check|\bdotnet format\b.*--verify|\bgit diff --exit-code\b|\bgo mod tidy -diff\b|\b(?:npm run|yarn(?: run)?|pnpm(?: run)?|make) (?:format[-:]check|fmt-check|check-format)\b`)},
	{"security", regexp.MustCompile(`\b(?:govulncheck|gosec|bandit|pip-audit|safety check|npm audit|yarn audit|pnpm audit|cargo audit|cargo deny|bundle-audit|bundler-audit|brakeman|trivy|grype|semgrep|snyk test|gitleaks|trufflehog|osv-scanner|dependency-check\w*)\b|codeql-action/analyze|dependency-review-action|zizmor`)},
	{"coverage", regexp.MustCompile(`\b(?:codecov|coveralls|cargo tarpaulin|cargo llvm-cov|coverage report|nyc check-coverage|c8 check-coverage|go-test-coverage|jacoco\w*Verification|sonar-scanner|diff-cover)\b`)},
	{"gate", regexp.MustCompile(`needs\.[\w.*-]+\.result|alls-green`)},
	{"script", regexp.MustCompile(`(?:\./|\b(?:bash|sh|zsh|python3?|node|ruby|pwsh|tsx|ts-node) (?:-\w+ )*)[\w./-]*(?:test|check|lint|verify|validate|\bci\b|spec|e2e|smoke|cover)[\w.-]*`)},
}

// command is one check that a line of a pipeline runs.
type command struct {
	key     string // the words that name it
	purpose purpose
	line    int
	text    string // the whole line
}

// commands lists the checks in a pipeline file.
func commands(lines []claim) []command {
	var out []command
	for _, l := range lines {
		if inert.MatchString(l.text) {
			continue
		}
		var taken [][]int
		for _, c := range checks {
			for _, at := range c.pattern.FindAllStringIndex(l.text, -1) {
				if slices.ContainsFunc(taken, func(t []int) bool { return at[0] < t[1] && t[0] < at[1] }) || named(l.text, at) {
					continue
				}
				taken = append(taken, at)
				key := l.text[at[0]:at[1]]
				if c.purpose == "format" {
					key = word.FindString(key)
				}
				out = append(out, command{key, c.purpose, l.line, l.text})
			}
		}
	}
	return out
}

// inert lines name a tool without running it.
var inert = regexp.MustCompile(`^(?:#|//|(?:- )?(?:name|description|displayName|label|key|id|image|path|paths|title|stage|cache|group|restore-keys|if|when|needs|depends_on|requires)\s*:|@?echo\b|.*\b(?:pip3?|npm|gem|cargo|brew|go|apt-get|yarn global|pipx|uv tool) (?:install|add|i|ci)\b[^&;|]*$|\.PHONY)`)

// chooses are options whose value is the name of a tool's own part.
var chooses = regexp.MustCompile(`(?:--(?:enable|disable|skip|ignore|only|linters?|exclude|select)[= ]|\s-[DE] )[\w,-]*$`)

// named reports whether a find is part of a longer name: a file, a path, a key; or
// what an option chooses.
func named(text string, at []int) bool {
	if chooses.MatchString(text[:at[0]]) {
		return true
	}
	if at[1] < len(text) {
		switch text[at[1]] {
		case ':':
			return at[1]+1 == len(text) || text[at[1]+1] == ' ' || text[at[1]+1] == '='
		case '.', '=':
			return at[1]+1 < len(text) && text[at[1]+1] != ' '
		case '-', '_':
			return !strings.Contains(text, "uses:") && !strings.HasPrefix(text[at[1]:], "- ")
		}
	}
	return at[0] > 1 && (text[at[0]-1] == '.' && !strings.HasSuffix(text[:at[0]], "./") || text[at[0]-1] == '_' || text[at[0]-1] == '-')
}

// demanding are options that make a check stricter.
var demanding = regexp.MustCompile(`(?:^|\s)(-race|--strict\S*|-Werror|-D\s?warnings|--deny[ =]warnings|--frozen-lockfile|--locked|--immutable|--check|--cov(?:erage)?\b|-warnaserror|--all-features|--all-targets|--workspaces?|--recursive|-tags[= ]\S+|--fail-on[\w-]*|--exit-code[= ]1|--error-on-warnings|--forbid-only|--error-exitcode\S*|--noEmit|\./\.\.\.)(?:$|[\s"'&|;])`)

// lenient are options and tricks that let a check pass that would have failed.
var lenient = []*regexp.Regexp{
	regexp.MustCompile(`\|\|\s*(?:true|:|exit 0|echo\b|/bin/true|\(?exit 0)|;\s*(?:true|exit 0)\s*["']?$|\bset \+e\b|\bset \+o pipefail\b`),
	regexp.MustCompile(`^(?:- )?(?:continue-on-error|continueOnError|allow_failures?|soft_fail|ignore_errors|ignore_error|only-new-issues|can_fail|failFast|continue_on_failure)\s*[:=]\s*(?:true|yes|\$|\{|\[|$)|^-?\s*exit_status:|^allow_failures?:$|^(?:- )?shell:\s*["']?\S*sh \{0\}|\bcatchError\b|\bwarnError\b|returnStatus:\s*true|ignoreErrors\b|unstable\(`),
	regexp.MustCompile(`^(?:- )?(?:if|when|condition)\s*:\s*["']?(?:\$\{\{\s*)?(?:false|never|manual|0|delayed)\b`),
	regexp.MustCompile(`(?:^|\s)(--passWithNoTests|--pass-with-no-tests|--exit-zero|-DskipTests\S*|-Dmaven\.test\.skip\S*|-DskipITs|-Dmaven\.test\.failure\.ignore\S*|-x\s+\w*[tT]est|-x\s+(?:check|lint|detekt)|--no-verify|--allow-failure|--soft-fail|--exit-code[= ]0|--deselect\S*|--ignore[= ]\S+|--testPathIgnorePatterns|--if-present|--no-cov\b|--quiet-on-fail|--updateSnapshot|--ci=false|--no-fail\S*|-fn\b|--no-error-on-unmatched-pattern|--audit-level[= ]critical|-skip[ =]\S+|--skip[ =]\S+|--exclude[ =]\S+|--retries?[= ]\d+|--reruns[= ]\d+|--fix\b|-short\b|--issues-exit-code[= ]0|--cap-lints \w+|SKIP=\S+|HUSKY=0)|\bsuccess_codes\s*=|##vso\[task\.complete result=Succeeded`),
	regexp.MustCompile(`nick-fields/retry|nick-invision/retry|retry\(\d+\)`),
	regexp.MustCompile(`^\.(?:IGNORE|SILENT_FAIL)\b|^-(?:@)?(?:go|npm|yarn|pnpm|pytest|cargo|make|mvn|gradle|golangci-lint|eslint|mypy|ruff|tsc|bundle|dotnet|staticcheck|\./gradlew|\$\()\b`),
}

// limitFlag is a threshold among a command's options or in a pipeline's variables.
var limitFlag = regexp.MustCompile(`(?i)([\w.-]*(?:fail[-_]under[\w-]*|min[-_]?cov\w*|cov\w*[-_](?:min|threshold|limit)\w*|coverage_?threshold|threshold|max[-_]warnings|minimum[-_]coverage|max[-_]warn\w*))(\s*(?:[:?]?=|:)\s*["']?|\s+)(\d+(?:\.\d+)?)`)

var ceiling = regexp.MustCompile(`(?i)max`)
