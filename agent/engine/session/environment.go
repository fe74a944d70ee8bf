package session

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// allowed are the variables that reach every session if they are set. Everything
// in a session can be read by the commands it runs, and with them by whoever
// wrote the code under review, so a variable is kept out unless the CLI or an
// author's build needs it. Names ending in * are prefixes.
var allowed = []string{
	"PATH", "LANG", "LC_*", "TZ", "TERM", "SHELL", "USER", "LOGNAME",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
	"GOROOT", "GOENV", "GOFLAGS", "GOCACHE", "GOMODCACHE", "GOPROXY", "GONOPROXY", "GOPRIVATE",
	"GOSUMDB", "GONOSUMDB", "GOINSECURE", "GOTOOLCHAIN", "CGO_ENABLED", "CC", "CXX",
	// Programs do not start on Windows without these.
	"SystemRoot", "SystemDrive", "windir", "ComSpec", "PATHEXT", "ProgramData",
	"ProgramFiles", "ProgramFiles(x86)", "NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE",
}

// Environment is the whole environment of a session, but for its login and for
// the settings that are the CLI's own.
func (p Program) Environment(kind Kind, home Home) []string {
	source := p.source()
	// What is set first gives way to what the source says.
	env := goCaches(p)
	for _, entry := range source {
		name, _, ok := strings.Cut(entry, "=")
		match := func(pattern string) bool { return matches(pattern, name) }
		if ok && (slices.ContainsFunc(allowed, match) || slices.ContainsFunc(kind.Variables, match)) {
			env = append(env, entry)
		}
	}
	env = append(env,
		"HOME="+home.Dir,
		"TMPDIR="+home.temp(),
		// Without these git asks the machine's credential helper, or the terminal.
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_TERMINAL_PROMPT=0",
	)
	if runtime.GOOS == "windows" {
		env = append(env, "USERPROFILE="+home.Dir, "APPDATA="+home.Dir, "LOCALAPPDATA="+home.Dir,
			"TEMP="+home.temp(), "TMP="+home.temp())
	}
	return env
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

// goCaches are where the go command keeps what it has built and downloaded,
// which it would look for below the session's empty home.
func goCaches(p Program) []string {
	var env []string
	if dir, err := os.UserCacheDir(); err == nil {
		env = append(env, "GOCACHE="+filepath.Join(dir, "go-build"))
	}
	if dir, err := os.UserConfigDir(); err == nil {
		env = append(env, "GOENV="+filepath.Join(dir, "go", "env"))
	}
	path := p.Lookup("GOPATH")
	if path == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return env
		}
		path = filepath.Join(home, "go")
	}
	return append(env, "GOMODCACHE="+filepath.Join(filepath.SplitList(path)[0], "pkg", "mod"))
}
