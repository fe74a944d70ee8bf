package journal

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"touchstone/relay/event"
	"touchstone/worktree/atomicfile"
)

// cursorFile holds the cursor, on one line.
const cursorFile = "cursor"

// Cursor is the last position in the relay's log that was set, or empty.
func (j *Journal) Cursor() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.cursor
}

// SetCursor stores a position in the relay's log, as event.Cursor prints it, for this process and the next.
// It does not wait for the disk, since it is called for every event: after a power failure, the relay sends
// the events since an older position again.
func (j *Journal) SetCursor(cursor string) error {
	if _, err := event.ParseCursor(cursor); err != nil {
		return fmt.Errorf("save the cursor of the relay's log: %w", err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if cursor == j.cursor {
		return nil
	}
	if err := atomicfile.Swap(filepath.Join(j.dir, cursorFile), []byte(cursor+"\n")); err != nil {
		return fmt.Errorf("save the cursor of the relay's log: %w", err)
	}
	j.cursor = cursor
	return nil
}

// readCursor returns an empty cursor if the file holds none. A power failure can leave invalid content, which
// the relay would refuse every time.
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
