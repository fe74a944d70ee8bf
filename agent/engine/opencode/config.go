package opencode

import (
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"

	"touchstone/agent/engine"
	"touchstone/agent/engine/session"
)

const (
	configFile = "opencode.json"
	// asideDir is where in the home parts of the checkout are kept during a turn.
	asideDir = "aside"
	// keyVariable carries the gateway's token, or the key if there is no gateway.
	keyVariable = "TOUCHSTONE_GATEWAY_TOKEN"
	// agent is the CLI's name for what carries our instructions.
	agent = "touchstone"
)

// configuration is the CLI's whole configuration for a session
// (https://opencode.ai/docs/config/). No key stands in it.
func configuration(s *session.Gated, chosen service, model string) ([]byte, error) {
	allowed, err := permissions(s.Request)
	if err != nil {
		return nil, err
	}
	address, _ := s.Address()
	const provider = "gateway"
	return json.Marshal(map[string]any{
		"autoupdate": false, "share": "disabled", "snapshot": false,
		"formatter": false, "lsp": false, "instructions": []string{}, "plugin": []string{}, "mcp": map[string]any{},
		// A session that does not fit fails, rather than go on without what it read.
		"compaction":        map[string]any{"auto": false, "prune": false},
		"enabled_providers": []string{provider},
		"provider": map[string]any{provider: map[string]any{
			"npm": chosen.library, "name": provider,
			"options": map[string]any{"baseURL": address + chosen.path, "apiKey": "{env:" + keyVariable + "}"},
			"models":  map[string]any{model: map[string]any{"name": model}},
		}},
		"model": provider + "/" + model, "small_model": provider + "/" + model,
		"agent": map[string]any{agent: map[string]any{
			"mode": "primary", "description": "what this session is for",
			"prompt": s.Request.Instructions, "permission": allowed,
		}},
		"permission": allowed,
	})
}

// rule is a pattern and what is done about what matches it. Of several rules the
// last that matches counts, so that their order has to be kept.
type rule struct{ pattern, action string }

type rules []rule

// MarshalJSON writes the rules as an object in their order.
func (r rules) MarshalJSON() ([]byte, error) {
	object := []byte{'{'}
	for i, rule := range r {
		if i > 0 {
			object = append(object, ',')
		}
		// Strings can be encoded.
		pattern, _ := json.Marshal(rule.pattern)
		action, _ := json.Marshal(rule.action)
		object = append(append(append(object, pattern...), ':'), action...)
	}
	return append(object, '}'), nil
}

// permissions are what a role may do (https://opencode.ai/docs/permissions/); all
// else is denied, without anybody being asked.
func permissions(req engine.Request) (map[string]any, error) {
	outside := rules{{"*", "deny"}}
	for _, dir := range req.ReadDirs {
		absolute, err := filepath.Abs(dir)
		if err != nil {
			return nil, fmt.Errorf("directory to read: %w", err)
		}
		outside = append(outside, rule{path.Join(filepath.ToSlash(absolute), "**"), "allow"})
	}
	allowed := map[string]any{
		"*": "deny", "read": "allow", "grep": "allow", "glob": "allow", "list": "allow", "external_directory": outside,
	}
	if req.Role == engine.Reviewer {
		return allowed, nil
	}
	allowed["edit"] = rules{{"*", "allow"}, {".git", "deny"}, {".git/**", "deny"}, {".opencode/**", "deny"}, {"opencode.json*", "deny"}}
	if err := patterns(req.Allow); err != nil {
		return nil, err
	}
	shell := rules{{"*", "deny"}}
	for _, pattern := range req.Allow {
		shell = append(shell, rule{pattern, "allow"})
	}
	allowed["bash"] = shell
	return allowed, nil
}
