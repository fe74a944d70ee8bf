package process

import (
	"bytes"
	"os"
	"strconv"
)

// marked finds the live processes that have the mark in their environment.
func marked(mark string) []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var pids []int
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		// Another user's process, or one that has just ended, cannot be read;
		// neither is of the family. A zombie's environment is empty.
		environ, err := os.ReadFile("/proc/" + entry.Name() + "/environ")
		if err == nil && bytes.Contains(environ, []byte(mark)) {
			pids = append(pids, pid)
		}
	}
	return pids
}
