package engine_test

import (
	"testing"

	"touchstone/agent/engine"
	"touchstone/verdict"
)

func TestACostIsByTheModelsPriceOrTheDearest(t *testing.T) {
	t.Parallel()
	prices := engine.Prices{
		"small":     {Input: 1, CacheWrite: 1.25, CacheRead: 0.1, Output: 5},
		"small-pro": {Input: 10, CacheWrite: 12.5, CacheRead: 1, Output: 50},
		"middle":    {Input: 3, CacheWrite: 3.75, CacheRead: 0.3, Output: 15},
	}
	used := verdict.Usage{Input: 1e6, CacheWrite: 2e6, CacheRead: 10e6, Output: 1e5}
	for _, test := range []struct {
		name   string
		prices engine.Prices
		model  string
		want   float64
	}{
		{"by name", prices, "small", 1 + 2.5 + 1 + 0.5},
		{"by the beginning", prices, "middle-2026-01-31", 3 + 7.5 + 3 + 1.5},
		{"by the longest", prices, "small-pro-2", 10 + 25 + 10 + 5},
		{"unknown, so the dearest", prices, "novelty", 15 + 37.5 + 15 + 7.5},
		{"unknown, so the dearest of these", engine.Prices{"gold": {Output: 1e6}}, "novelty", 1e5},
		{"unnamed, so the dearest", prices, "", 15 + 37.5 + 15 + 7.5},
		{"without prices", nil, "small", 15 + 37.5 + 15 + 7.5},
		{"for nothing, by the table", engine.Prices{"own": {}}, "own-model", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := test.prices.Cost(test.model, used); got < test.want-1e-9 || got > test.want+1e-9 {
				t.Errorf("cost = %g; want %g", got, test.want)
			}
		})
	}
}
