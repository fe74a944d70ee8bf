package shell_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"touchstone/verdict/guard/shell"
)

// said returns the checks of a script as text: "!" marks a check whose failure is lost, "?" one that runs
// under a condition.
func said(commands []shell.Command) string {
	var out []string
	for _, c := range commands {
		check, ok := c.Check()
		if !ok {
			continue
		}
		name := check.Name
		if c.Lost {
			name = "!" + name
		}
		if c.Conditional {
			name = "?" + name
		}
		out = append(out, name)
	}
	return strings.Join(out, ", ")
}

func TestWhetherACheckCanFailTheScript(t *testing.T) {
	for script, want := range map[string]string{
		"go test ./...":                                       "go test",
		"go test ./... || true":                               "!go test",
		"go test ./... || echo failed":                        "!go test",
		"go test ./... || exit 1":                             "go test",
		"go test ./... || (echo no; exit 1)":                  "go test",
		"go test ./... || { cat log; true; }":                 "!go test",
		"go test ./... ; exit 0":                              "go test",
		"set +e\ngo test ./...\nexit 0":                       "!go test",
		"set +e\ngo test ./...\nrc=$?\nexit $rc":              "go test",
		"exit 0\ngo test ./...":                               "",
		"go test ./... | tee log":                             "!go test",
		"set -o pipefail\ngo test ./... | tee log":            "go test",
		"set -euo pipefail; go test ./... | tee log":          "go test",
		"go test ./... &":                                     "!go test",
		"! go test ./...":                                     "!go test",
		"if [ -n \"$X\" ]; then go test ./...; fi":            "?go test",
		"if go test ./...; then echo ok; else exit 1; fi":     "go test",
		"if go test ./...; then echo ok; fi":                  "!go test",
		"trap 'exit 0' EXIT\ngo test ./...":                   "!go test",
		"bash -c 'go test ./... || true'":                     "!go test",
		"echo \"go test || true\"":                            "",
		"git commit -m 'skip go test --no-verify'":            "",
		"f() { go test ./...; }\nf || true":                   "!go test",
		"cd x && go vet ./... && go test ./...":               "go vet, go test",
		"for d in a b; do (cd $d; go test ./...); done":       "go test",
		"echo $(go test ./...)":                               "!go test",
		"CI=1 xvfb-run -a npx jest --ci":                      "jest",
		"cross build && cross test --target x --all":          "cross test",
		"uv run --frozen pytest -x":                           "pytest",
		"uv run --locked --group dev tox run":                 "tox",
		"python -m pytest":                                    "pytest",
		"python -uX dev -W error -bWdefault -m pytest":        "pytest",
		"python -bO -m pytest":                                "",
		"python -i -m pytest":                                 "",
		"python --version -m pytest":                          "",
		"python -c pass -m pytest":                            "",
		"python -W error x.py -m pytest":                      "",
		"python - -m pytest":                                  "",
		"pip install pytest && npm install jest":              "",
		"npm ci && npm run lint:fix":                          "",
		"npm --prefix web ci && pnpm ci":                      "",
		"npm run ci && composer ci":                           "npm ci, composer ci",
		"yarn jest && pnpm tsc --noEmit && yarn playwright":   "jest, tsc",
		". ci/run_tests.sh && source bin/activate":            "ci/run_tests.sh",
		"./gradlew --no-daemon :app:check":                    "gradle check",
		"mvn -B verify":                                       "mvn verify",
		"gofmt -l . && gofmt -w .":                            "gofmt",
		"ruff format .; ruff format --check .; ruff check .":  "ruff format, ruff check",
		"test -z \"$(gofmt -l .)\"":                           "!gofmt",
		"./scripts/run-tests.sh":                              "scripts/run-tests.sh",
		"sbt ++2.13 test":                                     "sbt test",
		"sbt -v \"core/Test/testOnly a.B\"":                   "sbt testOnly",
		"sbt 'set x := 1' +scalafmtCheckAll":                  "sbt scalafmtCheckAll",
		"sbt ++3 publishLocal; sbt ci-release":                "",
		"bundle exec rubocop -V; ctest -V":                    "ctest",
		"bundle exec appraisal rails-8.0 rake all_tests":      "rake all_tests",
		"appraisal rake spec && appraisal install":            "rake spec",
		"docker build -t coverage . && ./coverage/upload.txt": "",
	} {
		commands, err := shell.Parse(script, shell.Options{Errexit: true})
		if err != nil {
			t.Errorf("%q: %v", script, err)
		} else if got := said(commands); got != want {
			t.Errorf("%q: got %q, want %q", script, got, want)
		}
	}
}

func TestWithoutErrexitTheLastCommandCounts(t *testing.T) {
	commands, err := shell.Parse("go vet ./...\ngo test ./...", shell.Options{})
	if got := said(commands); err != nil || got != "!go vet, go test" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestTargetsAndScriptsAreLookedUp(t *testing.T) {
	p := shell.NewProject(map[string][]byte{
		"Makefile":       []byte("GO ?= go\ncheck: lint test ## all\n\nlint:\n\t@golangci-lint run\ntest:\n\t-$(GO) test ./...\n"),
		"package.json":   []byte(`{"scripts": {"test": "jest --ci", "ci": "npm run lint && npm test", "lint": "eslint . || true"}}`),
		"w/package.json": []byte(`{"scripts": {"test": "vitest run"}}`),
		"tox.ini":        []byte("[testenv]\ncommands =\n    pytest\n[testenv:style]\ncommands = - flake8\n"),
		"scripts/check":  []byte("#!/bin/sh -e\nmypy x\nruff check .\n"),
	})
	for text, want := range map[string]string{
		"make check":       "golangci-lint run, !go test",
		"make -C . lint":   "golangci-lint run",
		"npm run ci":       "!eslint, jest",
		"yarn test":        "jest",
		"tox":              "pytest",
		"tox -e style":     "!flake8",
		"./scripts/check":  "mypy, ruff check",
		"make unknown":     "",
		"npm run test:all": "npm test:all",
	} {
		if got := said(p.Resolve(shell.Command{Args: strings.Fields(text)}, ".")); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
	if got := said(p.Resolve(shell.Command{Args: []string{"npm", "test"}}, "w")); got != "vitest" {
		t.Errorf("in another directory: %q", got)
	}
}

// TestCallsWithinCallsAreBounded reads files in which a few lines call one check millions of times.
func TestCallsWithinCallsAreBounded(t *testing.T) {
	var scripts, makefile strings.Builder
	for i := range 9 {
		again := strings.Repeat(fmt.Sprintf("npm run t%d && ", i+1), 20)
		fmt.Fprintf(&scripts, "%q: %q, ", fmt.Sprintf("t%d", i), again+"true")
		fmt.Fprintf(&makefile, "t%d: %s\n", i, strings.Repeat(fmt.Sprintf("t%d ", i+1), 20))
	}
	p := shell.NewProject(map[string][]byte{
		"package.json": []byte(`{"scripts": {` + scripts.String() + `"t9": "eslint ."}}`),
		"Makefile":     []byte(makefile.String() + "t9: t0\n\tgo test ./...\n"),
		"tox.ini":      []byte("[tox]\nenvlist = " + strings.Repeat("py,", 1000) + "\n[testenv:py]\ncommands =\n    tox\n    pytest\n"),
	})
	if got := said(p.Resolve(shell.Command{Args: []string{"make", "t0"}}, ".")); got != "go test" {
		t.Errorf("make makes each target once, not %q", got)
	}
	for _, text := range []string{"npm run t0", "tox"} {
		if n := len(p.Resolve(shell.Command{Args: strings.Fields(text)}, ".")); n > 1_000_000 {
			t.Errorf("%s: %d commands", text, n)
		}
	}
}

// TestALongRecipeOfManyTargetsIsReadSoon has as many lines as targets, of which each line is one of each target.
func TestALongRecipeOfManyTargetsIsReadSoon(t *testing.T) {
	var targets strings.Builder
	for i := range 50_000 {
		fmt.Fprintf(&targets, "t%d ", i)
	}
	started := time.Now()
	shell.NewProject(map[string][]byte{"Makefile": []byte(targets.String() + ":\n" + strings.Repeat("\ta\n", 50_000))})
	if took := time.Since(started); took > 20*time.Second {
		t.Errorf("it took %s", took)
	}
}

func TestAMakefilesVariablesArePutIn(t *testing.T) {
	var bomb strings.Builder
	for i := range 40 {
		fmt.Fprintf(&bomb, "V%d = $(V%d)$(V%d)$(V%d)$(V%d)\n", i, i+1, i+1, i+1, i+1)
	}
	p := shell.NewProject(map[string][]byte{"Makefile": []byte("TOOL = ${GO}\nGO = go\nALL := ./...\n" + bomb.String() +
		"test:\n\t$(TOOL) test ${ALL} $(UNKNOWN)\nbomb:\n\t$(TOOL) vet $(V0)\n")})
	if got := said(p.Resolve(shell.Command{Args: []string{"make", "test"}}, ".")); got != "go test" {
		t.Errorf("got %q", got)
	}
	for _, c := range p.Resolve(shell.Command{Args: []string{"make", "bomb"}}, ".") {
		if n := len(strings.Join(c.Args, " ")); n > 1<<17 {
			t.Errorf("a line of %d bytes", n)
		}
	}
}

// A list of commands as written is the same however a script is broken into lines, and cuts nothing within quotes,
// substitutions and expressions of a pipeline.
func TestCommandsAreListedAsTheyAreWritten(t *testing.T) {
	for script, want := range map[string]string{
		"a &&  b || true; c 'x;y' &\nwait": "0 a, 0 b, 0 || true, 0 c 'x;y' &, 1 wait",
		"a \\\n  -b\n\n# told\nc":          "0 a -b, 4 c",
		"if [ ${{ a || 'b' }} = x ]; then\n  t | tee l\nelif u; then v; else\n  w\nfi": "0 if [ ${{ a || 'b' }} = x ], 1 t, 1 | tee l, " +
			"2 elif u, 2 v, 3 w",
		"a ${{ b }} ${{ c }}\nd ${{ e }}": "0 a ${{ b }} ${{ c }}, 1 d ${{ e }}",
		"for i in 1 2; do a; done | b":    "0 for i in 1 2, 0 a, 0 | b",
		"while read x; do (a; b); done":   "0 while read x, 0 a, 0 b",
		"until a\ndo\n{ b; }\ndone":       "0 until a, 2 b",
		"case $x in a) b ;; esac":         "0 case $x, 0 b",
		"f() { a; }\nf \"$(b; c)\"":       "0 a, 1 f \"$(b; c)\"",
		"! a":                             "0 ! a",
		"# nothing":                       "",
	} {
		lines, err := shell.Lines(script)
		var got []string
		for _, l := range lines {
			got = append(got, fmt.Sprint(l.Line, " ", l.Text))
		}
		if strings.Join(got, ", ") != want || err != nil {
			t.Errorf("%q: %q, %v; want %q", script, got, err, want)
		}
	}
	expressions := strings.Repeat("a ${{b}}\n", shell.MaxScript/9) // what stands for one while the script is read is longer
	if lines, err := shell.Lines(expressions); err != nil || len(lines) != shell.MaxScript/9 {
		t.Errorf("a script of %d bytes is read as %d commands: %v", len(expressions), len(lines), err)
	}
	long := strings.Repeat("a ${{ "+strings.Repeat("b", 1000)+" }}\n", shell.MaxScript/1000)
	for _, script := range []string{"if a; then b", strings.Repeat("a\n", shell.MaxScript), long} {
		if lines, err := shell.Lines(script); err == nil {
			t.Errorf("%.20q is read as %d commands", script, len(lines))
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("set +e; go test | tee x || (exit 1) && if a; then b; fi")
	f.Fuzz(func(t *testing.T, script string) {
		commands, err := shell.Parse(script, shell.Options{})
		for _, c := range commands {
			if len(c.Args) == 0 || c.Line < 1 || err != nil {
				t.Fatalf("%+v, %v", c, err)
			}
			c.Check()
		}
		if lines, err := shell.Lines(script); err != nil && lines != nil {
			t.Fatalf("%+v, %v", lines, err)
		}
	})
}

// A script that is only laid out otherwise says nothing new; what does not parse is never the same.
func TestLayoutAloneMakesNoOtherScript(t *testing.T) {
	t.Parallel()
	const script = "set -e\nlist |\n  grep -v x ||\n  true\n"
	for other, want := range map[string]bool{"set -e\nlist \\\n        | grep -v x \\\n        || true\n": true,
		"set -e\nlist | grep -v y || true\n": false, "set -e\nlist | grep -v x\n": false} {
		if got := shell.Same([]byte(script), []byte(other)); got != want {
			t.Errorf("%q: %t, want %t", other, got, want)
		}
	}
	if broken := []byte("if ("); shell.Same(broken, broken) {
		t.Error("what does not parse is the same")
	}
}
