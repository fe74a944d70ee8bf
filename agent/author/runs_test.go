package author_test

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"touchstone/agent/author"
	"touchstone/agent/e2e/loopback"
	"touchstone/verdict"
)

// runner stands for a test runner: it takes each function of a test file, and each line of a list,
// for a test that passes, skips what "skipped" names, and reports to where "place" says.
const runner = `mkdir -p build
out=build/$(cat place)
{
	echo '<testsuite>'
	for file in *_test.go *.list; do
		for name in $(grep -ho 'Test[A-Za-z]*' "$file"); do
			skip=; grep -qs "$name" skipped && skip='<skipped/>'
			echo "<testcase classname='$file' name='$name'>$skip</testcase>"
		done
	done
	cat broken 2>/dev/null
	echo '</testsuite>'
} > "$out"
`

const payTests = "package pay\n\nimport \"testing\"\n\nfunc TestPays(t *testing.T) {\n\tif Pay(1) != 1 {\n\t\tt.Error(\"not " +
	"paid\")\n\t}\n}\n"

// TestFixIsComparedByWhatRuns has a real verify command report what ran in real worktrees.
func TestFixIsComparedByWhatRuns(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: the verify command of this test is a Unix shell script")
	}
	base := map[string]string{
		".touchstone/config.yaml": "verify: {command: [sh, runner.sh], reports: ['build/*.xml']}\n", ".gitignore": "build/\n",
		"runner.sh": runner, "place": "tests.xml", "pay_test.go": payTests, "pay.go": "package pay\n\nfunc Pay(n int) int { return n }\n",
		"more.list": "TestOld\nTestKept\n",
	}
	right := map[string]string{"code.txt": "safe()\n"}
	and := func(more map[string]string) map[string]string {
		more["code.txt"] = "safe()\n"
		return more
	}
	inTests := finding
	inTests.Path, inTests.Line, inTests.Quote = "more.list", 1, "TestKept"
	moved := and(map[string]string{"pay_test.go": "package pay\n", "more.list": "TestOld\nTestKept\nTestPays\n"})
	skipped := and(map[string]string{"skipped": "TestPays\n"})
	for name, tc := range map[string]struct {
		base, branch map[string]string // besides what is there
		finding      *verdict.Finding
		turns        []map[string]string
		want         error
		asked        string // in the second turn
		trailer      string // what the commit says of tests
		log          string
	}{
		"nothing is lost":                 {turns: []map[string]string{right}},
		"the code says lost, and it runs": {turns: []map[string]string{moved}},
		"the code alone tells without runs": {base: map[string]string{"broken": "<"}, turns: []map[string]string{moved, moved},
			want: author.ErrRelaxed, asked: "TestPays", log: "the code alone tells"},
		"the code says nothing, it is skipped": {turns: []map[string]string{skipped, and(map[string]string{"skipped": ""})},
			asked: "The test TestPays ran and passed before and is skipped now"},
		"it stays skipped": {turns: []map[string]string{skipped, skipped}, want: author.ErrRelaxed, asked: "TestPays"},
		"the branch had lost it before": {branch: map[string]string{"more.list": "TestKept\n"}, turns: []map[string]string{right},
			trailer: "not run any more: more.list: TestOld"},
		"the review is about the test": {finding: &inTests, branch: map[string]string{"more.list": "TestOld\nTestKept\nTestNew\n"},
			turns: []map[string]string{{"more.list": "TestOld\nTestNew\n"}}, trailer: "not run any more: more.list: TestKept"},
		"reports that the session breaks": {turns: []map[string]string{and(map[string]string{"broken": "<"}),
			and(map[string]string{"broken": ""})}, asked: "it is no JUnit report"},
		"reports that the session writes": {turns: []map[string]string{and(map[string]string{"place": "elsewhere",
			"build/tests.xml": "<testsuite/>"}), and(map[string]string{"place": "tests.xml"})}, asked: "the verify command writes none"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{}
			for _, some := range []map[string]string{base, tc.base} {
				for path, text := range some {
					files[path] = text
				}
			}
			g := loopback.New(t, files)
			g.Commit("topic", "Add code", map[string]string{"code.txt": "unsafe()\n"})
			if tc.branch != nil {
				g.Commit("topic", "Change tests", tc.branch)
			}
			about := finding
			if tc.finding != nil {
				about = *tc.finding
			}
			pr := g.Reviewed(g.Open("topic"), verdict.RequestChanges, about)
			var each []func(loopback.Asked) (string, error)
			for _, files := range tc.turns {
				each = append(each, write("Done.", files))
			}
			var asked []string
			var log bytes.Buffer
			out, err := newAuthor(g, turns(&asked, each...)).Fix(zerolog.New(&log).WithContext(t.Context()), pr, verdict.Allowance{}, nil)
			if !errors.Is(err, tc.want) || len(asked) != len(tc.turns) {
				t.Fatalf("%v after %d turns; log:\n%s", err, len(asked), log.String())
			}
			if len(asked) > 1 && !strings.Contains(asked[1], tc.asked) {
				t.Errorf("the second turn does not say %q: %s", tc.asked, asked[1])
			}
			if !strings.Contains(log.String(), tc.log) {
				t.Errorf("the log does not say %q:\n%s", tc.log, log.String())
			}
			if runs := strings.Count(log.String(), "the base is built once") + strings.Count(log.String(), "verify runs on the base"); runs != 1 {
				t.Errorf("verify ran %d times on the base:\n%s", runs, log.String())
			}
			if err != nil {
				return
			}
			fix, _ := verdict.ParseRepair(commitOf(g, out.Head).Commit.Message)
			if fix.Tests != tc.trailer || g.Read(loopback.Author, pr.Ref).Head.SHA != out.Head {
				t.Errorf("the commit says of tests %q, want %q", fix.Tests, tc.trailer)
			}
		})
	}
}

// The base is verified once for each of its commits, whichever pull request needs it.
func TestWhatRanOnTheBaseIsKept(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: the verify command of this test is a Unix shell script")
	}
	g := loopback.New(t, map[string]string{
		".touchstone/config.yaml": "verify: {command: [sh, runner.sh], reports: ['build/*.xml']}\n", ".gitignore": "build/\n",
		"runner.sh": runner, "place": "tests.xml", "more.list": "TestKept\n",
	})
	var log bytes.Buffer
	fix := func(branch string) {
		t.Helper()
		g.Commit(branch, "Add code", map[string]string{"code.txt": "unsafe()\n"})
		pr := g.Reviewed(g.Open(branch), verdict.RequestChanges, finding)
		a := newAuthor(g, write("Done.", map[string]string{"code.txt": "safe()\n"}))
		if _, err := a.Fix(zerolog.New(&log).WithContext(t.Context()), pr, verdict.Allowance{}, nil); err != nil {
			t.Fatal(err)
		}
	}
	count := func() string {
		return fmt.Sprint(strings.Count(log.String(), "the base is built once"), strings.Count(log.String(), "verify runs on the base"))
	}
	fix("first")
	fix("second")
	if got := count(); got != "1 0" {
		t.Errorf("for two pull requests on one base it is built and verified %s times", got)
	}
	g.Commit("main", "Move on", map[string]string{"README.md": "two\n"})
	fix("third")
	fix("fourth")
	if got := count(); got != "1 1" {
		t.Errorf("with a second base it is built and verified %s times", got)
	}
}

// TestReportsNeverTakeCommittedFiles has a pattern that also matches a file which the verify command needs.
func TestReportsNeverTakeCommittedFiles(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: the verify command of this test is a Unix shell script")
	}
	g := loopback.New(t, map[string]string{
		".touchstone/config.yaml": "verify: {command: [sh, runner.sh], reports: ['**/*.xml']}\n", ".gitignore": "build/\n",
		"runner.sh": "test -f pom.xml || exit 1\n" + runner, "pom.xml": "<project/>\n", "place": "tests.xml", "more.list": "TestKept\n",
	})
	g.Commit("topic", "Add code", map[string]string{"code.txt": "unsafe()\n"})
	pr := g.Reviewed(g.Open("topic"), verdict.RequestChanges, finding)
	a := newAuthor(g, write("Done.", map[string]string{"code.txt": "safe()\n"}))
	var log bytes.Buffer
	if _, err := a.Fix(zerolog.New(&log).WithContext(t.Context()), pr, verdict.Allowance{}, nil); err != nil {
		t.Error(err)
	}
	want := `verify.reports matches a file that is committed, which is no report of a run; choose narrower patterns: \"pom.xml\"`
	for _, said := range []string{"what ran is not compared", "the base's test reports are not kept"} {
		if !slices.ContainsFunc(strings.Split(log.String(), "\n"), func(line string) bool {
			return strings.Contains(line, said) && strings.Contains(line, want)
		}) {
			t.Errorf("%q is not said with its reason:\n%s", said, &log)
		}
	}
}
