package ci_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"touchstone/verdict/guard/change"
	"touchstone/verdict/guard/ci"
)

const workflow = ".github/workflows/ci.yml"

func found(name, before, after string) string {
	var out []string
	for _, f := range ci.Compare([]change.File{{Path: name, OldPath: name, Before: []byte(before), After: []byte(after)}}) {
		out = append(out, fmt.Sprintf("%s %s:%d", f.Tier, f.Rule, f.Line))
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

func TestAHeldInputIsTheSwitchThatTurns(t *testing.T) {
	calls := func(inputs string) []byte {
		return []byte("on: pull_request\njobs:\n  t:\n    uses: o/r/.github/workflows/test.yml@main\n    with: {" + inputs + "}\n")
	}
	found := ci.Compare([]change.File{{Path: workflow, OldPath: workflow, Before: calls("build: true, run_scan: true"),
		After: calls("build: false, run_scan: false")}})
	if len(found) != 1 || found[0].Tier != change.Hold || found[0].After != "run_scan: false" {
		t.Errorf("%+v", found)
	}
}

// The same workflow, in several spellings, loses its trigger for pull requests.
func TestALostTriggerIsSeenInEverySpelling(t *testing.T) {
	jobs := "\njobs:\n  t:\n    steps:\n      - run: go test ./...\n"
	for _, spelling := range []string{
		"on:\n  push:\n  pull_request:\n", "'on':\n  push:\n  pull_request:\n", "\"on\" :\n  push:\n  pull_request:\n",
		"on :\n    push:\n    pull_request:\n",
		"on: {push: , pull_request: }\n", "on: [push, pull_request]\n", "on:\n- push\n- pull_request\n",
		"x: &e\n  push:\n  pull_request:\non: *e\n", "---\non:\n\n  # why\n  push: {}\n\n  pull_request: {}\n",
	} {
		if got := found(workflow, spelling+jobs, "on: push"+jobs); !strings.HasPrefix(got, "hold ci/trigger-gone:") ||
			strings.Contains(got, ",") {
			t.Errorf("%q: %q", spelling, got)
		}
		if got := found(workflow, spelling+jobs, "on: [pull_request, push]"+jobs); got != "" {
			t.Errorf("%q written otherwise: %q", spelling, got)
		}
	}
}

func TestWhatAWorkflowChecks(t *testing.T) {
	job := func(rest string) string { return "on: pull_request\njobs:\n  t:\n    runs-on: x\n" + rest }
	test := job("    steps:\n      - run: go test ./...\n")
	matrix := func(rest string) string {
		return job("    strategy:\n      matrix:\n" + rest + "    steps:\n      - run: go test ./...\n")
	}
	matrixed := func(axes, steps string) string {
		return job("    strategy:\n      matrix:\n" + axes + "    steps:\n" + steps)
	}
	decides := func(versions string) string {
		return job("    strategy: {matrix: {v: " + versions + "}}\n    steps:\n      - run: |\n          if [ -e left ]; then exit 1; fi\n")
	}
	called := func(on string) string {
		return "on: push\njobs:\n  t:\n    uses: o/r/.github/workflows/test.yml@main\n    with:\n      macos_enabled: " + on + "\n"
	}
	for name, tt := range map[string]struct{ before, after, want string }{
		"a step gone": {test, job("    steps:\n      - run: go build ./...\n"), "hold ci/check-gone:6"},
		"may fail": {test, job("    steps:\n      - run: go test ./...\n        continue-on-error: true\n"),
			"hold ci/cannot-fail:6"},
		"a job less": {test + "  u:\n    steps:\n      - run: go test ./...\n", test, "evidence ci/job-gone:9"},
		"a job that is a comment": {test + "  linux:\n    steps:\n      - run: swift build\n",
			test + "  # linux:\n  #   steps:\n  #     - run: swift build\n", "hold ci/commented-out:7"},
		"a job less that compiles": {test + "  linux:\n    steps:\n      - run: swift build\n", test, "evidence ci/job-gone:7"},
		"a job less that compiles, beside a published workflow": {called("true") + "  linux:\n    steps:\n      - run: swift build\n",
			called("true"), "evidence ci/job-gone:7"},
		"fewer cells of a job with a check of its own": {decides("[1, 2, 3]"), decides("[2, 3]"), "evidence ci/fewer-cases:3"},
		"later cells of one":                           {decides("[1, 2, 3]"), decides("[3, 4]"), "evidence ci/fewer-cases:3"},
		"a check of several lines that is a comment": {test + "      - run: |\n          ./up\n          go test -tags cloud ./...\n",
			test + "      # - run: |\n      #     ./up\n      #     go test -tags cloud ./...\n", "hold ci/commented-out:9, hold ci/fewer-cases:6"},
		"a comment that was one before": {test + "  linux:\n    steps:\n      - run: ./linux\n  # linux:\n",
			test + "  # linux:\n", ""},
		"a check that is a comment, beside another": {test + "      - run: go test -tags cloud ./...\n",
			test + "      # - run: go test -tags cloud ./...\n", "hold ci/commented-out:7, hold ci/fewer-cases:6"},
		"a check that is a comment beside what took its place": {test,
			job("    steps:\n      # - run: go test ./...\n      - run: go test -v ./x/...\n"), "evidence ci/command-changed:7"},
		"containers up in its place": {job("    steps:\n      - run: go test ./...\n"),
			job("    steps:\n      - run: docker compose up\n"), "hold ci/check-gone:6"},
		"a check of its own that is a comment": {
			job("    steps:\n      - run: ./up\n      - run: |\n          if grep -q '^x' go.mod; then exit 1; fi\n"),
			job("    steps:\n      - run: ./up\n      #- run: |\n      #    if grep -q '^x' go.mod; then exit 1; fi\n"), "hold ci/commented-out:7"},
		"a command that is a comment": {job("    steps:\n      - run: ./up\n      - name: headers\n        run: make copyheaders\n"),
			job("    steps:\n      - run: ./up\n      # - name: headers\n      #   run: make copyheaders\n"), "hold ci/commented-out:8"},
		"an installation that is a comment": {job("    steps:\n      - run: ./up\n      - run: pip install x\n"),
			job("    steps:\n      - run: ./up\n      # - run: pip install x\n"), ""},
		"a start of a service, and versions, that are comments": {
			job("    steps:\n      - run: ./up\n      - run: sudo systemctl start mysql\n      - run: google-chrome --version\n"),
			job("    steps:\n      - run: ./up\n      # - run: sudo systemctl start mysql\n      # - run: google-chrome --version\n"), ""},
		"a command after the merge that is a comment": {
			job("    steps:\n      - run: ./up\n      - run: ./site\n        if: github.event_name == 'push'\n"),
			job("    steps:\n      - run: ./up\n      # - run: ./site\n      #   if: github.event_name == 'push'\n"), ""},
		"a command that could not fail that is a comment": {
			job("    steps:\n      - run: ./up\n      - run: ./site\n        continue-on-error: true\n"),
			job("    steps:\n      - run: ./up\n      # - run: ./site\n      #   continue-on-error: true\n"), ""},
		"a case that is a comment": {
			job("    strategy:\n      matrix:\n        c:\n          - name: linux\n          - name: 'windows'\n" +
				"    steps:\n      - run: ${{ matrix.c.run }}\n      - run: ./x\n"),
			job("    strategy:\n      matrix:\n        c:\n          - name: linux\n          # - name: 'windows'\n" +
				"    steps:\n      - run: ${{ matrix.c.run }}\n      - run: ./x\n"), "hold ci/commented-out:3"},
		"a comment in a matrix that is another one": {
			job("    strategy:\n      matrix:\n        v:\n          - a\n          - b\n          - c\n    steps:\n      - run: ./x\n"),
			job("    strategy:\n      matrix:\n        v:\n          - d\n          # - b\n    steps:\n      - run: ./x\n"),
			"evidence ci/fewer-cases:3"},
		"a case that may fail and is a comment": {
			job("    strategy:\n      matrix:\n        v:\n          - a\n          - b\n" +
				"    continue-on-error: ${{ matrix.v == 'b' }}\n    steps:\n      - run: ./x\n"),
			job("    strategy:\n      matrix:\n        v:\n          - a\n          # - b\n" +
				"    continue-on-error: ${{ matrix.v == 'b' }}\n    steps:\n      - run: ./x\n"), "evidence ci/fewer-cases:3"},
		"a test by its step's name that may fail in one case": {
			matrixed("        v: ['', dev]\n", "      - name: integration test\n        run: ./all\n"),
			matrixed("        v: ['', dev]\n", "      - name: integration test\n"+
				"        continue-on-error: ${{ matrix.v != '' }}\n        run: ./all\n"),
			"hold ci/cannot-fail:11"},
		"a test by its step's name that runs in one case": {
			matrixed("        v: ['', dev]\n", "      - name: integration test\n        run: ./all\n"),
			matrixed("        v: ['', dev]\n", "      - name: integration test\n        if: matrix.v == ''\n        run: ./all\n"), ""},
		"a step of another name that may fail": {
			job("    steps:\n      - name: tell\n        run: ./all\n"),
			job("    steps:\n      - name: tell\n        run: ./all\n        continue-on-error: true\n"), ""},
		"skipped where the text says so": {test,
			job("    if: github.event_name != 'pull_request' || !contains(github.event.pull_request.body, '[skip]')\n" +
				"    steps:\n      - run: go test ./...\n"), "hold ci/if-asked:7"},
		"run where the title says so": {test,
			job("    if: startsWith(github.event.pull_request.title, 'test')\n    steps:\n      - run: go test ./...\n"), "hold ci/if-asked:7"},
		"run where a label says so": {test,
			job("    if: contains(github.event.pull_request.labels.*.name, 'test')\n    steps:\n      - run: go test ./...\n"),
			"evidence ci/conditional:7"},
		"the latest gone is no test gone": {job("    steps:\n      - run: ./a\n") + "  latest:\n    steps:\n      - run: ./b\n",
			job("    steps:\n      - run: ./a\n"), ""},
		"the tests of melos gone": {job("    steps:\n      - run: melos test\n      - run: melos bootstrap\n"),
			job("    steps:\n      - run: melos bootstrap\n"), "hold ci/check-gone:6"},
		"one version of rake's may fail": {strings.Replace(matrix("        v: [1, 2]\n"), "go test ./...", "bundle exec rake", 1),
			strings.Replace(matrix("        v: [1, 2]\n"), "run: go test ./...",
				"run: bundle exec rake\n        continue-on-error: ${{ matrix.v == 2 }}", 1), "hold ci/fewer-cases:9"},
		"a job that never runs": {job("    steps:\n      - run: ./reproduce\n"),
			job("    if: false\n    steps:\n      - run: ./reproduce\n"),
			"hold ci/job-off:3"},
		"a job that never ran": {job("    if: false\n    steps:\n      - run: ./reproduce\n"),
			job("    if: ${{ false }}\n    steps:\n      - run: ./reproduce\n"), ""},
		"a job for other events": {job("    steps:\n      - run: ./deploy\n"),
			job("    if: github.event_name == 'push'\n    steps:\n      - run: ./deploy\n"), ""},
		"a job by hand alone": {job("    steps:\n      - run: ./reproduce\n"),
			strings.Replace(job("    steps:\n      - run: ./reproduce\n"), "pull_request", "workflow_dispatch", 1), "evidence ci/job-off:3"},
		"tests left out": {test, job("    steps:\n      - run: go test -short ./...\n"), "hold ci/tests-left-out:6"},
		"tests left out by a value": {job("    steps:\n      - run: pytest\n"),
			job("    steps:\n      - run: pytest -m 'not slow'\n"), "hold ci/tests-left-out:6"},
		"a test that may try again": {job("    steps:\n      - run: npm test\n"),
			job("    steps:\n      - uses: nick-fields/retry@v3\n        with: {max_attempts: 3, command: npm test}\n"),
			"evidence ci/context-changed:6"},
		"a published check gone": {test + "  u:\n    steps:\n      - uses: isort/isort-action@v1\n", test, "hold ci/check-gone:9"},
		"tests chosen": {job("    steps:\n      - run: pytest\n"),
			job("    steps:\n      - run: pytest -m slow\n"), "evidence ci/command-changed:6"},
		"tests left out, and others named": {job("    steps:\n      - run: pytest a\n"), job("    steps:\n      - run: pytest --ignore b/c\n"),
			"evidence ci/command-changed:6"},
		"a lint allowed": {job("    steps:\n      - run: cargo clippy -- -D warnings\n"),
			job("    steps:\n      - run: cargo clippy -- -D warnings -A clippy::all\n"), "hold ci/lint-allowed:6"},
		"coverage no longer sent": {job("    steps:\n      - run: go test ./...\n      - uses: codecov/codecov-action@v5\n"), test,
			"evidence ci/check-gone:7"},
		"may fail by a cell": {matrix("        v: [1, 2]\n"),
			matrix("        include: [{v: 1}, {v: 2, x: true}]\n") + "    continue-on-error: ${{ matrix.x || false }}\n",
			"hold ci/fewer-cases:9"},
		"or true": {test, job("    steps:\n      - run: go test ./... || true\n"), "hold ci/cannot-fail:6"},
		"or within an expression": {test, job("    steps:\n      - run: go test ${{ inputs.x || './...' }}\n"),
			"evidence ci/command-changed:6"},
		"never runs": {test, job("    if: ${{ false }}\n    steps:\n      - run: go test ./...\n"),
			"hold ci/cannot-fail:7"},
		"only on main": {test,
			job("    if: github.ref == 'refs/heads/main'\n    steps:\n      - run: go test ./...\n"), "hold ci/not-for-pull-requests:7"},
		"always on pull requests": {test,
			job("    if: github.event_name == 'pull_request' || github.actor != 'x'\n    steps:\n      - run: go test ./...\n"), ""},
		"a matrix list as include": {matrix("        v: [1, 2]\n"),
			matrix("        include:\n          - v: 1\n          - v: 2\n"), ""},
		"an included value that overwrites another": {matrix("        v: [1, 2]\n        include: [{c: 1}, {v: 1, c: 0}]\n"),
			matrix("        v: [1, 2]\n"), ""},
		"jobs folded into a matrix": {test + "  u:\n    steps:\n      - run: go test ./...\n", matrix("        v: [1, 2]\n"), ""},
		"a job folded into a step for one object of a matrix": {
			matrix("        v: [{n: 1}, {n: 2, x: true}]\n") + "  u:\n    steps:\n      - run: phpunit --strict\n",
			matrix("        v: [{n: 1}, {n: 2, x: true}]\n"+
				"") + "      - if: ${{ matrix.v.n == 2 && matrix.v.x && !matrix.v.y }}\n        run: phpunit --strict\n", ""},
		"a job folded into a step with an unknown condition": {
			test + "      - run: phpunit a\n  u:\n    steps:\n      - run: phpunit b\n",
			test + "      - run: phpunit a\n      - if: env.x\n        run: phpunit b\n", "evidence ci/job-gone:10"},
		"one of several tasks of sbt": {job("    steps:\n      - run: sbt ++3 \"clean; core / Test / test; mimaReportBinaryIssues\"\n"),
			job("    steps:\n      - run: sbt ++3 \"clean; core/Test/test\"\n"), "hold ci/check-gone:6"},
		"fewer cells of sbt's": {strings.Replace(matrix("        v: [1, 2]\n"), "go test ./...", "sbt ++${{ matrix.v }} test-js", 1),
			strings.Replace(matrix("        v: [1]\n"), "go test ./...", "sbt ++${{ matrix.v }} test-js", 1), "hold ci/fewer-cases:9"},
		"warnings off by a variable": {job("    steps:\n      - run: rake test\n"),
			job("    env:\n      RUBYOPT: -W0\n    steps:\n      - run: rake test\n"), "evidence ci/context-changed:8"},
		"published without an environment": {strings.Replace(job("    environment: {name: live}\n    steps:\n"+
			"      - run: ./publish\n"), "pull_request", "release", 1),
			strings.Replace(job("    steps:\n      - run: ./publish\n"), "pull_request", "release", 1), "evidence ci/environment-gone:3"},
		"published to another environment": {job("    environment: a\n    steps:\n      - run: ./publish\n"),
			job("    environment: b\n    steps:\n      - run: ./publish\n"), ""},
		"an older case less for a later one": {matrix("        v: [1.17.x, 1.18.x, 1.19.x]\n"), matrix("        v: [1.19.x, 1.20.x]\n"),
			"evidence ci/fewer-cases:9"},
		"a case excluded, whose values are in others": {matrix("        v: [1, 2]\n        os: [a, b]\n"),
			matrix("        v: [1, 2]\n        os: [a, b]\n        exclude:\n          - v: 1\n            os: b\n"), "hold ci/fewer-cases:13"},
		"an object excluded, in another order": {matrix("        v: [{n: 1, m: x}, {n: 2, m: y}]\n        os: [a, b]\n"),
			matrix("        v: [{n: 1, m: x}, {n: 2, m: y}]\n        os: [a, b]\n        exclude:\n          - {v: {m: y, n: 2}, os: b}\n"),
			"hold ci/fewer-cases:12"},
		"an object no longer included in its case": {matrix("        v: [{n: 1}, {n: 2}]\n        include: [{v: {n: 2}, more: x}]\n"),
			matrix("        v: [{n: 1}, {n: 2}]\n"), ""},
		"a strategy that is not valid": {matrix("        v: [1, 2]\n"),
			matrix("        v: [1, 2]\n      exclude: [{v: 1}]\n"), "hold ci/unread:0"},
		"a strategy that was not valid": {matrix("        v: [1, 2]\n      exclude: [{v: 1}]\n"),
			matrix("        v: [1, 2]\n        exclude: [{v: 1}]\n"), ""},
		"two commands of a job merged": {job("    steps:\n      - run: cargo test --all-targets\n      - run: cargo test --doc\n"),
			job("    steps:\n      - run: cargo test\n"), "evidence ci/fewer-cases:6"},
		"one of two commands of a job handed to a script": {
			job("    steps:\n      - run: cargo test --all-targets\n      - run: cargo test --doc\n"),
			job("    steps:\n      - run: cargo test --all-targets\n      - run: cargo run -p doctests\n"), "evidence ci/fewer-cases:6"},
		"one of two commands of a job": {job("    steps:\n      - run: cargo test --all-targets\n      - run: cargo test --doc\n"),
			job("    steps:\n      - run: cargo test --all-targets\n"), "hold ci/fewer-cases:6"},
		"a job of a target folded into a matrix that grew": {matrix("        v: [1]\n") + "  u:\n    steps:\n      - run: make check_all\n",
			matrix("        v: [1, 2]\n"), "evidence ci/check-replaced:12"},
		"a case less": {matrix("        v: [1, 2]\n"), matrix("        v: [1]\n"), "evidence ci/fewer-cases:9"},
		"a linter exchanged": {job("    steps:\n      - run: flake8\n"),
			job("    steps:\n      - run: ruff check .\n"), "evidence ci/check-replaced:6"},
		"an action called like it, of whom other jobs use something": {
			job("    steps:\n      - uses: o/actions/setup@v1\n      - run: gotestsum ./...\n"),
			job("    steps:\n      - uses: o/actions/setup@v1\n      - uses: o/actions/gotestsum@v1\n"), "evidence ci/check-replaced:7"},
		"an action called like it, of anybody": {job("    steps:\n      - run: gotestsum ./...\n"),
			job("    steps:\n      - uses: o/actions/gotestsum@v1\n"), "hold ci/check-gone:6"},
		"an input off":  {called("true"), called("false"), "evidence ci/input-off:3"},
		"an input on":   {called("false"), called("true"), ""},
		"an input gone": {called("true"), strings.Replace(called(""), "macos_enabled", "linux_enabled", 1), "evidence ci/input-off:3"},
		"a program of the repository's own in its place": {test,
			job("    steps:\n      - run: cargo run --manifest-path ci/Cargo.toml build-and-test\n"), "evidence ci/check-replaced:6"},
		"a test exchanged for a linter": {test, job("    steps:\n      - run: golangci-lint run\n"), "hold ci/check-gone:6"},
		"a lower limit": {job("    steps:\n      - run: pytest --cov-fail-under=90\n"),
			job("    steps:\n      - run: pytest --cov-fail-under 80\n"), "hold ci/limit:6"},
		"needs a job that is for main only": {test,
			"on: pull_request\njobs:\n  a:\n    if: github.ref == 'refs/heads/main'\n    steps: []\n  t:\n    needs: [a]\n    steps:\n      - " +
				"run: go test ./...\n", "hold ci/not-for-pull-requests:9"},
		"words in a string": {test,
			job("    steps:\n      - run: go test ./... && echo 'go test || true --no-verify'\n"), ""},
		"does not parse": {test, "on: pull_request\njobs:\n\t- x\n", "hold ci/unread:0"},
		"of releases, does not parse": {strings.Replace(test, "on: pull_request", "on: release", 1), "on: release\njobs:\n\t- x\n",
			"evidence ci/check-gone:6, evidence ci/unread:0"},
		"nothing is triggered": {test, strings.Replace(test, "on: pull_request", "on: workflow_dispatch", 1),
			"hold ci/trigger-gone:1"},
		"what ran after a merge": {strings.Replace(test, "on: pull_request", "on: {push: {branches: [main]}}", 1),
			"on: workflow_dispatch\njobs: {}\n", "evidence ci/check-gone:6"},
		"what ran by hand alone": {strings.Replace(test, "on: pull_request", "on: workflow_dispatch", 1),
			"on: workflow_dispatch\njobs: {}\n", ""},
	} {
		if got := found(workflow, tt.before, tt.after); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
		if got := found(workflow, tt.before, tt.before); got != "" {
			t.Errorf("%s, unchanged: %q", name, got)
		}
	}
}

func TestEverySystemLosesItsTest(t *testing.T) {
	for name, text := range map[string]string{
		".gitlab-ci.yml":          "t:\n  script:\n    - npm test\n",
		".circleci/config.yml":    "jobs:\n  t:\n    steps:\n      - run: npm test\nworkflows:\n  w:\n    jobs: [t]\n",
		"azure-pipelines.yml":     "steps:\n  - script: npm test\n",
		".travis.yml":             "script:\n  - npm test\n",
		".buildkite/pipeline.yml": "steps:\n  - command: npm test\n",
		".drone.yml":              "steps:\n  - name: t\n    commands: [npm test]\n",
		"bitbucket-pipelines.yml": "pipelines:\n  default:\n    - step:\n        script: [npm test]\n",
		"Jenkinsfile": "pipeline {\n  stages {\n    stage('t') {\n      steps {\n        sh 'npm test'\n      }\n    }\n  " +
			"}\n}\n",
		".forgejo/workflows/x.yaml":    "on: push\njobs:\n  t:\n    steps:\n      - run: npm test\n",
		".github/workflows/other.yaml": "on: pull_request\njobs:\n  t:\n    steps:\n      - {run: npm test}\n",
		".woodpecker/check.yaml":       "steps:\n  t:\n    commands:\n      - npm test\n",
		"service/x/web.gitlab-ci.yml":  "default:\n  before_script: [npm ci]\n.b:\n  script: npm test\nt:\n  extends: .b\n",
		".azure-pipelines/pull.yml":    "jobs:\n  - job: t\n    steps:\n      - task: Npm@1\n        inputs: {command: test}\n",
		".github/workflows/retried.yml": "on: pull_request\njobs:\n  t:\n    steps:\n      - uses: nick-fields/retry@v3\n        with: " +
			"{command: npm test}\n",
	} {
		if got := found(name, text, strings.ReplaceAll(strings.ReplaceAll(text, "npm test", "npm ci"), "command: test",
			"command: ci")); !strings.HasPrefix(got, "hold ci/check-gone:") {
			t.Errorf("%s: %q", name, got)
		}
		if got := found(name, text, strings.ReplaceAll(text, "npm test", "npm test || true")); strings.Contains(text, "npm test") &&
			!strings.HasPrefix(got, "hold ci/cannot-fail:") {
			t.Errorf("%s with || true: %q", name, got)
		}
	}
}

// TestTravisAllowsFailures: one cell of the matrix may fail; the job beside the matrix is one more.
func TestTravisAllowsFailures(t *testing.T) {
	before := "go: [1, tip]\njobs:\n  include:\n    - env: A=386\nscript: go test ./...\n"
	after := strings.Replace(before, "jobs:\n", "jobs:\n  allow_failures:\n    - go: tip\n", 1)
	if got := found(".travis.yml", before, after); got != "hold ci/fewer-cases:7" {
		t.Error(got)
	}
	if got := found(".travis.yml", before, strings.Replace(after, "tip\n", "tip\n      env: A=386\n", 1)); got != "" {
		t.Errorf("a cell that there is not: %s", got)
	}
}

func TestATemplateIsNoLongerToldToScan(t *testing.T) {
	before := "extends:\n  template: a.yml@b\n  parameters:\n    stages:\n    - template: /c.yml\n      parameters:\n        scan:\n" +
		"          enable: true\n        jobs:\n        - job: d\n          steps:\n          - script: dotnet test\n"
	if got := found("azure-pipelines.yml", before, strings.Replace(before, "        scan:\n          enable: true\n", "", 1)); got !=
		"evidence ci/input-off:5" {
		t.Error(got)
	}
	if got := found("azure-pipelines.yml", before, strings.Replace(before, "dotnet test", "dotnet build", 1)); got !=
		"hold ci/check-gone:12" {
		t.Error(got)
	}
}

// A pipeline that gets another name, so that its service does not read it any longer, did not move to another one.
func TestAPipelineThatIsRenamedAway(t *testing.T) {
	other := []byte("pr: [main]\nsteps:\n  - script: ci/all.cmd\n")
	for name, tt := range map[string]struct{ path, run, want string }{
		"deleted": {"", "make check", "evidence ci/check-replaced"}, "renamed": {".cirrus.yml.disabled", "make check", "hold ci/check-gone"},
		"deleted with what may be no check": {"", "./ci/test.sh", "evidence ci/check-gone"},
	} {
		test := []byte("task:\n  test_script: " + tt.run + "\n")
		gone := change.File{Path: tt.path, OldPath: ".cirrus.yml", Before: test}
		if tt.path != "" {
			gone.After = test
		}
		found := ci.Compare([]change.File{gone, {Path: "azure-pipelines.yml", OldPath: "azure-pipelines.yml", Before: other, After: other}})
		if len(found) != 1 || string(found[0].Tier)+" "+found[0].Rule != tt.want {
			t.Errorf("%s: %+v", name, found)
		}
	}
}

func TestABrokenPipelineHidesNoOther(t *testing.T) {
	broken := change.File{Path: ".github/workflows/x.yml", OldPath: ".github/workflows/x.yml", Before: []byte("a:\n\t- b\n"),
		After: []byte("a:\n\t- b\n")}
	test := []byte("on: pull_request\njobs:\n  t:\n    steps:\n      - run: go test ./...\n")
	found := ci.Compare([]change.File{broken, {OldPath: workflow, Before: test}})
	if len(found) != 1 || found[0].Tier != change.Hold || found[0].Rule != "ci/check-gone" {
		t.Errorf("%+v", found)
	}
	broken.OldPath, broken.Before = "", nil // a new pipeline, which checked nothing
	found = ci.Compare([]change.File{broken, {OldPath: workflow, Before: test}})
	if len(found) != 2 || found[0].Tier != change.Evidence || found[1].Tier != change.Hold || found[1].Rule != "ci/check-gone" {
		t.Errorf("%+v", found)
	}
}

func FuzzCompare(f *testing.F) {
	f.Add(workflow, []byte("on: pull_request\njobs:\n  t:\n    strategy: {matrix: {a: [1], include: [{b: 2}]}}\n    steps:\n      - run: "+
		"go test\n"), []byte("x"))
	f.Add(".circleci/config.yml", []byte("jobs:\n  t:\n    steps: [{run: npm test}]\n"),
		[]byte("workflows: {w: {jobs: [{t: {filters: {}}}]}}"))
	f.Add("Jenkinsfile", []byte("sh 'npm test'"), []byte("{catchError{sh \"x\"}}"))
	f.Fuzz(func(t *testing.T, name string, before, after []byte) {
		ci.Compare([]change.File{{Path: name, OldPath: name, Before: before, After: after}})
		if got := ci.Compare([]change.File{{Path: name, OldPath: name, Before: after, After: after}}); len(got) > 0 {
			t.Fatalf("a file that did not change: %+v", got)
		}
	})
}

// A check that a workflow no longer names may be run by a runner that the workflow still starts.
func TestACheckThatARunnerTakesOver(t *testing.T) {
	lint := func(run string) string {
		return "on: pull_request\njobs:\n  t:\n    steps:\n      - run: " + run + "\n"
	}
	spec, rubocop := "task default: [:spec]\n", "task default: [:spec, :rubocop]\n"
	for name, tt := range map[string]struct{ after, rakefile, want string }{
		"taken over":          {lint("bundle exec rake"), rubocop, "evidence ci/check-replaced"},
		"only spoken of":      {lint("bundle exec rake"), "# rubocop\n" + spec, "hold ci/check-gone"},
		"by what is not run":  {lint("bundle exec rspec"), rubocop, "hold ci/check-gone"},
		"there was all along": {lint("bundle exec rake"), spec, "hold ci/check-gone"},
	} {
		before := lint("bundle exec rubocop && bundle exec rake && bundle exec rspec")
		var got string
		for _, f := range ci.Compare([]change.File{
			{Path: workflow, OldPath: workflow, Before: []byte(before), After: []byte(tt.after)},
			{Path: "Rakefile", OldPath: "Rakefile", Before: []byte(spec), After: []byte(tt.rakefile)},
		}) {
			if strings.Contains(f.Why, "rubocop") {
				got = string(f.Tier) + " " + f.Rule
			}
		}
		if got != tt.want {
			t.Errorf("%s: %q instead of %q", name, got, tt.want)
		}
	}
}

// A linter that no pipeline runs by itself any longer may be one of golangci-lint's.
func TestALinterThatGolangciLintHas(t *testing.T) {
	steps := func(runs ...string) string {
		return "on: pull_request\njobs:\n  t:\n    steps:\n      - run: " + strings.Join(runs, "\n      - run: ") + "\n"
	}
	const replaced, gone = "evidence ci/check-replaced:5", "hold ci/check-gone:5"
	for name, tt := range map[string]struct{ check, lint, config, want string }{
		"by default":            {"staticcheck ./...", "golangci-lint run", "", replaced},
		"by another name":       {"go vet ./...", "golangci-lint run --timeout 5m", "", replaced},
		"not by default":        {"gofumpt -l .", "golangci-lint run", "linters: {enable: [misspell]}\n", gone},
		"a formatter":           {"gofumpt -l .", "golangci-lint run", "version: \"2\"\nformatters: {enable: [gofumpt]}\n", replaced},
		"a linter":              {"gofumpt -l .", "golangci-lint run", "linters: {enable: [gofumpt]}\n", replaced},
		"off":                   {"staticcheck ./...", "golangci-lint run", "linters: {disable: [staticcheck]}\n", gone},
		"none by default":       {"staticcheck ./...", "golangci-lint run", "linters: {default: none}\n", gone},
		"only fast ones":        {"staticcheck ./...", "golangci-lint run", "linters: {default: fast}\n", gone},
		"all off":               {"staticcheck ./...", "golangci-lint run", "linters: {disable-all: true}\n", gone},
		"all off but for it":    {"staticcheck ./...", "golangci-lint run", "linters: {disable-all: true, enable: [staticcheck]}\n", replaced},
		"off by an option":      {"staticcheck ./...", "golangci-lint run -D staticcheck", "", gone},
		"with another file":     {"staticcheck ./...", "golangci-lint run --config=ci/lint.yml", "", gone},
		"cannot fail":           {"staticcheck ./...", "golangci-lint run || true", "", gone},
		"cannot be read":        {"staticcheck ./...", "golangci-lint run", "linters: [\n", gone},
		"a test":                {"go test ./...", "golangci-lint run", "", gone},
		"a scanner it has not":  {"govulncheck ./...", "golangci-lint run", "", gone},
		"no longer run by both": {"staticcheck ./...", "echo", "", gone},
	} {
		var got []string
		for _, f := range ci.Compare([]change.File{
			{Path: workflow, OldPath: workflow, Before: []byte(steps(tt.check, tt.lint)), After: []byte(steps(tt.lint))},
			{Path: ".golangci.yml", OldPath: ".golangci.yml", Before: []byte(tt.config), After: []byte(tt.config)},
		}) {
			got = append(got, fmt.Sprintf("%s %s:%d", f.Tier, f.Rule, f.Line))
		}
		if !slices.Equal(got, []string{tt.want}) {
			t.Errorf("%s: %q instead of %q", name, got, tt.want)
		}
	}
}
