package words_test

import (
	"slices"
	"testing"

	"touchstone/verdict/guard/change"
	"touchstone/verdict/guard/words"
)

func TestAWordIsFoundOnlyWhereItIsNew(t *testing.T) {
	for name, tt := range map[string]struct {
		before, after string
		says          string
		line          int
	}{
		"a new word":          {"one\n", "one\nDISABLED\n", "DISABLED", 2},
		"one more of it":      {"skip a\n", "skip a\nskip b\n", "skip", 1},
		"within a name":       {"a\n", "a\n  skipPackageNameChecks: true\n", "skipPackageNameChecks", 2},
		"in other letters":    {"Skip a\n", "skip a\n", "", 0},
		"fewer":               {"skip a\nskip b\n", "skip a\n", "", 0},
		"a linter's own name": {"a\n", "a\nflake8\n", "", 0},
		"a library's name":    {"a\n", "a\nimport TemporaryFolder\nthrow UnsupportedError()\n", "", 0},
		"a name like it":      {"a\n", "a\ntemporarily off\n", "temporarily", 2},
	} {
		f, found := words.Look(change.File{Path: "a", After: []byte(tt.after)}, tt.before, tt.after)
		if found != (tt.says != "") || f.After != tt.says || f.Line != tt.line {
			t.Errorf("%s: %q in line %d, want %q in %d", name, f.After, f.Line, tt.says, tt.line)
		}
	}
}

func TestCommentsAreTakenByTheirMark(t *testing.T) {
	if got := words.Comments([]byte("a: 1 # one\nb: x#y\n# two\n")); got != "# one\n# two\n" {
		t.Errorf("%q", got)
	}
}

// TestAValueThatIsNotAsBeforeIsAPlace: values that are gone or others count, and new ones only if their names say
// that something is left out.
func TestAValueThatIsNotAsBeforeIsAPlace(t *testing.T) {
	for name, tt := range map[string]struct {
		before, after string
		places        int
	}{
		"another value":       {"b: x\ntests: p\n", "b: x\ntests: q\n", 1},
		"gone":                {"b: x\ntests: p\n", "b: x\n", 1},
		"of no check":         {"b: x\na: p\n", "b: x\na: q\n", 0},
		"commented out":       {"b:\n  - x\n  - some\n", "b:\n  - x\n#  - some\n", 1},
		"a later version":     {"b: x\na: 1.2.3\n", "b: x\na: 1.2.4\n", 0},
		"another limit":       {"b: x\ncall-timeout: 10\n", "b: x\ncall-timeout: 30\n", 1},
		"new":                 {"b: x\n", "b: x\na: p\n", 0},
		"new, and leaves out": {"b: x\n", "b: x\nexclude: p\n", 1},
		"another order":       {"b: x\na: p\n", "a: p\nb: x\n", 0},
		"what checks nothing": {"b: x\ntitle: p\n", "b: x\ntitle: q\n", 0},
	} {
		f := change.File{Path: "a.yml", OldPath: "a.yml", Before: []byte(tt.before), After: []byte(tt.after)}
		found := words.Altered(f, func(_, _, _ []string) words.Part { return words.Maybe })
		if len(found.Places) != tt.places || found.Sure != nil {
			t.Errorf("%s: %+v", name, found)
		}
	}
}

// TestAScriptIsComparedByItsCommands: a script says the same however it is broken into lines.
func TestAScriptIsComparedByItsCommands(t *testing.T) {
	for name, tt := range map[string]struct {
		before, after string
		places        int
	}{
		"other lines":          {"go vet ./... && go test -v ./... & wait", "go vet ./... \\\n    && go test \\\n    -v ./... &\n    wait", 0},
		"another option":       {"go vet ./... && go test -v ./...", "go vet ./... &&\n    go test -short ./...", 1},
		"a further command":    {"go test ./...", "go vet ./... && go test ./...; ls", 0},
		"one command less":     {"go vet ./... && go test ./...", "go test ./...", 1},
		"a failure is passed":  {"go test ./...", "go test ./... || true", 1},
		"only if":              {"go test ./...", "if x; then\n    go test ./...\n    fi", 1},
		"another preparation":  {"mkdir a; go test ./...", "mkdir b; go test ./...", 0},
		"a comment is written": {"go test ./...", "# all\n    go test ./...", 0},
	} {
		file := func(script string) []byte { return []byte("steps:\n- name: a\n  run: |\n    " + script + "\n") }
		f := change.File{Path: "ci.yml", OldPath: "ci.yml", Before: file(tt.before), After: file(tt.after)}
		found := words.Altered(f, func(_, _, _ []string) words.Part { return words.Gate })
		if len(found.Places) != tt.places || found.Sure != nil {
			t.Errorf("%s: %+v", name, found)
		}
	}
}

func TestALineOfABlockIsCountedFromItsFirst(t *testing.T) {
	const step = "steps:\n  - run: |\n      go test ./...\n"
	f := change.File{OldPath: ".github/workflows/ci.yml", Path: ".github/workflows/ci.yml",
		Before: []byte(step + "      if [ a = b ]; then\n        check\n      fi\n  - run: lint && vet\n"),
		After:  []byte(step + "  - run: vet\n")}
	var lines []int
	for _, p := range words.Altered(f, func(_, _, _ []string) words.Part { return words.Gate }).Places {
		lines = append(lines, p.Line)
	}
	if want := []int{4, 7}; !slices.Equal(lines, want) {
		t.Errorf("lines %v; want %v", lines, want)
	}
}

// TestASwitchIsNamedAfterWhatItTurnsOff: the names are those of real pipelines.
func TestASwitchIsNamedAfterWhatItTurnsOff(t *testing.T) {
	for by, names := range map[string][]string{
		"true → false": {"RunTestsOnMac", "enable_ios_checks", "api_breakage_check_enabled", "broken_symlink_check_enabled", "Codeql.Enabled",
			"coverage", "warnings_as_errors", "failTaskOnFailedTests", "fail-on-alert", "VALIDATE_CODING_STYLE"},
		"false → true": {"skip_tests", "DisableCodeQL", "sh_checker_shellcheck_disable", "tests_may_fail", "allow_test_failures",
			"continue_on_lint_error", "TS_FUZZ_CURRENTLY_BROKEN"},
		"": {"fail-fast", "soft_fail", "NO_FAIL", "fail_ci_if_error", "attestations", "generate-checksums", "DOTNET_ANALYTICS", "make_latest",
			"remove-codeql", "PIP_DISABLE_PIP_VERSION_CHECK", "VERBOSE_TEST_OUTPUT", "STRIMZI_TEST_CONTAINER_LOGGING_ENABLED",
			"testcontainers-cloud", "invalidate-cloudfront", "only-changed-tests", "parallel-tests", "mergeTestResults", "no_tests",
			"use-test-pypi", "draft"},
	} {
		for _, name := range names {
			off, on := words.Switches(name, "true", "false"), words.Switches(name, "No", "YES")
			if off != (by == "true → false") || on != (by == "false → true") {
				t.Errorf("%s turns a check off: true → false: %v, no → yes: %v; want %q", name, off, on, by)
			}
		}
	}
}
