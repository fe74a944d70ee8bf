package session

import (
	"net/url"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"touchstone/worktree/lazyregexp"
)

// allowed are the environment variables that every session and every command of a repository gets, if they
// are set. The code under review can read all of them, so a variable is excluded unless a CLI or a build
// needs it. Names ending in * are prefixes.
var allowed = []string{
	"PATH", "LANG", "LC_*", "TZ", "TERM", "SHELL", "USER", "LOGNAME",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
	"GOROOT", "GOFLAGS", "GOPROXY", "GONOPROXY", "GOPRIVATE",
	"GOSUMDB", "GONOSUMDB", "GOINSECURE", "GOTOOLCHAIN", "CGO_ENABLED", "CC", "CXX",
	"JAVA_HOME", "RUSTUP_HOME", "PYENV_ROOT",
	// Programs on Windows do not start without these.
	"SystemRoot", "SystemDrive", "windir", "ComSpec", "PATHEXT", "ProgramData",
	"ProgramFiles", "ProgramFiles(x86)", "NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE",
}

// Commands is the complete environment of a repository's command: the allowed variables of source, whose
// entries are "name=value", with directories for what builds download and make, for its home, and for
// temporary files.
func Commands(source []string, caches, home, temp string, more ...string) []string {
	var env []string
	for _, entry := range source {
		name, value, ok := strings.Cut(entry, "=")
		match := func(pattern string) bool { return matches(pattern, name) }
		if !ok || !slices.ContainsFunc(allowed, match) && !slices.ContainsFunc(more, match) {
			continue
		}
		switch {
		case matches("PATH", name):
			if value = anywhere(value); value == "" {
				continue // an empty PATH would mean the working directory
			}
		case proxying(name):
			value = nameless(value)
		}
		env = append(env, name+"="+value)
	}
	env = append(env, toolchains(source, caches)...)
	env = append(env,
		"HOME="+home,
		"TMPDIR="+temp,
		// Without these, git asks the machine's credential helper, or the terminal.
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_TERMINAL_PROMPT=0",
	)
	if runtime.GOOS == "windows" {
		env = append(env, "USERPROFILE="+home, "APPDATA="+home, "LOCALAPPDATA="+home, "TEMP="+temp, "TMP="+temp)
	}
	return env
}

// Environment is the complete environment of a session in dir, except for its login and the CLI's own
// settings.
func (p Program) Environment(kind Kind, home Home, dir string) []string {
	return Commands(p.source(), Caches(dir, ForSession), home.Dir, home.temp(), kind.Variables...)
}

// anywhere keeps the absolute directories of a PATH: a relative one would find programs in the checkout.
func anywhere(path string) string {
	dirs := slices.DeleteFunc(filepath.SplitList(path), func(dir string) bool { return !filepath.IsAbs(dir) })
	return strings.Join(dirs, string(filepath.ListSeparator))
}

// Finds reports whether a session finds a program on its PATH.
func (p Program) Finds(name string) bool {
	return slices.ContainsFunc(filepath.SplitList(anywhere(p.Lookup("PATH"))), func(dir string) bool {
		_, err := exec.LookPath(filepath.Join(dir, name))
		return err == nil
	})
}

// proxying reports whether a variable contains proxies.
func proxying(name string) bool {
	return strings.EqualFold(name, "HTTP_PROXY") || strings.EqualFold(name, "HTTPS_PROXY") || name == "GOPROXY"
}

var (
	address  = lazyregexp.New(`[^,|]+`)
	userinfo = lazyregexp.New(`^([A-Za-z][A-Za-z0-9+.-]*://)?.*@`)
)

// nameless removes users and passwords from the addresses of proxies. From a text that is no address, it
// removes everything that may be one.
func nameless(proxies string) string {
	return address.ReplaceAllStringFunc(proxies, func(one string) string {
		if u, err := url.Parse(one); err == nil && u.Host+u.Path != "" && (u.User != nil || u.Scheme == "file") {
			u.User = nil
			return u.String()
		}
		return userinfo.ReplaceAllString(one, "$1")
	})
}

// proxies are the proxy variables of the source unchanged, with passwords if there are any, for a CLI that
// talks to its provider directly.
func (p Program) proxies() []string {
	return slices.DeleteFunc(slices.Clone(p.source()), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return !proxying(name) || name == "GOPROXY"
	})
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
