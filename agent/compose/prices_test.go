package compose_test

import (
	"strings"
	"testing"
	"time"

	"touchstone/agent/compose"
	"touchstone/agent/config"
)

func TestCheckPrices(t *testing.T) {
	t.Parallel()
	models := map[string]config.Price{"model": {}}
	for _, test := range []struct {
		name     string
		prices   config.Prices
		unpriced []string
		want     string
	}{
		{"none, and none needed", config.Prices{}, nil, ""},
		{"none, and needed", config.Prices{}, []string{"codex"},
			"codex does not report what its models cost, so they count as the most expensive ones"},
		{"new", config.Prices{Date: "2026-03-01", Models: models}, []string{"codex"}, ""},
		{"as old as they may be", config.Prices{Date: "2026-01-31", Models: models}, nil, ""},
		{"stale", config.Prices{Date: "2026-01-30", Models: models}, nil, "91 days ago; look them up again"},
		{"of tomorrow", config.Prices{Date: "2026-05-02", Models: models}, nil, ""},
		{"of days to come", config.Prices{Date: "2026-05-04", Models: models}, nil, "which is in the future"},
		{"undated", config.Prices{Date: "last year", Models: models}, nil, "not a date such as"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
			err := compose.CheckPrices(config.Config{Prices: test.prices}, test.unpriced, now)
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("error = %v; want %q", err, test.want)
			}
		})
	}
}
