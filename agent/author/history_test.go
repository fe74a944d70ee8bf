package author_test

import (
	"fmt"
	"strings"
	"testing"

	"touchstone/agent/e2e/loopback"
	"touchstone/verdict"
)

// The conventions are named and not copied, however long they are and however many.
func TestFixNamesTheConventions(t *testing.T) {
	t.Parallel()
	files := map[string]string{"AGENTS.md": strings.Repeat("Write well. ", 90_000), "CONTRIBUTING.md": "Be brief.\n",
		"docs/CONTRIBUTING.md": "x\n"}
	for i := range 60 {
		files[fmt.Sprintf(".eslintrc.%d", i)] = "x\n"
	}
	g := loopback.New(t, files)
	g.Commit("topic", "Add code", map[string]string{"code.txt": "unsafe()\n"})
	pr := g.Reviewed(g.Open("topic"), verdict.RequestChanges, finding)
	var asked []string
	if _, err := newAuthor(g, turns(&asked, write("Done.", map[string]string{"code.txt": "safe()\n"}))).Fix(t.Context(), pr,
		verdict.Allowance{}, nil); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(asked[0], `longer than 64 kB: ["AGENTS.md"]`) || strings.Count(asked[0], `".eslintrc.`) >= 60 ||
		len(asked[0]) > 12<<10 {
		t.Errorf("the prompt has %d bytes:\n%.4000s", len(asked[0]), asked[0])
	}
}
