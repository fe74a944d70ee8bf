package verdict

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestRepairsAreWhatTheirTrailersSay(t *testing.T) {
	whole := Repair{
		Reviewed: "head1", Findings: []string{"0badcafe", "deadbeef"}, Disputed: []string{"00000000 it is bound above", "11111111 no"},
		Change: "aa", Undoes: "bb", Cost: Cost{USD: 0.1234, Time: 3*time.Minute + 4*time.Second},
	}
	for _, want := range []Repair{whole, {Reviewed: "head1"}} {
		if got, ok := ParseRepair("Apply review\r\n\r\n" + strings.ReplaceAll(want.Trailers(), "\n", "\r\n")); !ok ||
			fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%+v comes back as %+v, %v", want, got, ok)
		}
	}
	for _, message := range []string{"", "Change", "Touchstone-Findings: 0badcafe\n", "See Touchstone-Reviewed: head1"} {
		if got, ok := ParseRepair(message); ok {
			t.Errorf("%q is taken for %+v", message, got)
		}
	}
	for _, cost := range []string{"-1 USD, 1s", "1e9 USD, 1s", "NaN USD, 1s", "1 EUR, 1s", "1 USD, -1s", "1 USD, 99999999h99999999h",
		"1 USD"} {
		if got, _ := ParseRepair("Touchstone-Reviewed: a\nTouchstone-Cost: " + cost); got.Cost != (Cost{}) {
			t.Errorf("%q costs %+v", cost, got.Cost)
		}
	}
}

func FuzzParseRepair(f *testing.F) {
	f.Add("Touchstone-Reviewed: a\nTouchstone-Findings: b, c\nTouchstone-Cost: 1.5 USD, 1m0s")
	f.Add("Touchstone-Cost: 999999.999999 USD, 2562047h\r\nTouchstone-Disputed: \xff")
	f.Fuzz(func(t *testing.T, message string) {
		r, ok := ParseRepair(message)
		if ok == (r.Reviewed == "") || r.Cost.USD < 0 || r.Cost.USD > 1e6 || r.Cost.Time < 0 ||
			strings.ContainsAny(r.Change+r.Undoes+r.Reviewed, "\r\n") {
			t.Fatalf("%q is %+v, %v", message, r, ok)
		}
		again, ok2 := ParseRepair(r.Trailers())
		if ok2 != ok || again.Reviewed != r.Reviewed || len(again.Disputed) != len(r.Disputed) {
			t.Fatalf("%+v comes back as %+v", r, again)
		}
	})
}
