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
	Relay    string         `json:"relay"`
	Settings event.Settings `json:"control"`
}

// keep writes settings down.
func (m memory) keep(c event.Settings) error {
	if m.path == "" {
		return nil
	}
	text, err := json.Marshal(kept{Relay: m.relay, Settings: c})
	if err == nil {
		err = os.MkdirAll(filepath.Dir(m.path), 0o700)
	}
	if err == nil {
		err = atomicfile.Write(m.path, text)
	}
	if err != nil {
		return fmt.Errorf("save the relay's settings: %w", err)
	}
	return nil
}

// recall gives the settings that were kept, if there are any. A file that cannot be read has none.
func (m memory) recall() (c event.Settings, ok bool) {
	if m.path == "" {
		return c, false
	}
	text, err := os.ReadFile(m.path)
	var k kept
	if err != nil || json.Unmarshal(text, &k) != nil || k.Relay != m.relay {
		return c, false
	}
	return k.Settings, !k.Settings.ID.IsZero()
}

// forget removes the file. What cannot be removed says something only while no relay does.
func (m memory) forget() {
	if m.path != "" {
		_ = os.Remove(m.path)
	}
}
