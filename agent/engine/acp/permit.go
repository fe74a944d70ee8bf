package acp

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/coder/acp-go-sdk"

	"touchstone/agent/engine"
)

// answer answers an agent's request.
func (t *turn) answer(method string, params json.RawMessage) (any, *problem) {
	switch method {
	case acp.ClientMethodFsReadTextFile:
		return answered(params, t.conversation.read)
	case acp.ClientMethodFsWriteTextFile:
		return answered(params, t.conversation.write)
	case acp.ClientMethodSessionRequestPermission:
		return answered(params, t.permission)
	}
	return nil, &problem{Code: methodNotFound, Message: fmt.Sprintf("%.80q is not offered here", method)}
}

// answered decodes a request and passes it to a handler.
func answered[Request, Response any](params json.RawMessage, by func(Request) (Response, error)) (any, *problem) {
	var request Request
	if err := json.Unmarshal(params, &request); err != nil {
		return nil, &problem{Code: invalidParams, Message: err.Error()}
	}
	response, err := by(request)
	if err != nil {
		return nil, &problem{Code: invalidParams, Message: err.Error()}
	}
	return response, nil
}

// permission decides about one call of a tool, and never about similar later ones.
func (t *turn) permission(request acp.RequestPermissionRequest) (acp.RequestPermissionResponse, error) {
	call := request.ToolCall
	kind, title := acp.ToolKindOther, ""
	if call.Kind != nil {
		kind = *call.Kind
	}
	if call.Title != nil {
		title = *call.Title
	}
	allowed := t.conversation.allows(kind, title, call)
	status := acp.ToolCallStatusInProgress
	if !allowed {
		status = acp.ToolCallStatusFailed
	}
	if err := t.tool(call.ToolCallId, kind, title, call.RawInput, call.Locations, status); err != nil {
		return acp.RequestPermissionResponse{}, err
	}
	want := acp.PermissionOptionKindRejectOnce
	if allowed {
		want = acp.PermissionOptionKindAllowOnce
	}
	for _, option := range request.Options {
		if option.Kind == want {
			return acp.RequestPermissionResponse{Outcome: acp.NewRequestPermissionOutcomeSelected(option.OptionId)}, nil
		}
	}
	return acp.RequestPermissionResponse{Outcome: acp.NewRequestPermissionOutcomeCancelled()}, nil
}

// allows decides whether a tool may do what the agent says it will do. What cannot be determined from that is
// not allowed.
func (c *conversation) allows(kind acp.ToolKind, title string, call acp.ToolCallUpdate) bool {
	var places []string
	for _, location := range call.Locations {
		places = append(places, location.Path)
	}
	for _, content := range call.Content {
		if content.Diff != nil {
			places = append(places, content.Diff.Path)
		}
	}
	arguments, _ := call.RawInput.(map[string]any)
	if kind == acp.ToolKindOther && c.agent.kinds != nil {
		tool, _, _ := strings.Cut(title, " · ")
		kind = c.agent.kinds[tool]
		if path, ok := arguments["path"].(string); ok {
			places = append(places, path)
		}
	}
	author := c.Request.Role == engine.Author
	all := func(reach func(path string) error) bool {
		return len(places) > 0 && !slices.ContainsFunc(places, func(path string) bool { return reach(path) != nil })
	}
	switch kind {
	case acp.ToolKindThink:
		return true
	case acp.ToolKindRead, acp.ToolKindSearch:
		return all(func(path string) error { _, _, err := c.readable(path); return err })
	case acp.ToolKindEdit, acp.ToolKindDelete, acp.ToolKindMove:
		return author && all(func(path string) error { _, err := c.writable(path); return err })
	case acp.ToolKindExecute:
		command := title
		if arguments != nil {
			command, _ = arguments["command"].(string) // without it, nothing is known about what runs
		}
		return author && runnable(command, c.Request.Allow)
	}
	return false
}

// inside returns the path relative to a directory, and whether it is inside. Both paths must be free of
// symbolic links.
func inside(dir, path string) (string, bool) {
	relative, err := filepath.Rel(dir, path)
	return relative, err == nil && filepath.IsLocal(relative)
}

// inGit reports whether a path leads into git's own directory.
func inGit(relative string) bool {
	// Some file systems ignore case.
	return slices.Contains(strings.Split(filepath.ToSlash(strings.ToLower(relative)), "/"), ".git")
}
