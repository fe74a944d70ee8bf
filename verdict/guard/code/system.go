package code

import (
	"bytes"
	"go/build"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"
)

// allSystems is the set of Linux, macOS and Windows.
const allSystems = 7

// systems is the set of systems that Go builds a file for.
func systems(name string, content []byte) (set uint8) {
	if !strings.HasSuffix(name, ".go") {
		return 0
	}
	for i, system := range []string{"linux", "darwin", "windows"} {
		context := build.Context{GOOS: system, GOARCH: "amd64", Compiler: "gc", CgoEnabled: true, ReleaseTags: build.Default.ReleaseTags,
			OpenFile: func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }}
		if ok, err := context.MatchFile("", path.Base(name)); err == nil && ok {
			set |= 1 << i
		}
	}
	return set
}

// ofSystem matches the folders of code that is built for one system only, such as mingwTest.
var ofSystem = regexp.MustCompile(`(?:^|/)(?:mingw|windows|win32|linux|macos|osx|darwin|apple|ios|unix|posix)[^/]*/`)

// shared reports whether a test that runs on one system alone has moved out of a folder that is built for one system only, so
// that it ran nowhere else before.
func (g gained) shared() bool {
	return g.onlySystem() != "" && ofSystem.MatchString(g.before.side.path) && !ofSystem.MatchString(g.after.side.path)
}

// installed match conditions that ask whether a command, or an extension of the language, is installed, and its name.
var installed = []*regexp.Regexp{
	regexp.MustCompile(`(?i)(?:(?:executable|command)_?(?:path|exists|available)|find_?executable)\b[ (]*["']([\w.-]+)["']`),
	regexp.MustCompile(`(?i)(?:look_?path|\bwhich|extension_loaded|RequiresPhpExtension)\b[ (]*["']([\w.-]+)["']`),
}

// lacks reports whether a test is left out where something is not installed that its file named before.
func (g gained) lacks() bool {
	return slices.ContainsFunc(installed, func(p *regexp.Regexp) bool {
		m := p.FindStringSubmatch(g.cond)
		return m != nil && regexp.MustCompile(`(?i)\b`+regexp.QuoteMeta(m[1])+`\b`).MatchString(g.before.side.text)
	})
}
