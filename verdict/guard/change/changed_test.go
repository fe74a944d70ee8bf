package change

import (
	"fmt"
	"strings"
	"testing"
)

func TestAFindingOfManyPlacesLeavesNoneUncounted(t *testing.T) {
	t.Parallel()
	spots := []Spot{{Place: Place{Path: "a.go", Line: 1, Before: "a", After: "b"}, What: "line", Weight: 2},
		{Place: Place{Path: "b`\x1b.go", Line: 2, Before: "c`"}, In: "`Test`", What: "assertion", Weight: 1}}
	f := Changed(Test, "test/changed", spots)
	const why = "An assertion in `Test` is gone, and no rule tells whether this checks less."
	if f.Why != why || f.Place != spots[1].Place || f.Others != "Judge 1 more: a.go:1: line `a` → `b`." {
		t.Errorf("at %v because %q, %q", f.Place, f.Why, f.Others)
	}
	if f = Changed(Test, "test/changed", spots[1:]); f.Message() != why {
		t.Errorf("the reason is %q", f.Message())
	}
	for n := range 20 {
		spots = append(spots, Spot{Place: Place{Path: "c.go", Line: n + 3, After: "f"}, In: "More", What: "assertion", Weight: 3},
			Spot{Place: Place{Path: fmt.Sprintf("%s%d.go", strings.Repeat("long", 20), n), Line: 7, Before: "g", After: "h"}, Weight: 3})
	}
	spots = append(spots, Spot{Place: Place{Path: "z.go", Line: 9, Before: "at least 90", After: "at least 10"}, What: "value"})
	f = Changed(Test, "test/changed", spots)
	if f.Why != "A value changed, and no rule tells whether this checks less." || f.Line != 9 || len(f.Others) > 750 ||
		!strings.HasPrefix(f.Others, "Judge 42 more: b.go:2 in `Test`: assertion `` c` `` is gone; a.go:1: line `a` → `b`; "+
			"c.go:3 in `More`: assertion `f` is new; line 4 in `More`: assertion `f` is new; ") ||
		!strings.Contains(f.Others, ", 21, 22; long") || !strings.HasSuffix(f.Others, "; 19 more in 19 files that are not named here.") {
		t.Errorf("at %v because %q, %q", f.Place, f.Why, f.Others)
	}
}

func TestLongLinesAreShownWhereTheyPart(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("const ", 12)
	spot := func(was, is string) Spot { return Spot{Place: Place{Before: was, After: is}, What: "line"} }
	for want, s := range map[string]Spot{
		": `a(1)` → `a(2)`": spot("a(1)", "a(2)"),
		": `…const const const é1` → `…const const const é2`": spot(long+"é1", long+"é2"),
		": `?` → `a b`":                                            spot("\x1b", "a\n\tb"),
		": ``` a``[`1] ``` → `` ` ``":                              spot("a``[`1]", "`"),
		": ```` ```a…b ```` is new":                                spot("", "```a````b"),
		": `" + long[:60] + "…` is gone":                           spot(long, ""),
		": `1" + long[:59] + "…` → `2" + long[:59] + "…`":          spot("1"+long, "2"+long),
		": `… const const const c` → `… const const const consts`": spot(long+"c", long+"consts"),
	} {
		if got := s.said("line"); got != want {
			t.Errorf("%s; want %s", got, want)
		}
	}
}

func TestWhatAListHasMoreOftenIsCounted(t *testing.T) {
	t.Parallel()
	left := Without([]string{"a", "B", "b", "c", "a"}, []string{"a", "b", "d"}, strings.ToLower)
	if got := strings.Join(left, " "); got != "b c a" {
		t.Errorf("what is left is %s", got)
	}
}
