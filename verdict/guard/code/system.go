package code

import (
	"bytes"
	"go/build"
	"io"
	"path"
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
