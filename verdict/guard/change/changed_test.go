package change

import (
	"strings"
	"testing"
)

func TestAFindingOfManyPlacesNamesEachOnce(t *testing.T) {
	t.Parallel()
	places := []Place{{Path: "a.go", Line: 1, Before: "a", After: "b"}, {Path: "b.go", Line: 2, Before: "c", After: "\x1b[31md\r"}}
	f := Changed(Test, "test/changed", "It is not as before", places)
	if want := "It is not as before, and no rule tells whether it checks less. Also b.go:2: c → [31md."; f.Why != want {
		t.Errorf("the reason is %q", f.Why)
	}
	for len(places) < maxPlaces+2 {
		places = append(places, Place{Path: "c.go", Line: len(places), Before: "e"})
	}
	f = Changed(Test, "test/changed", "It is not as before", places)
	if f.Place != places[0] || !strings.HasSuffix(f.Why, " Also c.go:7: e → nothing. And 2 more.") {
		t.Errorf("the place is %v, the reason %q", f.Place, f.Why)
	}
}
