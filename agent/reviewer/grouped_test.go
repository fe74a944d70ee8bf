package reviewer

import (
	"fmt"
	"strings"
	"testing"

	"touchstone/verdict"
	guarded "touchstone/verdict/guard/change"
)

// TestMergedEvidenceSaysWhatEachPlaceHas: no text hides another one, until there are too many.
func TestMergedEvidenceSaysWhatEachPlaceHas(t *testing.T) {
	t.Parallel()
	piece := func(path string, line int, detail string) verdict.Evidence {
		return verdict.Evidence{Kind: "assertion", Rule: "severity/Q5", Path: path, Line: line, Detail: detail}
	}
	all := []verdict.Evidence{piece("a_test.go", 1, strings.Repeat("long ", maxDoubt/5)), piece("b_test.go", 2, "Other."),
		piece("a_test.go", 3, "It is `` a`"+strings.Repeat("long ", maxAlso/5)+"``."), piece("a_test.go", 4, "It `` is` ``.")}
	got := grouped(all)
	if len(got) != 2 || got[0].More != 2 || got[1].Detail != "Other." ||
		!strings.Contains(got[0].Detail, " Also at a_test.go:3: It is `` a`long ") ||
		!strings.HasSuffix(got[0].Detail, " … [shortened] `` Also at a_test.go:4: It `` is` ``.") {
		t.Errorf("got %+v", got)
	}
	for n := range maxEvidence {
		all = append(all, piece(fmt.Sprintf("<%d>_test.go", n), 5, "Before: `"+strings.Repeat("long ", 40)+"`."))
	}
	if got = grouped(all); len(got) != 1 || got[0].More != len(all)-1 || len(got[0].Detail) > maxMerged ||
		!strings.Contains(got[0].Detail, " Also at b_test.go:2: Other. ") ||
		!strings.Contains(got[0].Detail, " Also at \"\\u003c0\\u003e_test.go\":5: Before: ") {
		t.Errorf("got %+v", got)
	}
}

// TestWhatIsNotNamedIsCounted: the longest evidence of many places is not cut off before it says how many it does not name.
func TestWhatIsNotNamedIsCounted(t *testing.T) {
	t.Parallel()
	long := "```" + strings.Repeat("l", 297) + "…"
	var spots []guarded.Spot
	for n := range 2000 {
		spots = append(spots, guarded.Spot{In: long, What: "line of what says how this project is checked",
			Place: guarded.Place{Path: fmt.Sprintf("%d_test.go", n), Line: 10_000, Before: long, After: long + "r"}})
	}
	text := explained(guarded.Changed(guarded.Assertion, "test/changed", spots))
	if len(text) > maxDoubt || !strings.Contains(text, " Before: ```` ```lll") || !strings.HasSuffix(text, " files that are not named here.") {
		t.Errorf("%d bytes: %s", len(text), text)
	}
}
