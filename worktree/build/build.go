// Package build describes how a program was built.
package build

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// Version returns the module's version. In a build from a checkout, Go derives a pseudo-version from the
// commit (https://go.dev/ref/mod#pseudo-versions) if it may ask git.
func Version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "development"
}

// String returns the version, the commit and its date if they are known, and the compiler and platform.
func String() string {
	info, _ := debug.ReadBuildInfo()
	return describe(info, Version())
}

func describe(info *debug.BuildInfo, version string) string {
	settings := map[string]string{}
	if info != nil {
		for _, s := range info.Settings {
			settings[s.Key] = s.Value
		}
	}
	if commit, date := settings["vcs.revision"], settings["vcs.time"]; len(commit) >= 12 && len(date) >= len("2026-11-23") {
		version += fmt.Sprintf(" (%s, %s)", commit[:12], date[:len("2026-11-23")])
	}
	return fmt.Sprintf("%s %s %s/%s", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
