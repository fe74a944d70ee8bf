package acp

import (
	"encoding/json"
	"fmt"
	"strings"

	"touchstone/agent/engine"
	"touchstone/agent/engine/session"
	"touchstone/verdict"
)

// gemini is Google's CLI (https://geminicli.com/docs/). From its working directory and the directories above,
// it loads .gemini/settings.json, which may name commands to run, .env and GEMINI.md (seen in 0.61.0).
var gemini = agent{
	packageName: "@google/gemini-cli", login: "set GEMINI_API_KEY", refuses: []string{"Unknown argument"},
	url: "https://generativelanguage.googleapis.com", address: "GOOGLE_GEMINI_BASE_URL", key: "GEMINI_API_KEY",
	environment: func(home session.Home, model string) []string {
		env := []string{
			"GEMINI_CLI_HOME=" + home.Dir, "GEMINI_CLI_NO_RELAUNCH=true",
			"GEMINI_TELEMETRY_ENABLED=false", "GEMINI_SYSTEM_MD=" + home.Path(geminiOrders),
		}
		if model != "" {
			env = append(env, "GEMINI_MODEL="+model)
		}
		return env
	},
	files: geminiFiles, used: geminiUsed,
}

// geminiUsed reads a turn's usage from the CLI's own field in its answer.
func geminiUsed(meta map[string]any) verdict.Usage {
	quota, _ := meta["quota"].(map[string]any)
	tokens, _ := quota["token_count"].(map[string]any)
	count := func(name string) int64 {
		n, _ := tokens[name].(float64)
		return int64(n)
	}
	return verdict.Usage{Input: count("input_tokens"), Output: count("output_tokens")}
}

// geminiSettings are the user's settings. Those of the working directory would override them, but there are
// none.
const geminiSettings = ".gemini/settings.json"

// geminiReads are tools that may be used in the session's directories without asking.
var geminiReads = []string{"read_file", "read_many_files", "list_directory", "glob", "grep_search"}

// geminiAsks are tools that an author may use if each call is allowed. All other tools are disabled.
var geminiAsks = []string{"replace", "write_file", "run_shell_command"}

// geminiPolicy decides which tools exist (https://geminicli.com/docs/reference/policy-engine).
func geminiPolicy(role engine.Role) string {
	policy := "[[rule]]\ntoolName = \"*\"\ndecision = \"deny\"\npriority = 900\n"
	rule := func(decision string, tools []string) {
		policy += fmt.Sprintf("\n[[rule]]\ntoolName = [\"%s\"]\ndecision = %q\npriority = 901\n", strings.Join(tools, `", "`), decision)
	}
	rule("allow", geminiReads)
	if role == engine.Author {
		rule("ask_user", geminiAsks)
	}
	return policy
}

func geminiFiles(req engine.Request, dirs []string, orders string) (map[string][]byte, error) {
	off := map[string]any{"enabled": false}
	settings, err := json.Marshal(map[string]any{
		// Only a few attempts: the caller of the session decides about more.
		"general": map[string]any{"enableAutoUpdate": false, "enableAutoUpdateNotification": false, "checkpointing": off, "maxAttempts": 4},
		"privacy": map[string]any{"usageStatisticsEnabled": false}, "telemetry": off, "ide": off,
		// The CLI takes no instructions from untrusted directories, wherever in them a tool reads. No other
		// setting achieves that.
		"security": map[string]any{"auth": map[string]any{"selectedType": "gemini-api-key"}, "folderTrust": map[string]any{"enabled": true}},
		"tools":    map[string]any{"shell": map[string]any{"enableInteractiveShell": false}},
		"context": map[string]any{
			"includeDirectories": dirs, "includeDirectoryTree": false, "loadMemoryFromIncludeDirectories": false,
			// Files that a change's own .geminiignore lists must be visible too.
			"fileFiltering": map[string]any{"respectGitIgnore": false, "respectGeminiIgnore": false, "enableRecursiveFileSearch": false},
		},
		"skills": off, "hooksConfig": off, "admin": map[string]any{"mcp": off, "extensions": off, "skills": off},
		"experimental": map[string]any{"enableAgents": false},
	})
	if err != nil {
		return nil, err
	}
	return map[string][]byte{
		geminiSettings: settings,
		geminiPolicies: []byte(geminiPolicy(req.Role)),
		geminiOrders:   []byte(strings.TrimSpace(orders) + "\n"),
		// The search for such a file stops at the first one.
		workDir + "/.env": nil,
	}, nil
}

// geminiPolicies are the user's policies, which override the CLI's own.
const geminiPolicies = ".gemini/policies/touchstone.toml"

// geminiOrders replaces the CLI's own system prompt. That one makes the model look for GEMINI.md, and names
// directories of the session, so no provider's cache could share it.
const geminiOrders = ".gemini/orders.md"
