package change

import (
	"fmt"
	"strings"
	"testing"
)

func TestAFindingOfManyPlacesLeavesNoneUncounted(t *testing.T) {
	t.Parallel()
	places := []Place{{Path: "a.go", Line: 1, Before: "a", After: "b"}, {Path: "b\x1b.go", Line: 2, Before: "c"}}
	f := Changed(Test, "test/changed", "It is not as before", places)
	const why = "It is not as before, and no rule tells whether it checks less."
	if want := why + " Read all 2 places in the patches: b.go:2; a.go:1."; f.Why != want || f.Place != places[1] {
		t.Errorf("at %v because %q", f.Place, f.Why)
	}
	if f = Changed(Test, "test/changed", "It is not as before", places[:1]); f.Why != why {
		t.Errorf("the reason is %q", f.Why)
	}
	for n := range 20 {
		places = append(places, Place{Path: "c.go", Line: n + 3, Before: "e", After: "f"},
			Place{Path: fmt.Sprintf("%s%d.go", strings.Repeat("long", 20), n), Line: 7, Before: "g", After: "h"})
	}
	places = append(places, Place{Path: "z.go", Line: 9, Before: "at least 90", After: "at least 10"})
	f = Changed(Test, "test/changed", "It is not as before", places)
	if last := places[len(places)-1]; f.Place != last || len(f.Why) > 600 ||
		!strings.Contains(f.Why, " Read all 43 places in the patches: z.go:9; b.go:2; a.go:1; c.go:3, 4, 5, 6, 7 and 15 more; long") ||
		!strings.HasSuffix(f.Why, "; 18 more in 18 files that are not named here.") {
		t.Errorf("at %v because %q", f.Place, f.Why)
	}
}
