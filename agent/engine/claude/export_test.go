package claude

import (
	"touchstone/agent/engine"
	"touchstone/agent/engine/process"
	"touchstone/agent/engine/session"
)

// Replay gives what a session comes to whose CLI printed these lines.
func Replay(lines []string) (string, error) {
	t := &turn{Transcript: session.NewTranscript(func(engine.Progress) {}, login{}.redact)}
	for _, line := range lines {
		if err := t.line([]byte(line)); err != nil {
			return "", err
		}
	}
	result, err := t.finish(process.Report{Exit: "exit status 0"}, nil, kind.Failure)
	return result.Text, err
}
