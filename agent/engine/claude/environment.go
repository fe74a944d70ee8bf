package claude

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// allowed are the variables that reach a session if they are set. Everything
// in a session can be read by the commands it runs, and with them by whoever
// wrote the code under review, so a variable is kept out unless the CLI or an
// author's build needs it. Names ending in * are prefixes.
var allowed = []string{
	"PATH", "LANG", "LC_*", "TZ", "TERM", "SHELL", "USER", "LOGNAME",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
	"ANTHROPIC_BASE_URL", "CLAUDE_CODE_MAX_RETRIES", "CLAUDE_CODE_GIT_BASH_PATH",
	"GOROOT", "GOENV", "GOFLAGS", "GOCACHE", "GOMODCACHE", "GOPROXY", "GONOPROXY", "GOPRIVATE",
	"GOSUMDB", "GONOSUMDB", "GOINSECURE", "GOTOOLCHAIN", "CGO_ENABLED", "CC", "CXX",
	// Programs do not start on Windows without these.
	"SystemRoot", "SystemDrive", "windir", "ComSpec", "PATHEXT", "ProgramData",
	"ProgramFiles", "ProgramFiles(x86)", "NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE",
}

// maxRetries is how often the CLI asks the provider again before the session
// fails; its own default is 10, which is minutes of waiting that are better
// spent on another model or another pull request.
const maxRetries = "3"

// environment is the whole environment of a session, but for its login.
func (e *Engine) environment(home string) []string {
	source := e.source()
	// What is set first gives way to what the source says.
	env := []string{"CLAUDE_CODE_MAX_RETRIES=" + maxRetries}
	env = append(env, goCaches(source)...)
	for _, entry := range source {
		if name, _, ok := strings.Cut(entry, "="); ok && slices.ContainsFunc(allowed, func(a string) bool { return matches(a, name) }) {
			env = append(env, entry)
		}
	}
	env = append(env,
		"HOME="+home,
		"CLAUDE_CONFIG_DIR="+configDir(home),
		"TMPDIR="+tempDir(home),
		"DISABLE_AUTOUPDATER=1",
		"DISABLE_TELEMETRY=1",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"CLAUDE_CODE_DISABLE_BACKGROUND_TASKS=1",
		// Commit messages are foreign text and have no place in the system prompt.
		"CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS=1",
		// Without these git asks the machine's credential helper, or the terminal.
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_TERMINAL_PROMPT=0",
	)
	if runtime.GOOS == "windows" {
		env = append(env, "USERPROFILE="+home, "APPDATA="+home, "LOCALAPPDATA="+home,
			"TEMP="+tempDir(home), "TMP="+tempDir(home))
	}
	return env
}

func (e *Engine) source() []string {
	if e.Environ == nil {
		return os.Environ()
	}
	return e.Environ
}

func matches(pattern, name string) bool {
	if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(name, prefix)
	}
	if runtime.GOOS == "windows" {
		return strings.EqualFold(pattern, name)
	}
	return pattern == name
}

// lookup gives the last value of a variable, as the system does.
func lookup(source []string, name string) string {
	for _, entry := range slices.Backward(source) {
		if key, value, ok := strings.Cut(entry, "="); ok && matches(key, name) {
			return value
		}
	}
	return ""
}

// goCaches are where the go command keeps what it has built and downloaded,
// which it would look for below the session's empty home.
func goCaches(source []string) []string {
	var env []string
	if dir, err := os.UserCacheDir(); err == nil {
		env = append(env, "GOCACHE="+filepath.Join(dir, "go-build"))
	}
	if dir, err := os.UserConfigDir(); err == nil {
		env = append(env, "GOENV="+filepath.Join(dir, "go", "env"))
	}
	path := lookup(source, "GOPATH")
	if path == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return env
		}
		path = filepath.Join(home, "go")
	}
	return append(env, "GOMODCACHE="+filepath.Join(filepath.SplitList(path)[0], "pkg", "mod"))
}
