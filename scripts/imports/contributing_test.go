package imports

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// named are the paths of this module that the contributor's guide names in code spans.
var named = regexp.MustCompile("`((?:relay|agent|verdict|guidelines|worktree|scripts)/[\\w./-]+)`")

func TestTheContributorsGuideNamesFilesThatExist(t *testing.T) {
	root := filepath.Join("..", "..")
	guide, err := os.ReadFile(filepath.Join(root, ".github", "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	paths := named.FindAllSubmatch(guide, -1)
	if len(paths) < 20 {
		t.Fatalf("the guide names only %d paths: has its form changed?", len(paths))
	}
	for _, m := range paths {
		if _, err := os.Stat(filepath.Join(root, string(m[1]))); err != nil {
			t.Errorf("the contributor's guide names %s: %v", m[1], err)
		}
	}
}
