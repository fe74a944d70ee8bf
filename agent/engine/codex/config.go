package codex

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"touchstone/agent/engine"
	"touchstone/agent/engine/process"
	"touchstone/agent/engine/session"
)

const (
	// configDir is the CLI's directory in the session's home.
	configDir  = ".codex"
	configFile = configDir + "/config.toml"
	// keyVariable holds the gateway's token, or the key if there is no gateway.
	keyVariable = "TOUCHSTONE_GATEWAY_TOKEN"
)

// settings exclude from the session what does not belong to the task: the checkout's instructions
// (project_doc_max_bytes) and, since the checkout is not trusted, its hooks, rules, MCP servers and settings;
// also skills, apps, plugins, sub-agents and the web. There is no person to approve anything, so what is not
// allowed is refused (https://developers.openai.com/codex/config-reference).
const settings = `approval_policy = "never"
default_permissions = "session"
model_provider = "gateway"
project_doc_max_bytes = 0
web_search = "disabled"
include_apps_instructions = false
check_for_update_on_startup = false
allow_login_shell = false

[analytics]
enabled = false

[history]
persistence = "none"

[agents]
enabled = false

[skills]
include_instructions = false
bundled = { enabled = false }

[features]
goals = false
apps = false
plugins = false
hooks = false
shell_snapshot = false
image_generation = false
browser_use = false
computer_use = false
tool_suggest = false
fast_mode = false
sleep_tool = false
unified_exec = false
view_image = false

[shell_environment_policy]
inherit = "all"
exclude = ["TOUCHSTONE_GATEWAY_*"]

[permissions.session.network]
enabled = false

`

// configuration is the CLI's config.toml for a session.
func configuration(s *session.Gated) ([]byte, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "developer_instructions = %s\n", quote(s.Request.Instructions))
	if s.Request.Model != "" {
		fmt.Fprintf(&b, "model = %s\n", quote(s.Request.Model))
	}
	if slices.Contains((*Engine)(nil).Efforts(), s.Request.Effort) {
		fmt.Fprintf(&b, "model_reasoning_effort = %s\n", quote(s.Request.Effort))
	}
	b.WriteString(settings)
	address, _ := s.Address()
	// Only a few retries: the caller of the session decides about more.
	fmt.Fprintf(&b, "[model_providers.gateway]\nname = \"gateway\"\nbase_url = %s\nwire_api = \"responses\"\nenv_key = "+
		"%q\nrequest_max_retries = 3\nstream_max_retries = 3\n\n",
		quote(address), keyVariable)
	fmt.Fprintf(&b, "[projects.%s]\ntrust_level = \"untrusted\"\n\n", quote(s.Request.Dir))
	fmt.Fprintf(&b, "[permissions.session.filesystem]\n\":minimal\" = \"read\"\n")
	access, err := permissions(s)
	if err != nil {
		return nil, err
	}
	for _, path := range slices.Sorted(maps.Keys(access)) {
		fmt.Fprintf(&b, "%s = %q\n", quote(path), access[path])
	}
	mode := "read"
	if s.Request.Role == engine.Author {
		mode = "write"
	}
	fmt.Fprintf(&b, "\n[permissions.session.filesystem.\":workspace_roots\"]\n\".\" = %q\n", mode)
	if mode == "write" {
		b.WriteString("\".git\" = \"read\"\n\".codex\" = \"read\"\n")
	}
	return []byte(b.String()), nil
}

// permissions are the paths outside the working directory that commands may use, and how. No path may occur
// twice.
func permissions(s *session.Gated) (map[string]string, error) {
	access := map[string]string{}
	for _, path := range append(own(s.Program.Args(kind)), s.Request.ReadDirs...) {
		access[path] = "read"
	}
	if s.Request.Role == engine.Reviewer {
		return access, nil
	}
	access[s.Home.Path("tmp")] = "write"
	for _, entry := range s.Environment() {
		name, value, _ := strings.Cut(entry, "=")
		modes := map[string]string{"GOROOT": "read", "GOPROXY": "read", "GOMODCACHE": "write", "GOCACHE": "write"}
		if name == "GOPROXY" {
			// The network is not reachable, but the modules that the user has downloaded are.
			_, value, _ = strings.Cut(value, "file://")
			value, _, _ = strings.Cut(value, ",")
		}
		mode, ok := modes[name]
		if !ok || !filepath.IsAbs(value) {
			continue
		}
		if mode == "write" {
			// The CLI's sandbox does not allow creating it.
			if err := os.MkdirAll(value, 0o700); err != nil {
				return nil, fmt.Errorf("make a cache for builds: %w", err)
			}
		}
		access[filepath.Clean(value)] = mode
	}
	return access, nil
}

// own are the programs of the CLI's command, since it starts itself again inside its sandbox. Its npm package has
// the actual program in another package next to it. Of any other program it is the file alone: its directory may
// be the user's home.
func own(command []string) []string {
	var places []string
	for _, word := range command {
		path, err := process.LookPath(word)
		if err == nil {
			path, err = filepath.EvalSymlinks(path)
		}
		if err != nil {
			continue
		}
		scope := string(filepath.Separator) + "@openai" + string(filepath.Separator)
		if before, _, found := strings.Cut(path, scope); found {
			places = append(places, before+strings.TrimSuffix(scope, string(filepath.Separator)))
		} else {
			places = append(places, path)
		}
	}
	return places
}

// quote makes a TOML string. A JSON string is a valid one, except for the character 7F, which only JSON allows in it
// (https://toml.io/en/v1.0.0#string).
func quote(text string) string {
	// Any string can be encoded.
	data, _ := json.Marshal(text)
	return strings.ReplaceAll(string(data), "\x7f", `\u007f`)
}
