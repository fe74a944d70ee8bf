// Package version knows the version of this program, as Go has put it into the binary.
package version

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// Build is the version, and what it was built with and for.
func Build() string {
	return fmt.Sprintf("%s %s %s/%s", String(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// String is the module's version. In a build from a checkout it is one that Go makes of
// the commit (https://go.dev/ref/mod#pseudo-versions), where it may ask git for it.
func String() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "development"
}
