package verdict

import "time"

// Cost is what something took.
type Cost struct {
	USD  float64
	Time time.Duration
}

// Plus is what both took.
func (c Cost) Plus(d Cost) Cost { return Cost{c.USD + d.USD, c.Time + d.Time} }

// Allowance is what something may take; of either, 0 is no bound.
type Allowance struct {
	USD  float64
	Time time.Duration
	// NoModel says that it may take no session at all: to merge the base in, and to carry an
	// approval over that, mostly needs none.
	NoModel bool
}
