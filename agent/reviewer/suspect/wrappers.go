package suspect

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"path"
	"strings"
)

// wrappers are the SHA-256 sums, one per line, of every gradle-wrapper.jar that Gradle had published by
// August 2026: those of wrapper-checksums.json in https://github.com/gradle/actions, which Gradle's own check
// of wrappers uses. A newer wrapper is held until it is added.
//
//go:embed wrappers.txt
var wrappers string

// wrapper reports whether the script of a build tool runs the file of this name beside it.
func wrapper(base string) bool { return base == "gradle-wrapper.jar" || base == "maven-wrapper.jar" }

// published reports whether a project publishes a file with exactly this content, so that its content is
// known. This is the Gradle wrapper, which is kept in the repositories that it builds and which machines
// update.
func published(name string, content []byte) bool {
	if path.Base(name) != "gradle-wrapper.jar" {
		return false
	}
	sum := sha256.Sum256(content)
	return strings.Contains(wrappers, hex.EncodeToString(sum[:]))
}
