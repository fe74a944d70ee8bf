package claude

import (
	"testing"

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

// Over reports whether these lines are all that a CLI has to say.
func Over(t testing.TB, lines ...string) bool {
	t.Helper()
	heard := &turn{Transcript: session.NewTranscript(nil, login{}.redact)}
	for _, line := range lines {
		if err := heard.line([]byte(line)); err != nil {
			t.Error(err)
		}
	}
	return heard.over
}
