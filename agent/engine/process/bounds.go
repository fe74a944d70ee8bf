package process

import "fmt"

// Bounds are what a child and all that it starts may use together. Beyond, they are killed, and
// Report.Exit says so. They hold on Linux alone, and by looking twice a second.
type Bounds struct {
	// Memory is what they have that is not shared with files, in bytes.
	Memory int64
	// Processes is how many there are at once.
	Processes int
}

// DefaultBounds are those of a Command that sets none: three quarters of this machine's memory,
// and more processes than a build of several jobs on each of its processors has. The error says
// why there are none.
func DefaultBounds() (Bounds, error) {
	memory, err := installed()
	return Bounds{Memory: memory / 4 * 3, Processes: 2000}, err
}

func (b Bounds) String() string {
	return fmt.Sprintf("%.1f GB of memory and %d processes", float64(b.Memory)/1e9, b.Processes)
}
