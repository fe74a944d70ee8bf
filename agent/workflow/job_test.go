package workflow

import (
	"strings"
	"testing"

	"touchstone/verdict/guard"
	"touchstone/verdict/guard/change"
)

// A summary quotes what the change says; none of it becomes a link, a picture, a tag or another column.
func TestAChangeWritesNothingButTextIntoTheSummary(t *testing.T) {
	t.Parallel()
	f := guard.Finding{Tier: guard.Hold, Rule: "test/skip", Why: "The test `![x](https://a.example/x.png)` <img src=x> | is gone.\n| a |",
		Place: change.Place{Path: "a`[b](c)|.go", Line: 3}}
	got := strings.Split(table([]guard.Finding{f}), "\n")
	const want = `| hold | ` + "`" + `a'[b](c)\|.go:3` + "`" + ` | The test '!\[x](https://a.example/x.png)' &lt;img src=x> \| ` +
		`is gone. \| a \| | test/skip |`
	if len(got) != 4 || got[2] != want {
		t.Errorf("%q; want %q", got, want)
	}
}
