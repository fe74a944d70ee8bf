package imports

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	variable = regexp.MustCompile(`(?m)^([A-Z]+) = (.*)$`)
	use      = regexp.MustCompile(`\$\(([A-Z]+)\)`)
	skip     = regexp.MustCompile(`-without=.*-skip '([^']*)'`)
	sweep    = regexp.MustCompile(`(?m)^\t@\$\(RUNTESTS\) -run '([^']*)' (.*)$`)
	declared = regexp.MustCompile(`(?m)^func (Test\w+)\(`)
)

// TestWhatMakeTestLeavesOutMakeSweepRuns guards against a pattern of names for one package that also excludes
// a test with such a name in another package.
func TestWhatMakeTestLeavesOutMakeSweepRuns(t *testing.T) {
	root := filepath.Join("..", "..")
	content, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	makefile := string(content)
	variables := map[string]string{}
	for _, m := range variable.FindAllStringSubmatch(makefile, -1) {
		variables[m[1]] = strings.ReplaceAll(m[2], "$$", "$")
	}
	pattern := func(text string) *regexp.Regexp {
		return regexp.MustCompile(use.ReplaceAllStringFunc(text, func(name string) string { return variables[name[2:len(name)-1]] }))
	}
	skipped := skip.FindStringSubmatch(makefile)
	sweeps := sweep.FindAllStringSubmatch(makefile, -1)
	if skipped == nil || len(sweeps) < 3 {
		t.Fatalf("make test skips %q, make sweep runs %q: has their form changed?", skipped, sweeps)
	}
	found := 0
	err = filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (entry.Name() == "testdata" || len(entry.Name()) > 2 && entry.Name()[0] == '.') {
			return fs.SkipDir
		}
		if !strings.HasSuffix(name, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, filepath.Dir(name))
		pkg := "./" + filepath.ToSlash(relative)
		for _, m := range declared.FindAllSubmatch(text, -1) {
			test := string(m[1])
			if !pattern(skipped[1]).MatchString(test) {
				continue
			}
			found++
			if !slices.ContainsFunc(sweeps, func(sweep []string) bool {
				return pattern(sweep[1]).MatchString(test) && slices.ContainsFunc(strings.Fields(sweep[2]), func(arg string) bool {
					parent, all := strings.CutSuffix(arg, "/...")
					return arg == pkg || all && (pkg == parent || strings.HasPrefix(pkg, parent+"/"))
				})
			}) {
				t.Errorf("make test leaves out %s of %s, which make sweep does not run: give it a name of its own", test, pkg)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if found < 20 {
		t.Errorf("only %d tests are left out: this looks for the wrong names", found)
	}
}

// TestPackagesThatMakeTestLeavesOutRunElsewhere checks that the packages that make test leaves out are those
// of make programs, which CI and a release run as well.
func TestPackagesThatMakeTestLeavesOutRunElsewhere(t *testing.T) {
	for path, want := range map[string]string{
		"Makefile": `(?m)^\t@\$\(RUNTESTS\) -without='\$\(PROGRAMS\)' .*\n(.*\n)*programs: .*\n\t.*\n\t@\$\(RUNTESTS\) .* \$\(PROGRAMS\)\n` +
			`(.*\n)*release-check: .*\bprograms\b.* ##`,
		".ci/run": `(?m)^make test .*\n(.*\n)*make programs .*$`,
	} {
		content, err := os.ReadFile(filepath.Join("..", "..", path))
		if err != nil {
			t.Fatal(err)
		}
		if !regexp.MustCompile(want).Match(content) {
			t.Errorf("%s does not run, or leaves out, what is in PROGRAMS", path)
		}
	}
}
