package hub

import (
	"context"
	"maps"
	"sync"

	"github.com/rs/zerolog"
)

// maxDamages bounds how many ranges of damaged events are remembered. A log with more of them has one cause,
// which has been logged by then.
const maxDamages = 10_000

// damages are the ranges of damaged events that this relay has read.
type damages struct {
	mu   sync.Mutex
	last map[int64]int64 // the last event of each range, by its first
}

// meet remembers a range of damaged events, and logs it the first time.
func (all *damages) meet(ctx context.Context, d *Damage) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if last, known := all.last[d.First]; known && d.Last <= last || len(all.last) >= maxDamages {
		return
	}
	// One reader may have begun within the range of another: count each event once.
	for first, last := range all.last {
		if first <= d.First && d.Last <= last {
			return
		}
	}
	maps.DeleteFunc(all.last, func(first, last int64) bool { return d.First <= first && last <= d.Last })
	if all.last == nil {
		all.last = map[int64]int64{}
	}
	all.last[d.First] = d.Last
	zerolog.Ctx(ctx).Error().Int64("first", d.First).Int64("last", d.Last).AnErr("cause", d.Cause).
		Msg("events in the store are damaged, and subscribers get a gap instead; run touchstone-relay verify, and restore " +
			"the store from a backup")
}

// dropThrough forgets the ranges that retention has removed.
func (all *damages) dropThrough(floor int64) {
	all.mu.Lock()
	defer all.mu.Unlock()
	maps.DeleteFunc(all.last, func(_, last int64) bool { return last <= floor })
}

// Damaged returns how many damaged events this relay has come across in the log since it started.
func (h *Hub) Damaged() int64 {
	h.damages.mu.Lock()
	defer h.damages.mu.Unlock()
	count := int64(0)
	for first, last := range h.damages.last {
		count += last - first + 1
	}
	return count
}
