package span

import (
	"testing"
	"time"
)

func TestASpanReadsDaysAndPrintsWhatItReads(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"90s": 90 * time.Second, "1h30m": 90 * time.Minute, "2d": 48 * time.Hour, "1d12h": 36 * time.Hour,
		"0": 0, "0d": 0, "-1d": -24 * time.Hour,
	} {
		var got, again Duration
		if err := got.Set(text); err != nil || got.Duration() != want {
			t.Errorf("%s is %s, %v; want %s", text, got, err, want)
		}
		if err := again.Set(got.String()); err != nil || again != got {
			t.Errorf("%s is written as %s, which is read as %s, %v", text, got, again, err)
		}
	}
	for _, text := range []string{"", "d", "soon", "5", "1d-12h", "1d2d", "99999d", "1.5d", "1d 2h", "1w"} {
		got := Duration(day)
		if err := got.Set(text); err == nil || got.Duration() != day {
			t.Errorf("%q is read as %s, %v", text, got, err)
		}
	}
	if got := Duration(30 * day).String(); got != "30d" {
		t.Errorf("thirty days are written as %s", got)
	}
}
