package remoteconfig

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"touchstone/relay/event"
	"touchstone/worktree/atomicfile"
)

// memory is a file that holds what a relay said last; the zero memory holds nothing.
type memory struct{ path, relay string }

// kept is the file's content. What another relay said does not count.
type kept struct {
	Relay   string        `json:"relay"`
	Control event.Control `json:"control"`
}

// keep writes down a control.
func (m memory) keep(c event.Control) error {
	if m.path == "" {
		return nil
	}
	text, err := json.Marshal(kept{Relay: m.relay, Control: c})
	if err == nil {
		err = os.MkdirAll(filepath.Dir(m.path), 0o700)
	}
	if err == nil {
		err = atomicfile.Write(m.path, text)
	}
	if err != nil {
		return fmt.Errorf("keep what the relay said: %w", err)
	}
	return nil
}

// recall gives the control that was kept, if there is one. A file that cannot be read is none.
func (m memory) recall() (c event.Control, ok bool) {
	if m.path == "" {
		return c, false
	}
	text, err := os.ReadFile(m.path)
	var k kept
	if err != nil || json.Unmarshal(text, &k) != nil || k.Relay != m.relay {
		return c, false
	}
	return k.Control, !k.Control.ID.IsZero()
}

// forget removes the file. What cannot be removed says something only while no relay does.
func (m memory) forget() {
	if m.path != "" {
		_ = os.Remove(m.path)
	}
}
