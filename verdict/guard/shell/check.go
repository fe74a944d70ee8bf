package shell

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Check is a command that can fail a change.
type Check struct {
	// Name is the tool and its task, such as "go test".
	Name string
	// Guessed says that only the name of a script or target suggests that it checks something.
	Guessed bool
}

// checkers are the programs that check something, whatever their arguments.
var checkers = strings.Fields("gotestsum staticcheck govulncheck revive swiftlint ctest pytest py.test tox nox unittest " +
	"doctest mypy pyright basedpyright pyre flake8 pylint bandit pip-audit pip_audit trial stestr nose2 virtue deptry lint-imports " +
	"vulture interrogate pydocstyle doc8 check-manifest validate-pyproject slotscheck jest vitest mocha ava eslint oxlint tslint " +
	"stylelint tsc vue-tsc tsd publint attw knip rspec rubocop standardrb brakeman bundle-audit bundler-audit minitest phpunit " +
	"paratest phpstan psalm pest phan phpcs phpmd deptrac infection parallel-lint ktlint detekt hadolint shellcheck yamllint " +
	"actionlint zizmor selene luacheck ansible-lint vale checkov tflint kubeconform protolint run-clang-tidy clang-tidy cppcheck " +
	"cpplint valgrind hlint sobelow markdownlint markdownlint-cli2 codespell typos commitlint danger danger-js danger-swift " +
	"danger-kotlin trivy grype semgrep gitleaks trufflehog osv-scanner gosec diff-cover")

// tools are the programs that check something if one of these words follows. A word or part that begins with "-" is an option
// that is required too.
var tools = map[string][]string{
	"go": {"test", "vet"}, "gofmt": {"-l", "-d"}, "gofumpt": {"-l", "-d"}, "golangci-lint": {"run"},
	"cargo": {"test", "clippy", "check", "nextest", "fmt --check", "audit", "deny", "llvm-cov", "tarpaulin", "miri",
		"semver-checks", "doc", "hack", "machete", "udeps", "xtask", "vet", "wasi test", "careful test", "component test"},
	"cross": {"test", "check", "clippy"}, "dotnet": {"test", "format --verify-no-changes"}, "swift": {"test"},
	"mix": {"test", "credo", "dialyzer", "format --check-formatted", "compile --warnings-as-errors", "hex.audit", "deps.audit", "sobelow",
		"xref"},
	"flutter": {"test", "analyze"}, "dart": {"test", "analyze"}, "deno": {"test", "lint", "check", "fmt --check"}, "bazel": {"test"},
	"meson": {"test"}, "ninja": {"test"}, "ty": {"check"}, "ruff": {"check", "format --check"}, "safety": {"check", "scan"},
	"twine": {"check"}, "black": {"--check"}, "isort": {"--check", "--check-only", "-c"}, "pre-commit": {"run"}, "prek": {"run"},
	"karma": {"start"}, "cypress": {"run"}, "playwright": {"test"}, "stryker": {"run"}, "biome": {"check", "ci", "lint"},
	"prettier": {"--check", "-c", "--list-different", "-l"}, "srb": {"tc"}, "steep": {"check"}, "rails": {"test"}, "ecs": {"check"},
	"php-cs-fixer": {"check", "fix --dry-run"}, "rector": {"--dry-run", "-n"},
	"taplo": {"lint", "check", "fmt --check", "format --check"}, "dprint": {"check"}, "stylua": {"--check", "-c"}, "reuse": {"lint"},
	"sqlfluff": {"lint"}, "spectral": {"lint"}, "helm": {"lint"}, "nixfmt": {"--check"}, "clang-format": {"--dry-run", "--Werror", "-n"},
	"wasm-pack": {"test"}, "scalafmt": {"--check", "--test", "--list"}, "scalafix": {"--check"}, "swift-format": {"lint"},
	"swiftformat": {"--lint", "--dryrun"}, "zig": {"test", "build test"}, "gleam": {"test"},
	"rebar3": {"eunit", "ct", "dialyzer", "xref", "lint"}, "buf": {"lint", "breaking"}, "shfmt": {"-d"},
	"terraform": {"validate", "fmt -check"}, "snyk": {"test"}, "nyc": {"check-coverage"}, "c8": {"check-coverage"},
	"coverage": {"report"}, "git": {"diff --exit-code", "diff --quiet"},
}

// runners are programs that run a target or script by its name.
var runners = []string{"make", "gmake", "just", "task", "mage", "rake", "npm", "yarn", "pnpm", "bun", "npx", "composer", "mvn",
	"mvnw", "gradle", "gradlew", "sbt", "hatch", "poe", "invoke", "inv", "nx", "turbo", "lerna", "pdm", "moon", "melos"}

// wrappers are programs that run the command after them, with the number of words that belong to the wrapper.
var wrappers = map[string]int{
	"sudo": 1, "env": 1, "time": 1, "nice": 1, "exec": 1, "command": 1, "xvfb-run": 1, "timeout": 2, "npx": 1, "bunx": 1, "pnpx": 1,
	"corepack": 1, "stdbuf": 1, "retry": 1, "appraisal": 2, "coverage run": 2,
	"bundle exec": 2, "poetry run": 2, "uv run": 2, "pipenv run": 2, "hatch run": 2, "pdm run": 2, "rye run": 2, "pipx run": 2,
	"uvx": 1, "yarn exec": 2, "pnpm exec": 2, "npm exec": 2, "pnpm dlx": 2,
	"yarn dlx": 2, "python -m": 2, "python3 -m": 2, "py -m": 2, "go run": 2, "go tool": 2, "uv tool": 3, "docker-compose run": 3,
	"pnpm turbo": 1, "yarn turbo": 1, "yarn run-s": 1, "yarn run-p": 1,
	"mise exec": 2, "nix develop": 2, "rtx exec": 2,
}

var (
	capital    = regexp.MustCompile(`[A-Z]`)
	assignment = regexp.MustCompile(`^[A-Za-z_]\w*=`)
	script     = regexp.MustCompile(`^(?:\.{0,2}/|\w[\w.-]*/)[\w./-]+$|\.(?:sh|py|rb|js|ts|mjs|pl)$`)
)

// checkWords are words in the names of targets and scripts that check something, fixWords words in the names
// of those that do something else.
var (
	checkWords = strings.Fields("test tests unit spec specs lint check checks verify validate ci vet typecheck types tsc e2e coverage " +
		"clippy audit mima")
	fixWords = strings.Fields("fix watch install update clean buildonly setup deps")
)

// checking reports whether the name of a target or script says that it checks something.
func checking(name string) bool { return madeOf(name, "-_:./", checkWords) }

// fixing reports whether the name of a target or script says that it does something else.
func fixing(name string) bool {
	return madeOf(strings.ReplaceAll(strings.ToLower(name), "build-only", "buildonly"), "-_:", fixWords)
}

// madeOf reports whether one of the words is a part of a name.
func madeOf(name, between string, words []string) bool {
	parts := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return strings.ContainsRune(between, r) })
	return slices.ContainsFunc(parts, func(part string) bool { return slices.Contains(words, part) })
}

// Check returns what a command checks, if it checks anything.
func (c Command) Check() (Check, bool) {
	args := unwrap(c.Args)
	if len(args) == 0 {
		return Check{}, false
	}
	name := strings.TrimSuffix(path.Base(args[0]), ".exe")
	if at := strings.LastIndexByte(name, '@'); at > 0 {
		name = name[:at]
	}
	if slices.Contains(args, "--fix") || slices.Contains(args, "--version") || slices.Contains(args, "--help") {
		return Check{}, false
	}
	if name != "ctest" && slices.Equal(args[1:], []string{"-V"}) { // its version
		return Check{}, false
	}
	if slices.Contains(checkers, name) {
		return Check{Name: name}, true
	}
	if words, known := tools[name]; known {
		return asked(name, words, args[1:])
	}
	if name == "sbt" {
		return task(args[1:])
	}
	if slices.Contains(runners, name) {
		return target(name, args[1:])
	}
	if i := slices.IndexFunc(args, func(a string) bool { return a == "--target" || a == "-t" }); name == "cmake" && i > 0 && i+1 < len(args) &&
		(checking(args[i+1]) || strings.Contains(args[i+1], "test")) {
		return Check{Name: "cmake " + args[i+1]}, true
	}
	for len(args) > 1 && slices.Contains([]string{"bash", "sh", "python", "python3", "node", "ruby", "pwsh", "tsx", "ts-node",
		"perl"}, path.Base(args[0])) {
		args = args[1:]
		for len(args) > 1 && strings.HasPrefix(args[0], "-") {
			args = args[1:]
		}
	}
	if script.MatchString(args[0]) && namesCheck(args[0]) {
		return Check{strings.TrimPrefix(args[0], "./"), true}, true
	}
	return Check{}, false
}

// idle are programs that find nothing, whatever their arguments, and shell builtins.
var idle = []string{"echo", "printf", "true", ":", "exit", "return", "cd", "pushd", "popd", "set", "export", "unset", "source", ".", "eval",
	"trap", "sleep", "wait", "ls", "cat", "pwd", "mkdir", "cp", "mv", "rm", "touch", "chmod", "chown", "ln", "tar", "unzip", "zip", "date",
	"env", "which", "command", "type", "test", "[", "[[", "git", "gh", "curl", "wget", "apt", "apt-get", "brew", "yum", "apk", "dnf",
	"choco", "winget", "rustup", "corepack", "sed", "awk", "grep", "tr", "cut", "head", "tail", "tee", "sort", "uniq", "xargs", "find", "jq",
	"id", "whoami", "uname", "df", "free", "kill", "local", "readonly", "declare", "read", "shift", "false"}

// installing are words with which package managers and build tools only fetch or clean.
var installing = []string{"install", "ci", "i", "add", "sync", "restore", "fetch", "download", "update", "upgrade", "clean", "login",
	"pull", "push", "publish", "cache", "config", "mod", "--version", "version", "-V", "-v", "--help"}

// building are words with which programs that could check only build or run something.
var building = []string{"build", "run", "compile", "generate", "publish", "pack", "release", "exec", "env", "tool"}

// compilers are programs whose "run" command builds and runs a program of the repository, which may check
// anything.
var compilers = []string{"cargo", "go", "dotnet", "swift", "deno"}

// Builds reports whether a command compiles the code of the repository.
func (c Command) Builds() bool {
	args := unwrap(c.Args)
	return len(args) > 1 && !c.Lost && slices.Contains(compilers, args[0]) && args[1] == "build" ||
		len(args) > 1 && args[0] == "cmake" && args[1] == "--build"
}

// Idle reports whether a command cannot fail because of what it examines: it prints, moves files, installs or
// builds.
func (c Command) Idle() bool {
	args := unwrap(c.Args)
	if c.Lost || len(args) == 0 || slices.Contains(idle, path.Base(args[0])) || strings.HasPrefix(args[0], "$") {
		return true
	}
	if docker := path.Base(args[0]); strings.HasPrefix(docker, "docker") || docker == "podman" {
		return !slices.ContainsFunc(args, func(a string) bool { return a == "run" || a == "exec" || a == "build" })
	}
	word := slices.IndexFunc(args[1:], func(a string) bool { return !strings.HasPrefix(a, "-") }) + 1
	if args[word] == "run" && slices.Contains(compilers, args[0]) {
		return false
	}
	return slices.Contains(installing, args[word]) || (word != 1 || slices.Contains(building, args[word])) && isProgram(args[0]) ||
		word != 1 && strings.HasPrefix(path.Base(args[0]), "python")
}

// namesCheck reports whether a script's own name, not its folder's, says that it checks something.
func namesCheck(file string) bool {
	base := path.Base(file)
	return checking(strings.TrimSuffix(base, path.Ext(base))) && !fixing(base)
}

// unwrap removes the assignments and wrappers before the actual command.
func unwrap(args []string) []string {
	for {
		for len(args) > 0 && assignment.MatchString(args[0]) {
			args = args[1:]
		}
		if len(args) == 0 {
			return nil
		}
		n := wrappers[path.Base(args[0])]
		if len(args) > 1 {
			n = cmp.Or(wrappers[path.Base(args[0])+" "+args[1]], n)
		}
		if n == 0 || n >= len(args) {
			return args
		}
		if n > 1 && isProgram(args[1]) { // the wrapper's own word is missing
			n = 1
		}
		args = args[n:]
		if strings.HasPrefix(args[0], "-") { // the wrapper's own options, some of which take a word
			args = args[max(0, slices.IndexFunc(args, isProgram)):]
		}
		for len(args) > 1 && strings.HasPrefix(args[0], "-") {
			args = args[1:]
		}
	}
}

// isProgram reports whether a word is a known program.
func isProgram(word string) bool {
	name := path.Base(word)
	_, tool := tools[name]
	_, wrapper := wrappers[name]
	return tool || wrapper || slices.Contains(checkers, name) || slices.Contains(runners, name)
}

// asked reports whether the words that make a program check are present.
func asked(name string, words, args []string) (Check, bool) {
	sub := ""
	for _, a := range args {
		if !strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "+") {
			sub = a
			break
		}
	}
	for _, word := range words {
		verb, option, _ := strings.Cut(word, " ")
		if strings.HasPrefix(verb, "-") {
			verb, option = "", verb
		}
		if (verb == "" || verb == sub) && (option == "" || slices.ContainsFunc(args, func(a string) bool {
			return a == option ||
				strings.HasPrefix(a, option+"=")
		})) {
			if option != "" && option[0] != '-' { // the verb of a plugin
				verb = word
			}
			return Check{Name: strings.TrimSpace(name + " " + verb)}, true
		}
	}
	return Check{}, false
}

// RunsTarget reports whether a check is a target or script of the repository that is known only by its name.
func RunsTarget(check string) bool {
	runner, _, _ := strings.Cut(check, " ")
	return slices.Contains(runners, runner) && runner != "mvn" && runner != "gradle"
}

// tasks returns the tasks that sbt's arguments ask for. One argument may have several, divided by semicolons.
func tasks(args []string) (all []string) {
	for _, arg := range args {
		for text := range strings.SplitSeq(strings.ReplaceAll(arg, " / ", "/"), ";") {
			words := slices.DeleteFunc(strings.Fields(text), func(w string) bool { return strings.HasPrefix(w, "++") || strings.HasPrefix(w, "-") })
			if len(words) > 0 && words[0] != "set" && words[0] != "project" {
				all = append(all, strings.Join(words, " "))
			}
		}
	}
	return all
}

// task returns the check that sbt's arguments ask for. A task's name may have a project and a configuration before
// it, and is one word with capital letters within.
func task(args []string) (Check, bool) {
	for _, text := range tasks(args) {
		name, _, _ := strings.Cut(text, " ")
		name = strings.TrimLeft(name[strings.LastIndexByte(name, '/')+1:], "+")
		if checking(capital.ReplaceAllString(name, "-$0")) && name != "ci-release" {
			return Check{Name: "sbt " + name}, true
		}
	}
	return Check{}, false
}

// phases are the targets of Maven and Gradle that test.
var phases = []string{"test", "verify", "check", "integration-test", "install", "build"}

// target returns the check that a runner's arguments ask for.
func target(runner string, args []string) (Check, bool) {
	name := cmp.Or(map[string]string{"mvnw": "mvn", "gradlew": "gradle", "gmake": "make"}[runner], runner)
	if name == "rake" && len(args) == 0 { // its default task
		return Check{Name: "rake", Guessed: true}, true
	}
	for i, a := range args {
		if i > 0 && (args[i-1] == "-C" || args[i-1] == "-f" || args[i-1] == "--prefix" || args[i-1] == "--filter" ||
			args[i-1] == "-F" || args[i-1] == "-w") {
			continue
		}
		last := a[strings.LastIndexByte(a, ':')+1:]
		switch {
		case strings.HasPrefix(a, "-"), a == "run", a == "workspace", a == "workspaces", a == "run-many", strings.Contains(a, "="):
		case a == "install" && name != "mvn", a == "ci" && name != "make", a == "i", a == "add", a == "exec", a == "publish":
			return Check{}, false
		case (name == "mvn" || name == "gradle") && (slices.Contains(phases, last) || checking(last)):
			return Check{Name: name + " " + last}, true
		case (a == "t" || a == "tst") && name == "npm":
			return Check{Name: "npm test"}, true
		case a == "clean" && (name == "mvn" || name == "gradle"): // before other phases
		case fixing(a):
			return Check{}, false
		case checking(a) || a == "all" && name == "make":
			return Check{Name: name + " " + a}, true
		case name != "mvn" && name != "gradle" && name != "make" && name != "nx":
			return Check{}, false
		}
	}
	return Check{}, false
}
