package claude

import (
	"fmt"
	"slices"
	"strings"

	"touchstone/agent/engine"
)

// arguments is the command line of a session. The flags exclude settings, and with them hooks, of the
// checkout and of this user (--setting-sources; "user" is the session's own home, which has none), MCP
// servers (--strict-mcp-config), and skills, commands and prompts that begin with a slash
// (--disable-slash-commands). Reads need no permission inside the working directory and the added ones.
// Outside they are denied, since no bare Read is allowed. Edit(./**) covers all tools that edit files, but
// neither .git nor .claude. The mode acceptEdits would also allow unlisted commands that change files (touch,
// cp, sed …). Of these only rm is allowed, since no file could be deleted without it; the CLI limits it to
// the files that it may edit.
func arguments(req engine.Request) ([]string, error) {
	args := []string{
		"-p", "--output-format", "stream-json", "--verbose",
		// Without this, a message is silent until it is complete, and the session looks idle.
		"--include-partial-messages",
		"--setting-sources", "user", "--strict-mcp-config", "--disable-slash-commands",
		// What differs from session to session comes after what all of them share.
		"--exclude-dynamic-system-prompt-sections",
	}
	if req.Model != "" {
		if strings.HasPrefix(req.Model, "-") {
			return nil, fmt.Errorf("model %q is not a model's name", req.Model)
		}
		args = append(args, "--model", req.Model)
	}
	if slices.Contains((*Engine)(nil).Efforts(), req.Effort) {
		args = append(args, "--effort", req.Effort)
	}
	if len(req.ReadDirs) > 0 {
		args = append(append(args, "--add-dir"), req.ReadDirs...)
	}
	if req.Role == engine.Reviewer {
		return append(args, "--permission-mode", "default", "--tools", "Read,Grep,Glob"), nil
	}
	args = append(args, "--permission-mode", "default", "--tools", "Read,Grep,Glob,Edit,Write,Bash", "--allowedTools", "Edit(./**)",
		"Bash(rm *)")
	for _, pattern := range req.Allow {
		if pattern == "" || strings.ContainsAny(pattern, "()\n") {
			return nil, fmt.Errorf("command pattern %q is empty or contains parentheses", pattern)
		}
		args = append(args, "Bash("+pattern+")")
	}
	return args, nil
}
