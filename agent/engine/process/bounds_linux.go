package process

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// boundsInterval is how often the reaper looks what its tree uses.
const boundsInterval = 500 * time.Millisecond

// installed is this machine's memory in bytes.
func installed() (int64, error) {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return 0, fmt.Errorf("ask for this machine's memory: %w", err)
	}
	return int64(info.Totalram) * int64(info.Unit), nil
}

// hold kills all there are once they use more than they may. What grows faster than that is seen,
// the kernel kills before it kills anything else.
func (g *reaper) hold(bounds Bounds) {
	// Without it, the kernel chooses as it does for all.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("500"), 0)
	if bounds == (Bounds{}) {
		return
	}
	for range time.Tick(boundsInterval) {
		var why string
		switch memory, processes := used(os.Getpid()); {
		case memory > bounds.Memory:
			why = fmt.Sprintf("it and what it started had %.1f GB of memory, and may have %.1f GB", float64(memory)/1e9, float64(bounds.Memory)/1e9)
		case processes > bounds.Processes:
			why = fmt.Sprintf("it and what it started were %d processes, and may be %d", processes, bounds.Processes)
		default:
			continue
		}
		g.exceeded.Store(&why)
		g.killAll()
		return
	}
}

// used is what the descendants of a process use.
func used(root int) (memory int64, processes int) {
	parents := map[int]int{}
	for _, pid := range allProcesses() {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		// The name before it may hold anything (proc_pid_stat(5)).
		if fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]); err == nil && len(fields) > 1 {
			parents[pid], _ = strconv.Atoi(string(fields[1]))
		}
	}
	for pid := range parents {
		above := parents[pid]
		for above != root && above > 1 {
			above = parents[above]
		}
		if above == root {
			processes++
			memory += private(pid)
		}
	}
	return memory, processes
}

// private is the memory of a process that no file holds, in bytes; zero once it has ended.
func private(pid int) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	fields := bytes.Fields(text)
	if err != nil || len(fields) < 3 {
		return 0
	}
	// Of what is resident, the second, the third is shared with files (proc_pid_statm(5)).
	resident, _ := strconv.ParseInt(string(fields[1]), 10, 64)
	shared, _ := strconv.ParseInt(string(fields[2]), 10, 64)
	return (resident - shared) * int64(os.Getpagesize())
}
