package hub_test

import (
	"fmt"
	"testing"

	"touchstone/relay/event"
	"touchstone/relay/storetest"
)

func TestLagCountsOnlyMatchingEvents(t *testing.T) {
	h := start(t, openStore(t), 0)
	all := h.NewReader(0)
	defer all.Close()
	some := h.NewReader(0, event.Filter{Types: []string{"release"}})
	defer some.Close()
	expect := func(ofAll, ofSome int64) {
		t.Helper()
		if all.Lag() != ofAll || some.Lag() != ofSome {
			t.Errorf("the lags are %d and %d, want %d and %d", all.Lag(), some.Lag(), ofAll, ofSome)
		}
	}
	add := func(n int, kind string) {
		t.Helper()
		for i := range n {
			e := storetest.Event(fmt.Sprint(h.Bounds().Head, kind, i))
			e.Type = kind
			if _, _, err := h.Append(t.Context(), e); err != nil {
				t.Fatal(err)
			}
		}
	}
	expect(0, 0)
	add(3, "push")
	expect(3, 3)
	for range 2 {
		if _, err := some.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	add(2, "push")
	expect(5, 0)
	add(1, "release")
	add(1, "push")
	expect(7, 2)
	for range 2 {
		if _, err := all.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	expect(0, 2)
}
