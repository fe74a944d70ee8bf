package session

import (
	"cmp"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// toolchains are the variables by which builds find what they need outside the empty home: from the source
// or, if it has none, from their standard paths.
//
// What Go downloads and builds is kept below caches, and never where this user's own builds would find it:
// code that can write to such a cache gets into everything built from it. The modules that the user has
// downloaded are the first proxy. They are copied from it and checked against go.sum, so nothing is
// downloaded that is on this machine already. That proxy knows of no newer versions, which no fix needs.
func toolchains(source []string, caches string) []string {
	var env []string
	look := func(name string) string { return value(source, name) }
	if config, err := os.UserConfigDir(); err == nil {
		file := cmp.Or(look("GOENV"), filepath.Join(config, "go", "env"))
		// An unreadable file counts as empty.
		content, _ := os.ReadFile(file)
		written := strings.Split(strings.ReplaceAll(string(content), "\r", ""), "\n")
		look = func(name string) string { return cmp.Or(value(source, name), value(written, name)) }
		env = append(settingsOfGo(source, written), "GOENV=off")
	}
	env = append(env, "GOCACHE="+filepath.Join(caches, "go-build"), "GOMODCACHE="+filepath.Join(caches, "go-mod"),
		// Otherwise the module cache could not be deleted.
		"GOFLAGS="+strings.TrimSpace(look("GOFLAGS")+" -modcacherw"))
	home, err := os.UserHomeDir()
	if err != nil {
		return env
	}
	if look("RUSTUP_HOME") == "" {
		env = append(env, "RUSTUP_HOME="+filepath.Join(home, ".rustup"))
	}
	modules := downloads(look, home)
	if info, err := os.Stat(modules); err != nil || !info.IsDir() {
		return env
	}
	near := (&url.URL{Scheme: "file", Path: "/" + strings.TrimPrefix(filepath.ToSlash(modules), "/")}).String()
	proxy := nameless(look("GOPROXY"))
	if proxy == "" {
		proxy = "https://proxy.golang.org,direct"
		if look("GOPRIVATE") != "" || look("GONOPROXY") != "" {
			proxy = "direct" // a public proxy must not learn the names of private modules
		}
	}
	return append(env, "GONOPROXY=none", "GOPROXY="+near+","+proxy)
}

// settingsOfGo are the settings in the user's file of them that the source does not override. Commands do not
// get the file itself: its proxies may have passwords.
func settingsOfGo(source, written []string) []string {
	var env []string
	for _, entry := range written {
		name, text, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, "GO") && !strings.HasPrefix(name, "CGO_") && name != "CC" && name != "CXX" || value(source, name) != "" {
			continue
		}
		if proxying(name) {
			text = nameless(text)
		}
		env = append(env, name+"="+text)
	}
	return env
}

// downloads is where the user's go command stores downloaded modules.
func downloads(look func(name string) string, home string) string {
	modules := look("GOMODCACHE")
	if modules == "" {
		// The first directory of GOPATH has the module cache.
		path := append(filepath.SplitList(look("GOPATH")), filepath.Join(home, "go"))
		modules = filepath.Join(path[0], "pkg", "mod")
	}
	return filepath.Join(modules, "cache", "download")
}
