package process

import (
	"cmp"
	"fmt"
)

// Bounds are the limits for a child and all its descendants together. When they exceed a bound they are
// killed, and Report.Exit says so. Bounds are only enforced on Linux; see Holder.
type Bounds struct {
	// Memory is in bytes; zero means three quarters of this machine's memory.
	Memory int64
	// Processes is the number of concurrent processes and threads; zero means defaultProcesses.
	Processes int
}

// defaultProcesses is far above what builds need that start several processes on each of many processors.
const defaultProcesses = 5000

// Or returns the bounds with defaults in place of zeros. The error says why no bounds can be enforced.
func (b Bounds) Or() (Bounds, error) {
	memory, err := installed()
	if err != nil {
		return Bounds{}, err
	}
	return Bounds{Memory: cmp.Or(b.Memory, memory/4*3), Processes: cmp.Or(b.Processes, defaultProcesses)}, nil
}

func (b Bounds) String() string {
	return fmt.Sprintf("%.1f GB of memory and %d processes and threads", float64(b.Memory)/1e9, b.Processes)
}

// tooMuchMemory and tooManyProcesses say which bound was exceeded.
func (b Bounds) tooMuchMemory() string {
	return fmt.Sprintf("it and the processes that it started used more than their limit of %.1f GB of memory", float64(b.Memory)/1e9)
}

func (b Bounds) tooManyProcesses() string {
	return fmt.Sprintf("it and the processes that it started exceeded their limit of %d processes and threads", b.Processes)
}
