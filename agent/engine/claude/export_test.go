package claude

import (
	"touchstone/agent/engine"
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
	return t.Text(), t.judge("exit status 0", "", kind.Failure)
}
