package claude

import (
	"time"

	"touchstone/agent/engine"
	"touchstone/agent/engine/process"
)

// Replay gives what a session comes to whose CLI printed these lines.
func Replay(lines []string) (string, error) {
	t := &turn{progress: func(engine.Progress) {}, started: time.Now()}
	for _, line := range lines {
		if err := t.line([]byte(line)); err != nil {
			return "", err
		}
	}
	result, err := t.finish(process.Report{Exit: "exit status 0"}, nil)
	return result.Text, err
}
