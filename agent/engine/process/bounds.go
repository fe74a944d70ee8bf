package process

import "fmt"

// Bounds are what a child and all that it starts may use together. Beyond, they are killed, and
// Report.Exit says so. They hold on Linux alone; see Holder.
type Bounds struct {
	// Memory is what they have in bytes; zero is three quarters of this machine's.
	Memory int64
	// Processes is how many processes and threads there are at once; zero is DefaultProcesses.
	Processes int
}

// DefaultProcesses is far more than builds have that start several on each of many processors.
const DefaultProcesses = 5000

// Or gives the bounds with the defaults for those that are zero. The error says why there are none.
func (b Bounds) Or() (Bounds, error) {
	memory, err := installed()
	if err != nil {
		return Bounds{}, err
	}
	if b.Memory == 0 {
		b.Memory = memory / 4 * 3
	}
	if b.Processes == 0 {
		b.Processes = DefaultProcesses
	}
	return b, nil
}

func (b Bounds) String() string {
	return fmt.Sprintf("%.1f GB of memory and %d processes and threads", float64(b.Memory)/1e9, b.Processes)
}

// tooMuchMemory and tooManyProcesses say what the bounds were exceeded by.
func (b Bounds) tooMuchMemory() string {
	return fmt.Sprintf("it and what it started wanted more memory than the %.1f GB that they may have", float64(b.Memory)/1e9)
}

func (b Bounds) tooManyProcesses() string {
	return fmt.Sprintf("it and what it started wanted to be more processes and threads than the %d that they may be", b.Processes)
}
