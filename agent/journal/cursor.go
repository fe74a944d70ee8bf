package journal

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"touchstone/relay/event"
	"touchstone/worktree/atomicfile"
)

// cursorFile holds the cursor on a line.
const cursorFile = "cursor"

// Cursor is the place in the relay's log that was set last, or empty.
func (j *Journal) Cursor() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.cursor
}

// SetCursor remembers a place in the relay's log, as event.Cursor prints it. That survives
// this process. It does not wait for the disk, since it is called for every event, and after
// a power cut the relay sends again what came since an older place.
func (j *Journal) SetCursor(cursor string) error {
	if _, err := event.ParseCursor(cursor); err != nil {
		return fmt.Errorf("remember the place in the relay's log: %w", err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if cursor == j.cursor {
		return nil
	}
	if err := atomicfile.Swap(filepath.Join(j.dir, cursorFile), []byte(cursor+"\n")); err != nil {
		return fmt.Errorf("remember the place in the relay's log: %w", err)
	}
	j.cursor = cursor
	return nil
}

// readCursor is empty unless the file holds a cursor. A power cut can leave something else,
// which the relay would refuse for good.
func readCursor(dir string) string {
	content, err := os.ReadFile(filepath.Join(dir, cursorFile))
	if err != nil {
		return ""
	}
	cursor := strings.TrimSpace(string(content))
	if _, err := event.ParseCursor(cursor); err != nil {
		return ""
	}
	return cursor
}
