// Package skill is what a coding session has to know to work with touchstone: one document in the Agent
// Skills format (https://agentskills.io/specification), and where the model CLIs look for it.
package skill

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"touchstone/worktree/atomicfile"
)

// Text is the skill, as it is installed.
//
//go:embed SKILL.md
var Text []byte

// name is the skill's, and so its directory's.
const name = "touchstone"

// homes are the directories, below the user's home, in which each program looks for skills of that user:
// https://code.claude.com/docs/en/skills, https://developers.openai.com/codex/skills and
// https://opencode.ai/docs/skills. The last ones share one, gemini too (seen in 0.61.0).
var homes = map[string]string{
	"claude":   ".claude/skills",
	"codex":    ".agents/skills",
	"gemini":   ".agents/skills",
	"opencode": ".agents/skills",
}

// Programs are the model CLIs that the skill can be installed for, in alphabetical order.
func Programs() []string { return slices.Sorted(maps.Keys(homes)) }

// errForeign says that another document stands where the skill would.
var errForeign = errors.New("there is a skill of that name which touchstone did not write; move it away, or run this again with --force")

// Path is where the skill stands for one of Programs, for the user of that home directory.
func Path(home, program string) (string, error) {
	below, ok := homes[program]
	if !ok {
		return "", fmt.Errorf("touchstone does not know where %q keeps its skills; it knows %s", program, strings.Join(Programs(), ", "))
	}
	return filepath.Join(home, filepath.FromSlash(below), name, "SKILL.md"), nil
}

// Install writes the skill to path, or an older one's successor, and reports whether that changed anything. Without
// force it leaves alone what is not a version of the skill, with an error.
func Install(path string, force bool) (changed bool, err error) {
	before, err := os.ReadFile(path)
	switch {
	case err == nil && bytes.Equal(before, Text):
		return false, nil
	case err == nil && !force && !ours(before):
		return false, fmt.Errorf("%s: %w", path, errForeign)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return false, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return false, err
	}
	return true, atomicfile.Write(path, Text)
}

// Remove deletes the skill at path with its directory, and reports whether it was there. What is not a version
// of the skill stays, with an error, and so do other files beside it.
func Remove(path string) (removed bool, err error) {
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case !ours(text):
		return false, fmt.Errorf("%s: %w", path, errForeign)
	}
	if err := os.Remove(path); err != nil {
		return false, err
	}
	dir := filepath.Dir(path)
	if left, err := os.ReadDir(dir); err == nil && len(left) == 0 {
		return true, os.Remove(dir)
	}
	return true, nil
}

// ours tells whether a document is a version of the skill, by how it begins and by its title.
func ours(text []byte) bool {
	return bytes.HasPrefix(text, []byte("---\nname: "+name+"\n")) && bytes.Contains(text, []byte("\n# Reviews with touchstone\n"))
}
