package verdict

import "time"

// Cost is what something cost.
type Cost struct {
	USD  float64
	Time time.Duration
}

// Plus is the sum of both.
func (c Cost) Plus(d Cost) Cost { return Cost{c.USD + d.USD, c.Time + d.Time} }

// Allowance bounds what something may cost. 0 means no bound.
type Allowance struct {
	USD  float64
	Time time.Duration
	// NoModel forbids model sessions altogether. Merging the base and carrying an approval over that merge
	// mostly need none.
	NoModel bool
}
