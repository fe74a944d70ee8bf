package guard_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"touchstone/verdict/guard"
)

// held are the rules of the holds that a change has which no rule reads but as evidence, if it says this of itself.
func held(file guard.File, said string) (rules []string) {
	for _, f := range guard.Holds(guard.Examine(guard.Change{Files: []guard.File{file}, Title: said})) {
		rules = append(rules, string(f.Kind)+" "+f.Rule)
	}
	return rules
}

// A change is held that says of itself that it leaves out a check, if something in it may be just that.
func TestAnAnnouncedLoweringIsHeld(t *testing.T) {
	build := guard.File{Path: "core/build.gradle", OldPath: "core/build.gradle",
		Before: []byte("tests {\n    browser true\n    node true\n}\n"),
		After:  []byte("tests {\n    browser false\n    node true\n}\n")}
	if rules := held(build, "Tidy up the build"); len(rules) > 0 || len(guard.Examine(guard.Change{Files: []guard.File{build}})) == 0 {
		t.Fatalf("without a word the change is held: %q", rules)
	}
	const job = "test:\n  variables:\n    LEFT_OUT: %s\n  script: pytest\n"
	pipeline := guard.File{Path: ".gitlab-ci.yml", OldPath: ".gitlab-ci.yml", Before: fmt.Appendf(nil, job, "none"),
		After: fmt.Appendf(nil, job, "graalpy")}
	for said, want := range map[string]string{
		"Disable browser tests":                              "test",
		"build: temporarily disable the browser tests (#12)": "test",
		"ci: skip test jobs for modules without Go 1.25":     "",
		"ci: skip test jobs on Windows until they pass":      "ci",
		"Disabled jobs on Swift 6.0 for now.":                "ci",
		"Skip installing ragel on CI":                        "",
		"Exclude graalpy on GitLab Windows runners":          "ci",
		"Ignore todos (#4339)":                               "strictness",
		"Turn off clippy for now":                            "strictness",
		"CI: temporarily disable coverity scan":              "strictness",
		"Skip the test if there is no network":               "",
		"Re-enable tests that were skipped":                  "",
		"Add an option to disable tests":                     "",
		"Ignore strings from tests":                          "",
		"Skip the newly added test":                          "",
		"Exclude tests from the published package":           "",
		"Disable test output":                                "",
		"Disable GC on test run":                             "",
		"Disable the cache only on ubuntu-latest":            "",
		"Skip the upload on failed builds":                   "",
		"Skip upload tests":                                  "test",
		"Disable TestLatest":                                 "test",
		"Skip the \"builds with a cache\" test case":         "test",
		"Disable parallel testing":                           "",
		"disable auto-downing on restart specs (#7214)":      "",
		"Disable the \"login mail test\"":                    "test",
		"Omit test_finish because it fails":                  "test",
		"Skip test_latest":                                   "test",
		"Don't run tests on 3.15 yet":                        "",
		"Fix the handler, because it skipped tests":          "",
		"Disable caching. It made tests slow":                "",
		"Remove unused tests":                                "",
		"Skip jacoco (which needs tests) when releasing":     "",
		"Skip jacoco (which needs tests":                     "",
		"Skip (slow) browser tests":                          "test",
		"Disable browser tests (flaky)":                      "test",
		"Disable the browser test temporarily.":              "test",
		"Skip a browser test failing on main":                "test",
		"(WEB-12) Disable browser tests":                     "test",
		"Skip flaky test OpensTheBrowser":                    "test",
		"Skip test build.gradle of the browser":              "test",
		"Skip test other.gradle":                             "",
		"Skip test output":                                   "",
		"Disable Vitest GitHub reporter":                     "",
		"Disable browser tests in the CI pipeline":           "test",
		"Disable browser tests on GitHub Actions (#3)":       "test",
		"Disable browser tests in the docs":                  "",
		"Ignore CA2242":                                      "",
		"#12 disable browser tests":                          "test",
		"WEB-12 Disable browser tests":                       "test",
		"build, fix #12: disable browser tests":              "test",
		"🚧 Disable browser tests":                            "test",
		"Temporarily disable the browser":                    "strictness",
		"disable browser for now (#12)":                      "strictness",
		"Temporarily disable the search":                     "",
		"Disable the browser":                                "",
		"Disable caching on release builds":                  "",
		"feat(runner)!: Skip redundant browser tests":        "",
		"Skip only browser tests":                            "",
		"Temporary disable browser tests on Windows":         "test",
		"Disable browser tests for the time being":           "test",
		"Disable browser tests: they are flaky":              "test",
		"Switching off browser tests":                        "test",
		"Disable browser tests pending a fix":                "test",
		"Disable browser tests in CI to save time":           "test",
		"Disable test build.gradle tests":                    "test",
		"Skip test build.gradle output":                      "",
		"Skip test build.gradle on Windows":                  "",
		"Exclude tests from GitHub statistics":               "",
		"Disable browser tests on Azure SQL":                 "",
		"Exclude i686":                                       "",
		"Temporarily disable browser due to a bug":           "strictness",
		"Disable browser for the moment":                     "strictness",
		"Disable browser for now due to a bug":               "strictness",
		"Disable for now browser":                            "",
		"Disable the for now unused":                         "",
		"Disable core 2 for now":                             "",
		"Disable rows for now":                               "",
	} {
		var rules []string
		if want != "" {
			rules = []string{want + " announced/off"}
		}
		file := build
		if want == "ci" {
			file = pipeline
		}
		if got := held(file, said); !slices.Equal(got, rules) {
			t.Errorf("%q: %q, want %q", said, got, rules)
		}
	}
	rule := guard.File{Path: "core/build.gradle", OldPath: "core/build.gradle", Before: []byte("tests {\n    CA2242 true\n}\n"),
		After: []byte("tests {\n    CA2242 false\n}\n")}
	if rules := held(rule, "Ignore CA2242"); len(rules) != 1 {
		t.Errorf("a rule that is named is held for %q", rules)
	}
	other := guard.File{Path: "build.sbt", OldPath: "build.sbt", Before: []byte("locale := \"de\"\nname := \"a\"\n"),
		After: []byte("name := \"a\"\n")}
	if rules := held(other, "Temporarily disable the locale"); len(rules) > 0 ||
		len(guard.Examine(guard.Change{Files: []guard.File{other}})) == 0 {
		t.Errorf("what checks nothing is held: %q", rules)
	}
	deploys := guard.File{Path: pipeline.Path, OldPath: pipeline.Path, Before: []byte("deploy:\n  variables:\n    A: b\n  script: ./deploy\n"),
		After: []byte("deploy:\n  variables:\n    A: c\n  script: ./deploy\n")}
	if rules := held(deploys, "Temporarily disable deploy"); len(rules) > 0 ||
		len(guard.Examine(guard.Change{Files: []guard.File{deploys}})) == 0 {
		t.Errorf("what hands the product on is held: %q", rules)
	}
	product := guard.File{Path: "run.go", OldPath: "run.go", Before: []byte("package run\n"),
		After: []byte("package run\n\nvar slow = true\n")}
	if rules := held(product, "Disable browser tests"); len(rules) > 0 {
		t.Errorf("words alone hold a change: %q", rules)
	}
}

// A title can say in other words that tests are gone, if some are.
func TestATitleThatTestsAreGoneIsHeld(t *testing.T) {
	two := "package a\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {\n\ta(t)\n}\n\nfunc TestB(t *testing.T) {\n\tb(t)\n}\n"
	one, _, _ := strings.Cut(two, "\nfunc TestB")
	gone := guard.File{Path: "a_test.go", OldPath: "a_test.go", Before: []byte(two), After: []byte(one)}
	other := guard.File{Path: "a_test.go", OldPath: "a_test.go", Before: []byte(two), After: []byte(strings.Replace(two, "b(t)", "c(t)", 1))}
	product := guard.File{Path: "a.go", OldPath: "a.go", Before: []byte("package a\n"), After: []byte("package a\n\nvar slow = true\n")}
	for said, change := range map[string]struct {
		files []guard.File
		held  bool
	}{
		"Remove a flaky test":                    {[]guard.File{gone, product}, true},
		"tests: drop the unreliable TestB (#12)": {[]guard.File{gone}, true},
		"Remove a flakey test of a":              {[]guard.File{other}, false},
		"Remove a potentially problematic test":  {[]guard.File{gone}, true},
		"Remove the test of b":                   {[]guard.File{gone}, false},
		"Remove the flaky client":                {[]guard.File{gone}, false},
		"Remove tests that are flaky":            {[]guard.File{gone}, true},
		"Remove a test failing on main":          {[]guard.File{gone}, true},
		"Remove tests of b":                      {[]guard.File{gone}, false},
		"Remove an invalid test":                 {[]guard.File{gone}, true},
		"Remove outdated tests (#12)":            {[]guard.File{gone}, true},
		"Remove an outdated test":                {[]guard.File{other}, false},
		"Remove a duplicate test":                {[]guard.File{gone}, false},
		"Remove the outdated legacy test of b":   {[]guard.File{gone}, false},
		"Comment out failing checks temporarily": {[]guard.File{gone}, true},
	} {
		found := guard.Examine(guard.Change{Files: change.files, Title: said})
		if held := len(guard.Holds(found)) > 0; held != change.held || len(found) == 0 {
			t.Errorf("%q: held %t, found %+v", said, held, found)
		}
	}
}

// A title can say that a check is gone from the pipeline, too.
func TestATitleThatAJobIsGoneIsHeld(t *testing.T) {
	const workflow = "on: pull_request\njobs:\n  a:\n    steps:\n      - run: cargo test\n"
	at := guard.File{Path: ".github/workflows/ci.yml", OldPath: ".github/workflows/ci.yml",
		Before: []byte(workflow + "  browser:\n    steps:\n      - uses: codecov/codecov-action@v5\n"), After: []byte(workflow)}
	release := at // decides about no change
	release.Before = []byte(strings.Replace(string(at.Before), "pull_request", "release", 1))
	release.After = []byte(strings.Replace(workflow, "pull_request", "release", 1))
	script := guard.File{OldPath: "scripts/test-docker.sh", Before: []byte("pytest\n")} // a pipeline that ran it changes, too
	more := at
	more.After = []byte(strings.Replace(string(at.Before), "  a:\n", "  a:\n    if: github.actor != 'robot'\n", 1))
	for said, change := range map[string]struct {
		file guard.File
		held bool
	}{
		"Remove the browser job":             {at, true},
		"ci: drop browser tests (#12)":       {at, true},
		"Remove the browser":                 {at, false},
		"Remove the browser job of releases": {release, false},
		"Remove the unused test container":   {script, false},
		"Remove the browser job of a":        {more, false},
		"Remove the browser and its CI job":  {at, false},
		"Remove the CI job and its cache":    {at, true},
		"Remove what runs as `ci`":           {at, true},
		"Remove the test-pay module":         {at, false},
		"Delete .github/workflows/ci.yml":    {at, true},
		"Delete 'ci.yml'":                    {at, true},
		"Delete ci.yaml":                     {at, false},
		"Remove codecov":                     {at, true},
		"Remove a browser + update CI":       {at, false},
		"Remove the unused browser job":      {at, false},
		"ci: drop the redundant browser job": {at, false},
		"Drop the browser job in favor of a": {at, false},
		"Remove a stale package from CI/git": {at, false},
		"Remove the browser [skip ci]":       {at, false},
		"Remove a redundant nil check":       {at, false},
		"Remove the codecov check":           {at, true},
		"Remove a.yml and the browser job":   {at, true},
	} {
		found := guard.Examine(guard.Change{Files: []guard.File{change.file}, Title: said})
		if held := len(guard.Holds(found)) > 0; held != change.held || len(found) == 0 {
			t.Errorf("%q: held %t, found %+v", said, held, found)
		}
	}
	for run, want := range map[string]bool{"sh('scripts/test-docker.sh')": true, "for t in scripts/*.sh; do bash $t; done": true,
		"scripts/test-${{ matrix.kind }}.sh": true, "scripts/build.sh": false} {
		files := []guard.File{script, {Path: "tasks.py", OldPath: "tasks.py", Before: []byte(run + "\n"), After: []byte("build()\n")}}
		if found := guard.Examine(guard.Change{Files: files, Title: "Remove the test container"}); len(guard.Holds(found)) > 0 != want {
			t.Errorf("%s: found %+v, want held %t", run, found, want)
		}
	}
	other := guard.File{OldPath: "scripts/test-\xff.sh", Before: []byte("pytest\n")} // no pattern takes its name as it is
	tasks := guard.File{Path: "tasks.py", OldPath: "tasks.py", Before: []byte("sh('" + other.OldPath + "')\n"), After: []byte("build()\n")}
	found := guard.Holds(guard.Examine(guard.Change{Files: []guard.File{other, tasks}, Title: "Remove the test container"}))
	if len(found) != 1 || found[0].Rule != "announced/off" {
		t.Errorf("a name in other bytes: %+v", found)
	}
}

// The pipelines of a service can be gone because another one runs what they ran. Nothing does if none is left, and a single one of
// several was not replaced.
func TestATitleThatAServiceIsGone(t *testing.T) {
	const steps = "steps:\n  - command: pytest\n"
	same := func(name, text string) guard.File {
		return guard.File{Path: name, OldPath: name, Before: []byte(text), After: []byte(text)}
	}
	workflow := same(".github/workflows/ci.yml", "on: pull_request\njobs:\n  a:\n    steps:\n      - run: cargo test\n")
	nightly := same(".github/workflows/ci.yml", "on: release\njobs:\n  a:\n    steps:\n      - run: ./publish\n")
	travis := guard.File{OldPath: ".travis.yml", Before: []byte("script: pytest\n")}
	extra := guard.File{OldPath: ".buildkite/pipeline.extra.yml", Before: []byte(steps)}
	for name, change := range map[string]struct {
		files []guard.File
		held  bool
	}{
		"another service":       {[]guard.File{travis, workflow}, false},
		"one that only deploys": {[]guard.File{travis, nightly}, true},
		"none":                  {[]guard.File{travis}, true},
		"one of several":        {[]guard.File{extra, same(".buildkite/pipeline.yml", steps), workflow}, true},
		"the last one":          {[]guard.File{extra, workflow}, false},
	} {
		found := guard.Examine(guard.Change{Files: change.files, Title: "Remove the CI job"})
		if held := len(guard.Holds(found)) > 0; held != change.held || len(found) == 0 {
			t.Errorf("%s: held %t, found %+v", name, held, found)
		}
	}
}

// A change that is held already is not held once more for its words.
func TestAnAnnouncedHoldIsOneHold(t *testing.T) {
	before := "package a\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {\n\tif a() != 1 {\n\t\tt.Fatal()\n\t}\n}\n"
	test := guard.File{Path: "a_test.go", OldPath: "a_test.go", Before: []byte(before),
		After: []byte(strings.Replace(before, "{\n\tif", "{\n\tt.Skip()\n\tif", 1))}
	if rules := held(test, "Skip a flaky test"); len(rules) != 1 || strings.Contains(rules[0], "announced") {
		t.Errorf("held for %q", rules)
	}
}

// Of several places that show what a change announces, the hold names the first one that has the name of what is left out, or
// the first one, whenever the change is examined.
func TestAnAnnouncedHoldIsAtTheFirstPlace(t *testing.T) {
	const workflow = "on:\n  pull_request:\n    paths: [%s]\njobs:\n  t:\n    steps:\n      - run: go test ./...\n"
	c := guard.Change{Title: "Skip expensive workflows for documents, for now"}
	for _, name := range []string{"c", "a", "d", "b", "e"} {
		path := ".github/workflows/" + name + ".yml"
		c.Files = append(c.Files, guard.File{Path: path, OldPath: path, Before: fmt.Appendf(nil, workflow, "'**'"),
			After: fmt.Appendf(nil, workflow, "'**', '!**/*.md'")})
	}
	named := guard.Change{Title: "Ignore dialyzer", Files: []guard.File{
		{Path: "a/mix.exs", OldPath: "a/mix.exs", Before: []byte("[test_coverage: true]\n"), After: []byte("[test_coverage: false]\n")},
		{Path: "lib/a.ex", OldPath: "lib/a.ex", Before: []byte("def a, do: 1\n"),
			After: []byte("@dialyzer {:nowarn_function, a: 0}\ndef a, do: 1\n")}}}
	if found := guard.Holds(guard.Examine(named)); len(found) != 1 || found[0].Path != "lib/a.ex" {
		t.Errorf("held for %v, %v", found, guard.Examine(named))
	}
	named.Files = named.Files[1:]
	if found := guard.Holds(guard.Examine(named)); len(found) != 0 {
		t.Errorf("a suppression in one place is held: %v", found)
	}
	for range 20 {
		if found := guard.Holds(guard.Examine(c)); len(found) != 1 || found[0].Path != ".github/workflows/a.yml" {
			t.Fatalf("held for %v", found)
		}
	}
}
