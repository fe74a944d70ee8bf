package opencode

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"touchstone/agent/engine"
	"touchstone/agent/engine/session"
)

const (
	configFile = "opencode.json"
	// workDir is the directory in the home in which the CLI works.
	workDir = "work"
	// keyVariable holds the gateway's token, or the key if there is no gateway.
	keyVariable = "TOUCHSTONE_GATEWAY_TOKEN"
	// agent is the name of the CLI's agent that has our instructions.
	agent = "touchstone"
)

// laid are the other files in a new home directory.
//
// The CLI takes code, settings and instructions from its working directory and those around it, and no flag
// or variable prevents that (seen in 1.18.33: .opencode; AGENTS.md; tsconfig.json and package.json, which say
// what is loaded for its own modules). So it works in a directory of the home, where the search for these
// files ends, and takes nothing from the checkout but what a tool reads. It also downloads the dependencies
// of plugins, even without plugins, unless a lock file says that they are installed.
var laid = map[string]string{
	workDir + "/tsconfig.json":           "{}",
	workDir + "/package.json":            "{}",
	workDir + "/.git":                    "This is no repository, nor part of one.",
	"config/opencode/node_modules/.keep": "",
	"config/opencode/package-lock.json":  `{"packages":{"":{"dependencies":{"@opencode-ai/plugin":"*"}}}}`,
}

// whereabouts tells the model that the checkout is not its working directory.
const whereabouts = `

# Where your files are

Your tools start in an empty directory. Wherever else your working directory is spoken of, %[1]s is meant: that is
where the repository is checked out. So name each file by its absolute path, which begins with that, give grep and
glob that directory or one below it as their path, and every shell command as its workdir.`

// configuration is the CLI's complete configuration for a session (https://opencode.ai/docs/config/). It
// contains no key.
func configuration(s *session.Gated, chosen service, model string) ([]byte, error) {
	allowed, err := permissions(s.Request)
	if err != nil {
		return nil, err
	}
	options := map[string]any{} // further options of each request for the model
	if slices.Contains((*Engine)(nil).Efforts(), s.Request.Effort) {
		options[chosen.effort] = s.Request.Effort
	}
	address, _ := s.Address()
	const provider = "gateway"
	config, err := json.Marshal(map[string]any{
		"autoupdate": false, "share": "disabled", "snapshot": false,
		"formatter": false, "lsp": false, "instructions": []string{}, "plugin": []string{}, "mcp": map[string]any{},
		// A session that does not fit fails, rather than continue without what it has read.
		"compaction":        map[string]any{"auto": false, "prune": false},
		"enabled_providers": []string{provider},
		"provider": map[string]any{provider: map[string]any{
			"npm": chosen.library, "name": provider,
			"options": map[string]any{"baseURL": address + chosen.path, "apiKey": "{env:" + keyVariable + "}"},
			"models":  map[string]any{model: map[string]any{"name": model, "options": options}},
		}},
		"model": provider + "/" + model, "small_model": provider + "/" + model,
		"agent": map[string]any{agent: map[string]any{
			"mode": "primary", "description": "what this session is for",
			"prompt": s.Request.Instructions + fmt.Sprintf(whereabouts, s.Request.Dir), "permission": allowed,
		}},
		"permission": allowed,
	})
	return verbatim(config), err
}

// verbatim keeps the CLI from replacing parts of the configuration, but for the key. Before it parses the file, it
// replaces {env:NAME} and {file:path} by variables and files of this machine
// (https://opencode.ai/docs/config/#variables). The instructions contain documents of the repository, where nothing
// of that may be replaced, so the braces in strings are written as escapes.
func verbatim(config []byte) []byte {
	escaped := make([]byte, 0, len(config))
	for i, c := range config {
		// A brace that is not in a string has a quote or a brace after it.
		if c == '{' && i+1 < len(config) && config[i+1] != '"' && config[i+1] != '}' {
			escaped = append(escaped, `\u007b`...)
		} else {
			escaped = append(escaped, c)
		}
	}
	// In a string, quotes are escaped, so this is the key.
	return bytes.Replace(escaped, []byte(`"apiKey":"\u007benv:`), []byte(`"apiKey":"{env:`), 1)
}

// rule is a pattern and the action for what matches it. The last matching rule counts, so their order
// matters.
type rule struct{ pattern, action string }

type rules []rule

// MarshalJSON writes the rules as an object in their order.
func (r rules) MarshalJSON() ([]byte, error) {
	object := []byte{'{'}
	for i, rule := range r {
		if i > 0 {
			object = append(object, ',')
		}
		// Strings can always be encoded.
		pattern, _ := json.Marshal(rule.pattern)
		action, _ := json.Marshal(rule.action)
		object = append(append(append(object, pattern...), ':'), action...)
	}
	return append(object, '}'), nil
}

// permissions are what a role may do (https://opencode.ai/docs/permissions/) in a checkout. Everything else is denied without
// asking. Paths have slashes.
func permissions(req engine.Request) (map[string]any, error) {
	checkout := filepath.ToSlash(req.Dir)
	outside := rules{{"*", "deny"}, {checkout + "/**", "allow"}}
	for _, dir := range req.ReadDirs {
		outside = append(outside, rule{path.Join(filepath.ToSlash(dir), "**"), "allow"})
	}
	allowed := map[string]any{
		"*": "deny", "read": "allow", "grep": "allow", "glob": "allow", "list": "allow", "external_directory": outside,
	}
	if req.Role == engine.Reviewer {
		return allowed, nil
	}
	// The rules are matched against paths relative to the file system's root. Git's own directory must not be
	// edited.
	named := strings.TrimPrefix(checkout, filepath.VolumeName(checkout)+"/")
	allowed["edit"] = rules{{"*", "deny"}, {named + "/**", "allow"}, {named + "/.git", "deny"}, {named + "/.git/**", "deny"}}
	shell := rules{{"*", "deny"}}
	for _, pattern := range req.Allow {
		if trimmed := strings.TrimSpace(pattern); trimmed == "" || trimmed == "*" {
			return nil, fmt.Errorf("command pattern %q would allow every command", pattern)
		}
		shell = append(shell, rule{pattern, "allow"})
	}
	allowed["bash"] = shell
	return allowed, nil
}
