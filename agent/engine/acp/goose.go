package acp

import (
	"github.com/coder/acp-go-sdk"

	"touchstone/agent/engine/session"
)

// goose (https://goose-docs.ai) asks for permission of its calls in this mode only, and reports all of them
// as kind "other" (seen in 1.50.0).
var goose = agent{
	packageName: "@aaif/goose-acp", login: "name the variables of its login in engine.acp.variables",
	environment: func(session.Home, string) []string { return []string{"GOOSE_MODE=approve", "GOOSE_DISABLE_KEYRING=1"} },
	kinds: map[string]acp.ToolKind{
		"read": acp.ToolKindRead, "tree": acp.ToolKindRead, "analyze": acp.ToolKindRead,
		"write": acp.ToolKindEdit, "edit": acp.ToolKindEdit, "shell": acp.ToolKindExecute,
	},
}
