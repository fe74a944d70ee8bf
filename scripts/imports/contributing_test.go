package imports

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	// span is a code span that looks like a path, written as the files and folders of this module are.
	span = regexp.MustCompile("`([a-z][a-z0-9-]*(?:/[a-z0-9-]+)*/?|(?:[\\w-]+/)*\\w[\\w.-]*\\.\\w+)`")
	// link is a link to a place in the repository, without what comes after "#".
	link = regexp.MustCompile(`\]\(([\w./-]+)(?:#[\w-]*)?\)`)
	// testName is a code span that names a test.
	testName = regexp.MustCompile("`(Test[A-Z]\\w*)`")
)

// tree are the files of the repository, and all folders that have any.
func tree(t *testing.T, root string) map[string]bool {
	t.Helper()
	listed, err := exec.Command("git", "-C", root, "ls-files", "-z").Output()
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(listed), "\x00"), "\x00") {
		for ; !known[name]; name = path.Dir(name) {
			known[name] = true
		}
	}
	return known
}

// isPath reports whether a code span has to be a path: it begins with a folder that is there, or it names a
// Go file.
func isPath(known map[string]bool, dir, name string) bool {
	first, rest, nested := strings.Cut(name, "/")
	return strings.HasSuffix(name, ".go") ||
		nested && rest != "" && (known[path.Join(dir, first)] || ours(first) || first == ".github") ||
		// A folder is written like this, except for those that a build makes.
		nested && rest == "" && name != "bin/" && name != "dist/"
}

// declaredTests are the names of all tests.
func declaredTests(t *testing.T, root string, known map[string]bool) map[string]bool {
	t.Helper()
	tests := map[string]bool{}
	for file := range known {
		if !strings.HasSuffix(file, "_test.go") {
			continue
		}
		content, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range declared.FindAllSubmatch(content, -1) {
			tests[string(m[1])] = true
		}
	}
	return tests
}

// TestGuidesNameWhatExists reads the contributor's guide and each README, for files, folders and tests. A path counts
// from the guide's own folder or from the root; a Go file may be anywhere below the guide.
func TestGuidesNameWhatExists(t *testing.T) {
	root := filepath.Join("..", "..")
	known := tree(t, root)
	tests := declaredTests(t, root, known)
	guides, named := 0, 0
	for guide := range known {
		if path.Base(guide) != "README.md" && guide != ".github/CONTRIBUTING.md" || strings.Contains(guide, "/testdata/") {
			continue
		}
		content, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(guide)))
		if err != nil {
			t.Fatal(err)
		}
		guides++
		dir := path.Dir(guide)
		for _, m := range span.FindAllSubmatch(content, -1) {
			name := string(m[1])
			if !isPath(known, dir, name) {
				continue
			}
			named++
			if !known[path.Join(dir, name)] && !known[path.Clean(name)] && !below(known, dir, name) {
				t.Errorf("%s names `%s`, which does not exist", guide, name)
			}
		}
		for _, m := range testName.FindAllSubmatch(content, -1) {
			named++
			if !tests[string(m[1])] {
				t.Errorf("%s names `%s`, which no package declares", guide, m[1])
			}
		}
		for _, m := range link.FindAllSubmatch(content, -1) {
			named++
			if !known[path.Join(dir, string(m[1]))] {
				t.Errorf("%s links to %s, which does not exist", guide, m[1])
			}
		}
	}
	if guides < 8 || named < 100 {
		t.Errorf("%d guides name %d paths: has their form changed?", guides, named)
	}
}

// below reports whether a Go file is anywhere below a folder.
func below(known map[string]bool, dir, name string) bool {
	if !strings.HasSuffix(name, ".go") {
		return false
	}
	for file := range known {
		if strings.HasSuffix(file, "/"+name) && (dir == "." || strings.HasPrefix(file, dir+"/")) {
			return true
		}
	}
	return false
}
