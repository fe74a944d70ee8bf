// Package build owns what a program says of its own making.
package build

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// Version is the module's version. In a build from a checkout it is one that Go makes of
// the commit (https://go.dev/ref/mod#pseudo-versions), where it may ask git for it.
func Version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "development"
}

// String is the version, the commit and its date where they are known, and what it was built with and for.
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
