package span

import (
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"90s": 90 * time.Second, "1h30m": 90 * time.Minute, "2d": 48 * time.Hour, "1d12h": 36 * time.Hour,
		"0": 0, "0d": 0, "-1d": -24 * time.Hour,
	} {
		got, err := Parse(text)
		if err != nil || got != want {
			t.Errorf("%s is %s, %v; want %s", text, got, err, want)
		}
		if again, err := Parse(Format(got)); err != nil || again != got {
			t.Errorf("%s is written as %s, which is read as %s, %v", text, Format(got), again, err)
		}
	}
	for _, text := range []string{"", "d", "soon", "5", "1d-12h", "1d2d", "99999d", "1.5d", "1d 2h", "1w"} {
		if got, err := Parse(text); err == nil {
			t.Errorf("%q is read as %s", text, got)
		}
	}
	if got := Format(30 * day); got != "30d" {
		t.Errorf("thirty days are written as %s", got)
	}
}
