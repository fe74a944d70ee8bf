package claude

import (
	"cmp"
	"fmt"
	"time"

	"touchstone/agent/engine/session"
)

// kind is what one must know about claude to run it.
var kind = session.Kind{
	Name: "claude", Package: "@anthropic-ai/claude-code", Least: "2.1.197", Login: loginHint,
	Refuses: []string{"unknown option", "argument missing"}, TellsRetries: true,
	// API_TIMEOUT_MS is the variable that the CLI asks for when an answer takes longer than ten minutes.
	Variables: []string{"CLAUDE_CODE_GIT_BASH_PATH", "API_TIMEOUT_MS"},
	Prices:    prices, Priced: priced,
	Shell: "CLAUDE_CODE_SHELL", Shared: []string{".claude/shell-snapshots"},
	Withheld: []string{
		"ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_API_KEY",
		// With these a command could talk to the model in its user's name.
		"CLAUDE_CODE_MESSAGING_SOCKET", "CLAUDE_CODE_MESSAGING_TOKEN",
	},
}

// anthropic is the provider's address unless ANTHROPIC_BASE_URL overrides it.
const anthropic = "https://api.anthropic.com"

func providerOf(program session.Program) string {
	return cmp.Or(program.Lookup("ANTHROPIC_BASE_URL"), anthropic)
}

// maxRetries is how often the CLI retries a request before the turn fails, unless this process's environment
// overrides it. The CLI's own default is 10: minutes of waiting that are better spent on another model or
// another pull request.
const maxRetries = "3"

// settings are the variables that make the CLI behave. Argument address is the address of its gateway, if it
// has one.
func settings(program session.Program, home session.Home, address string) []string {
	var env []string
	if address != "" {
		// The header would start the system prompt with a fingerprint of the first message, so no two
		// sessions would have the same beginning (https://code.claude.com/docs/en/llm-gateway-protocol).
		env = append(env, "CLAUDE_CODE_ATTRIBUTION_HEADER=0")
	}
	return append(env,
		"ANTHROPIC_BASE_URL="+cmp.Or(address, providerOf(program)),
		"CLAUDE_CONFIG_DIR="+home.Path(".claude"),
		"CLAUDE_CODE_MAX_RETRIES="+cmp.Or(program.Lookup("CLAUDE_CODE_MAX_RETRIES"), maxRetries),
		"DISABLE_AUTOUPDATER=1",
		"DISABLE_TELEMETRY=1",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"CLAUDE_CODE_DISABLE_BACKGROUND_TASKS=1",
		// The prompt contains foreign text. An @ before a path in it would show the model any file of this
		// machine, without a call of a tool.
		"CLAUDE_CODE_DISABLE_FILE_MENTIONS=1",
		"CLAUDE_CODE_DISABLE_ATTACHMENTS=1",
		// Tasks that the checkout schedules (.claude/scheduled_tasks.json), and notes for later sessions, of
		// which there are none.
		"CLAUDE_CODE_DISABLE_CRON=1",
		"CLAUDE_CODE_DISABLE_AUTO_MEMORY=1",
		// Commit messages are foreign text and do not belong in the system prompt.
		"CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS=1",
	)
}

// commandTimeout is how long the CLI lets a command run if the model asks for no longer timeout.
const commandTimeout = 2 * time.Minute

// commandTimeouts are the variables that bound how long a command may run, even if the model asks for longer.
// Without them the bound is 10 minutes.
func commandTimeouts(longest time.Duration) []string {
	return []string{
		fmt.Sprintf("BASH_DEFAULT_TIMEOUT_MS=%d", min(commandTimeout, longest).Milliseconds()),
		fmt.Sprintf("BASH_MAX_TIMEOUT_MS=%d", longest.Milliseconds()),
	}
}
